// Values that functions and objects capture.
#include "host/builtins/captured_values.h"

#include <algorithm>

#include "host/compiler/bytecode.h"
#include "host/values/module.h"

namespace spl {

namespace {

using Values = std::vector<Value>;

void add(Values& found, Value value) {
  if (value.is_object()) {
    found.push_back(retained(value));
  }
}

// The global variables that a function and its inner functions name. Functions of the library are skipped,
// because they hold no values of the program.
void add_named(Values& found, const Proto& proto) {
  if (proto.module == nullptr || proto.module->is_library) {
    return;
  }
  const auto& slots = proto.module->slots;
  for (const Instruction& step : proto.code) {
    if (step.op == Op::kGetGlobal) {
      add(found, slots[static_cast<size_t>(step.d)]);
    }
  }
  for (const LvaluePath& path : proto.paths) {
    if (path.root == LvaluePath::Root::kGlobal) {
      add(found, slots[path.operand]);
    }
  }
  for (const Proto* inner : proto.protos) {
    add_named(found, *inner);
  }
}

void add_of_function(Values& found, const Closure& function) {
  for (const Value captured : function.captured) {
    add(found, captured.is(Kind::kCell) ? as_object<Cell>(captured)->value : captured);
  }
  add_named(found, *function.proto);
}

// Sorted by method name, so that the order is the same in every run.
void add_of_methods(Values& found, const Type& type) {
  std::vector<std::pair<std::string, Value>> methods;
  for (const auto& [name, method] : type.methods) {
    methods.emplace_back(name_of(name), method.function);
  }
  std::sort(methods.begin(), methods.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, function] : methods) {
    if (function.is(Kind::kClosure)) {
      add_of_function(found, *as_object<Closure>(function));
    }
  }
}

}  // namespace

Values captured_values(Value of) {
  Values found;
  if (of.is(Kind::kClosure)) {
    add_of_function(found, *as_object<Closure>(of));
  }
  if (of.is(Kind::kBoundMethod)) {
    add(found, as_object<BoundMethod>(of)->self);
    add(found, as_object<BoundMethod>(of)->function);
  }
  if (of.is(Kind::kInstance)) {
    add_of_methods(found, *as_object<Instance>(of)->record);
  }
  return found;
}

}  // namespace spl
