// Reports a change of an array or dict that another place holds: see compiler/change_checks.cpp.
#include "host/output.h"
#include "host/syntax/parse.h"
#include "host/values/module.h"
#include "host/vm/lvalues.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// A value that every holder sees changed, as in Python.
bool is_reference(Value v) {
  return v.is(Kind::kModule) || v.is(Kind::kRecord) ||
         (v.is(Kind::kInstance) && as_object<Instance>(v)->record->is_class);
}

bool is_struct(Value v) { return v.is(Kind::kInstance) && !as_object<Instance>(v)->record->is_class; }

bool is_collection(Value v, bool is_changed) {
  return v.is(Kind::kArray) || v.is(Kind::kDict) || (!is_changed && v.is(Kind::kTuple));
}

// A missing value stands for what a path does not lead to.
Value element_at(const Elements& items, Value index) {
  if (!index.is_int()) {
    return Value::missing();
  }
  const int64_t at = index.as_int < 0 ? index.as_int + static_cast<int64_t>(items.size()) : index.as_int;
  return static_cast<uint64_t>(at) < items.size() ? items[static_cast<size_t>(at)] : Value::missing();
}

// The field, missing if it is computed. `is_default` is set if it still has the default of its declaration.
Value field_at(Value object, const LvaluePath::Step& step, bool& is_default) {
  const Symbol name = step.operand;
  if (object.is(Kind::kInstance)) {
    auto* instance = as_object<Instance>(object);
    const Value* const slot = field_slot(*instance, step);
    if (slot == nullptr || has_read_hook(instance->record, *slot)) {
      return Value::missing();
    }
    const Value& initial = instance->record->fields[step.field].default_value;
    is_default = slot->is_object() && initial.is_object() && slot->as_object == initial.as_object;
    return *slot;
  }
  if (object.is(Kind::kModule)) {
    auto* module = static_cast<LoadedModule*>(object.as_object);
    const auto found = module->names.find(name);
    return found == module->names.end() ? Value::missing() : module->slots[found->second];
  }
  if (object.is(Kind::kRecord)) {
    const Value* value = as_object<Type>(object)->static_value(name);
    return value == nullptr ? Value::missing() : *value;
  }
  return Value::missing();
}

Value part_at(Value object, Value index) {
  if (object.is(Kind::kArray)) {
    return element_at(as_object<Array>(object)->items, index);
  }
  if (object.is(Kind::kTuple)) {
    return element_at(as_object<Tuple>(object)->items, index);
  }
  const Value* const found = object.is(Kind::kDict) ? as_object<Dict>(object)->find(index) : nullptr;
  return found == nullptr ? Value::missing() : *found;
}

void report(const ChangeCheck& check, const Proto& proto, Value shared, size_t depth) {
  const bool is_dict = shared.is(Kind::kDict);
  const std::string kind = is_dict                      ? "dict"
                           : shared.is(Kind::kTuple)    ? "tuple"
                           : shared.is(Kind::kInstance) ? type_name(shared)
                                                        : "array";
  const std::string& place = check.places[depth].spelling;
  const std::string copy =
      std::string("; for a copy that is meant, write ") + (is_dict ? "dict(…)" : "list(…)");
  const bool is_argument = check.is_parameter && depth == 0;
  std::string message =
      "this changes '" + place + "' only; other places hold the same " + kind + ", and keep its old elements";
  std::string hint = "store '" + place + "' there after its changes" + copy;
  if (is_argument) {
    message = "this changes '" + place + "', a copy of the caller's " + kind + ", which stays as it is";
    hint = "return '" + place + "', and assign the result where the function is called" + copy;
  }
  if (check.is_dropped) {
    const std::string& function = check.places[1].spelling;
    message = function + "() changes a copy of '" + place + "' and returns it; the result is not used";
    hint = "assign the result: " + place + " = " + function + "(…)";
  }
  if (check.is_unread) {
    message = "this changes '" + place + "', a copy, which nothing reads afterwards; the " +
              (check.is_parameter ? "caller's " + kind + " stays as it is"
                                  : "element of the collection stays as it is");
    hint = check.is_parameter ? "return '" + place + "', and assign the result where the function is called"
                              : "change the element by its index: items[i] = …";
  }
  print_diagnostic(render({check.span, std::move(message), std::move(hint)}, *proto.source, "warning"));
}

}  // namespace

Value Thread::root_of(const LvaluePath& path) const {
  const Frame& frame = frames_[frame_count_ - 1];
  const Value* registers = stack_ + frame.base;
  switch (path.root) {
    case LvaluePath::Root::kRegister:
    case LvaluePath::Root::kValue:
      return registers[path.operand];
    case LvaluePath::Root::kCell:
      return as_object<Cell>(registers[path.operand])->value;
    case LvaluePath::Root::kCapturedCell:
      return as_object<Cell>(frame.closure->captured[path.operand])->value;
    case LvaluePath::Root::kGlobal:
      return frame.proto->module->slots[path.operand];
  }
  return Value::missing();
}

// Follows the path without a copy. Only what lies behind the last reference is a copy of its own.
void Thread::check_change(const ChangeCheck& check, const Proto& proto) const {
  if (check.was_reported.load(std::memory_order_relaxed)) {
    return;
  }
  const LvaluePath& path = proto.paths[check.path];
  const auto& steps = path.steps;
  Value at = root_of(path);
  Value shared = Value::missing();
  size_t depth = 0;
  bool is_default = false;
  if (check.is_dropped) {
    if ((at.is(Kind::kArray) || at.is(Kind::kDict)) &&
        !check.was_reported.exchange(true, std::memory_order_relaxed)) {
      report(check, proto, at, 0);
    }
    return;
  }
  for (size_t i = 0; !at.is_missing(); ++i) {
    const bool is_changed = i == steps.size();
    if (is_reference(at)) {
      shared = Value::missing();
    } else if (shared.is_missing() && !is_default &&
               (is_collection(at, is_changed) || (check.is_unread && is_struct(at))) &&
               at.as_object->refs > 1 + check.places[i].visits) {
      shared = at;
      depth = i;
    }
    if (is_changed) {
      const bool is_string =
          !is_collection(at, true) &&
          !(check.is_unread && is_struct(at));  // or a number: replace() of a string changes nothing
      if (!shared.is_missing() && !is_string &&
          !check.was_reported.exchange(true, std::memory_order_relaxed)) {
        report(check, proto, shared, depth);
      }
      return;
    }
    is_default = false;
    at = steps[i].form == LvaluePath::Step::Form::kField ? field_at(at, steps[i], is_default)
                                                         : part_at(at, index_of(steps[i]));
  }
}

}  // namespace spl
