// A thread's memory, hooks of instances, stack traces and global lookup.
#include "host/vm/thread.h"

#include "host/vm/current_thread.h"
#include "host/vm/hints.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "host/output.h"
#include "host/values/module.h"
#include "host/vm/failure.h"

namespace spl {

namespace {

constexpr size_t kStackBytes = (1u << 20) * sizeof(Value);
constexpr size_t kFrameBytes = kMaxFrames * sizeof(Frame);
constexpr uint32_t kMaxStackEntries = 50;  // at each end of a deep stack

// Pages are zeroed on demand, so that a shallow stack uses little memory. Zero is a nil Value.
void* reserve(size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fail("thread: cannot allocate a stack");
  }
  return memory;
}

thread_local Thread* first_thread = nullptr;  // of this native thread

// The bytes of the C stack between two nested loops, at most, if the process stack has 8 MiB.
constexpr std::ptrdiff_t kBytesPerDepth = 4096;

}  // namespace

Thread::Thread()
    : stack_(static_cast<Value*>(reserve(kStackBytes))),
      frames_(static_cast<Frame*>(reserve(kFrameBytes))),
      c_stack_(static_cast<const char*>(__builtin_frame_address(0))) {
  if (first_thread == nullptr) {
    first_thread = active_thread = this;
  }
}

Thread::~Thread() {
  if (first_thread == this) {
    first_thread = active_thread = nullptr;
  }
  munmap(stack_, kStackBytes);
  munmap(frames_, kFrameBytes);
}

Thread& current_thread() { return *active_thread; }
Thread* first_thread_here() { return first_thread; }

void Thread::start_above(const Thread& base) {
  const std::ptrdiff_t used = base.c_stack_ - static_cast<const char*>(__builtin_frame_address(0));
  native_depth_ =
      std::max(base.native_depth_, static_cast<uint32_t>(std::max<std::ptrdiff_t>(used, 0) / kBytesPerDepth));
}

bool Thread::runs_port() const {
  const LoadedModule* module = frame_count_ > 0 ? frames_[frame_count_ - 1].proto->module : nullptr;
  return module != nullptr && module->uses_torch && !module->is_library;
}

std::vector<StackEntry> Thread::stack() const {
  std::vector<StackEntry> entries;
  for (uint32_t i = frame_count_; i-- > 0;) {
    if (i == frame_count_ - kMaxStackEntries - 1 && i > kMaxStackEntries) {
      entries.back().left_out = i + 1 - kMaxStackEntries;
      i = kMaxStackEntries - 1;
    }
    const Frame& frame = frames_[i];
    size_t at = static_cast<size_t>(frame.pc - frame.proto->code.data());
    if (at > 0) {
      --at;
    }
    const SourcePosition position =
        at < frame.proto->positions.size() ? frame.proto->positions[at] : SourcePosition{0, 0};
    entries.push_back({frame.proto->name, frame.proto->source->path, position.line, position.column,
                       frame.proto->module->is_library, frame.proto->source});
  }
  return entries;
}

uint32_t Thread::stack_size() const {
  return frame_count_ > 2 * kMaxStackEntries + 1 ? 2 * kMaxStackEntries : frame_count_;
}

const Method* Thread::find_method(Value self, Symbol name) const {
  if (self.is(Kind::kInstance)) {
    return as_object<Instance>(self)->record->find(name);
  }
  if (self.is(Kind::kEnumValue)) {
    return as_object<EnumValue>(self)->type->find(name);
  }
  return nullptr;
}

bool Thread::instance_truth(Value v) {
  static const Symbol hook = intern("__bool__");
  const Method* method = find_method(v, hook);
  if (method == nullptr) {
    return true;
  }
  const Ref result = Ref::owned(call_method_of(v, *method, nullptr, 0));
  return truthy(result.get());
}

bool Thread::instance_equal(Value a, Value b) {
  static const Symbol hook = intern("__eq__");
  for (const auto& [self, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const Method* method = find_method(self, hook)) {
      const Ref result = Ref::owned(call_method_of(self, *method, &other, 1));
      return truthy(result.get());
    }
  }
  if (!a.is(Kind::kInstance) || !b.is(Kind::kInstance)) {
    return false;
  }
  auto* left = as_object<Instance>(a);
  auto* right = as_object<Instance>(b);
  if (left == right) {
    return true;
  }
  if (left->record != right->record || left->record->is_class) {
    return false;
  }
  return std::equal(left->fields(), left->fields() + left->record->fields.size(), right->fields(), equals);
}

int Thread::instance_compare(Value a, Value b) {
  const Ref less = Ref::owned(arithmetic(BinaryOp::kLess, a, b));
  if (truthy(less.get())) {
    return -1;
  }
  const Ref greater = Ref::owned(arithmetic(BinaryOp::kLess, b, a));
  return truthy(greater.get()) ? 1 : 0;
}

std::string Thread::instance_display(Value v) {
  static const std::array<Symbol, 2> hooks = {intern("__str__"), intern("__repr__")};
  for (const Symbol hook : hooks) {
    if (const Method* method = find_method(v, hook)) {
      const Ref text = Ref::owned(call_method_of(v, *method, nullptr, 0));
      if (!text.get().is(Kind::kText)) {
        fail(name_of(hook) + " of " + type_name(v) + " must return text, got " + type_name(text.get()));
      }
      return text_of(text.get());
    }
  }
  auto* instance = as_object<Instance>(v);
  std::string shown = name_of(instance->record->name) + "(";
  if (std::find(displaying_.begin(), displaying_.end(), instance) != displaying_.end()) {
    return shown + "…)";  // a cycle
  }
  displaying_.push_back(instance);
  struct Shown {
    std::vector<const Instance*>& all;
    ~Shown() { all.pop_back(); }
  } const until_shown{displaying_};
  for (size_t i = 0; i < instance->record->fields.size(); ++i) {
    const Value field = instance->fields()[i];
    if (field.is(Kind::kCause)) {
      continue;  // internal
    }
    shown += (i == 0 ? "" : ", ") + name_of(instance->record->fields[i].name) + ": " + display(field);
  }
  return shown + ")";
}

Value Thread::global(LoadedModule& module, uint32_t slot) {
  const Symbol name = module.slot_names[slot];
  if (module.slots[slot].is_taken()) {
    fail_taken(name);
  }
  const Value value = module.lookup(name);
  if (value.is_missing() && module.uniques.contains(name)) {
    fail("'" + name_of(name) + "' was moved", "the value belongs to the variable that it was moved to");
  }
  if (value.is_missing()) {
    fail_undefined(module, name);
  }
  // Cached in the slot, except for a variable of another module, which can change.
  const auto imported = module.imports.find(name);
  const bool variable =
      imported != module.imports.end() && imported->second.from->variables.contains(imported->second.name);
  bool from_wildcard = false;
  for (const LoadedModule* other : module.wildcards) {
    from_wildcard = from_wildcard || other->variables.contains(name);
  }
  if (!variable && !from_wildcard && module.slots[slot].is_missing()) {
    module.slots[slot] = retained(value);
  }
  return retained(value);
}

}  // namespace spl
