// The interpreter loop: computed goto to one label for each opcode.
//
// Handlers compute integers and floats themselves. For all else they save the frame's pc, which locates
// errors, and call functions of Thread.
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>

#include "host/installation.h"
#include "host/interrupts/scopes.h"
#include "host/values/arithmetic.h"
#include "host/values/conversions.h"
#include "host/values/module.h"
#include "host/values/operator_hooks.h"
#include "host/values/shape.h"
#include "host/values/sized.h"
#include "host/vm/lock.h"
#include "host/vm/machine_hooks.h"
#include "host/vm/method_order.h"
#include "host/vm/patterns.h"
#include "host/vm/port_checks.h"
#include "host/vm/protocols.h"
#include "host/vm/safepoint.h"
#include "host/vm/spare_memory.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"
#include "host/vm/type_links.h"

namespace spl {

constinit MachineHooks filled_machine_hooks{};

namespace {

constexpr uint32_t kMaxNativeDepth = 1500;
constexpr size_t kIntegerDigits = 20;  // of the longest integer, with its sign

int64_t wrapping(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return static_cast<int64_t>(op == BinaryOp::kAdd ? x + y : op == BinaryOp::kSubtract ? x - y : x * y);
}

// The number of iterations from `start` to `end`, as the bits of an unsigned number so that every range fits.
// The range of all integers loses its last element.
int64_t iterations(int64_t start, int64_t end, bool inclusive) {
  if (start > end || (start == end && !inclusive)) {
    return 0;
  }
  const int64_t between = wrapping(BinaryOp::kSubtract, end, start);
  return inclusive && between != -1 ? wrapping(BinaryOp::kAdd, between, 1) : between;
}

// Whether the class of the instance decides what the instance equals.
bool has_own_equality(Value instance) {
  const Record* record = as_object<Instance>(instance)->record;
  return record->direct != nullptr || record->defines_equality;
}

enum class Equality : uint8_t { kDiffers, kEqual, kUnknown };

// The equality of truth values, of nil and other values, and of objects whose class does not define it.
Equality plain_equality(Value x, Value y) {
  const auto known = [](bool equal) { return equal ? Equality::kEqual : Equality::kDiffers; };
  if (x.is_bool() && y.is_bool()) {
    return known(x.as_bool == y.as_bool);
  }
  if (x.is(Kind::kInstance) && y.is(Kind::kInstance)) {
    const bool by_identity =
        as_object<Instance>(x)->record->is_class && !has_own_equality(x) && !has_own_equality(y);
    return by_identity ? known(x.as_object == y.as_object) : Equality::kUnknown;
  }
  if (!x.is_nil() && !y.is_nil()) {
    return Equality::kUnknown;
  }
  const Value other = x.is_nil() ? y : x;
  if (!other.is_object()) {
    return other.is_missing() ? Equality::kUnknown : known(other.is_nil());
  }
  const bool decides = other.is(Kind::kInstance) ? has_own_equality(other) : other.is(Kind::kEnumValue);
  return decides ? Equality::kUnknown : Equality::kDiffers;
}

// Handlers must not hold objects with destructors: a computed goto does not run them.
Value concatenated(const Value* parts, uint32_t count) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) {
    if (parts[i].is(Kind::kText)) {
      text += text_of(parts[i]);
    } else if (parts[i].is_int()) {
      char digits[kIntegerDigits];
      text.append(digits, std::to_chars(digits, digits + kIntegerDigits, parts[i].as_int).ptr);
    } else {
      text += interpolated_text(parts[i]);
    }
  }
  return make_text(std::move(text));
}

// The field where the last lookup found it, borrowed; missing if it must be looked up.
inline Value cached_field(Value object, const Cache& cache) {
  const bool is_cached = object.is(Kind::kInstance) && as_object<Instance>(object)->record == cache.type &&
                         cache.type != nullptr;
  return is_cached ? as_object<Instance>(object)->fields()[cache.index] : Value::missing();
}

// The element of an array, or the character of an ASCII text. Owned; missing for all else.
inline Value element_of(Value sequence, Value index) {
  if (!index.is_int() || !sequence.is_object()) {
    return Value::missing();
  }
  if (sequence.as_object->kind == Kind::kArray) {
    const Elements& items = as_object<Array>(sequence)->items;
    const int64_t at = index.as_int < 0 ? index.as_int + static_cast<int64_t>(items.size()) : index.as_int;
    return static_cast<uint64_t>(at) < items.size() ? retained(items[static_cast<size_t>(at)])
                                                    : Value::missing();
  }
  if (sequence.as_object->kind == Kind::kText && as_object<Text>(sequence)->is_ascii()) {
    const std::string& text = text_of(sequence);
    const int64_t at = index.as_int < 0 ? index.as_int + static_cast<int64_t>(text.size()) : index.as_int;
    return static_cast<uint64_t>(at) < text.size() ? make_character(text, static_cast<size_t>(at), 1)
                                                   : Value::missing();
  }
  return Value::missing();
}

// `number op= by`, for a sum, a difference or a product. False, without a change, for any other value.
inline bool update_number(Value& number, BinaryOp op, Value by) {
  if (number.is_int() && by.is_int()) {
    int64_t result;
    if (!is_exact(op, number.as_int, by.as_int, result)) {
      return false;
    }
    number.as_int = result;
    return true;
  }
  if (!number.is_number()) {
    return false;
  }
  const double a = number.to_double(), b = by.to_double();
  number = Value::number(op == BinaryOp::kAdd ? a + b : op == BinaryOp::kSubtract ? a - b : a * b);
  return true;
}

inline bool is_same_text(Value x, Value y) {
  if (x.as_object == y.as_object) {
    return true;
  }
  const std::string &a = text_of(x), &b = text_of(y);
  return a.size() == b.size() && a[0] == b[0] && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// `held + more` in the text or the array itself, if nothing else refers to it. False, without a change, for
// any other sum.
bool append_in_place(Value held, Value more) {
  if (!held.is_object() || held.as_object->refs != 1 || more.is(Kind::kInstance)) {
    return false;
  }
  if (held.is(Kind::kText)) {
    as_object<Text>(held)->append(more.is(Kind::kText) ? text_of(more) : display(more));
    return true;
  }
  if (!held.is(Kind::kArray) || held.as_object->shape != 0 || !more.is(Kind::kArray) ||
      held.as_object == more.as_object) {
    return false;
  }
  auto& items = as_object<Array>(held)->items;
  for (const Value item : as_object<Array>(more)->items) {
    items.push_back(retained(item));
  }
  return true;
}

}  // namespace

bool Thread::comparison_holds(BinaryOp op, Value a, Value b) {
  const Ref result = Ref::owned(arithmetic(op, a, b));
  return truthy(result.get());
}

// Records the stack in an error that has none.
void Thread::locate(SimpleError& error) const {
  if (!error.located) {
    error.stack = stack();
    error.located = true;
  }
}

// Native code and Simple call each other too deeply. Pops the frame that was about to run.
void Thread::fail_native_depth(uint32_t floor) {
  --native_depth_;
  SimpleError error = too_deep();
  locate(error);
  unwind(floor, error);
  throw error;
}

// Unwinds the frames of this loop after an error. True if a `with` block handled it: the loop then continues.
bool Thread::handle_in_loop(uint32_t floor, SimpleError& error) {
  locate(error);
  if (unwind(floor, error)) {
    return true;
  }
  --native_depth_;
  return false;
}

void Thread::leave_native_loop(uint32_t floor, const ExitRequest& request) {
  // The thread continues after this: in the embedding program, or after the attempt that the interrupt ends.
  if (is_embedded() || (request.by_interrupt && InterruptsAllowed::is_this_thread())) {
    SimpleError error = exit_not_allowed(request.code);
    error.payload = Ref::owned(Value::integer(request.code));
    while (unwind(floor, error)) {
      // Resources may not handle the end of the program.
    }
  }
  --native_depth_;
}

// The macros of the opcodes; they use the variables of Thread::run().
#define ENTER()                        \
  frame = frames_ + frame_count_ - 1;  \
  proto = frame->proto;                \
  pc = frame->pc;                      \
  constants = proto->constants.data(); \
  R = stack_ + frame->base;            \
  locals = proto->locals
#define SAVE() frame->pc = pc
#define NEXT()                               \
  do {                                       \
    i = *pc++;                               \
    goto* labels[static_cast<size_t>(i.op)]; \
  } while (false)
#define SET(reg, value)                  \
  do {                                   \
    const Value made_ = (value);         \
    const Value old_ = R[reg];           \
    R[reg] = made_;                      \
    if (old_.is_object()) [[unlikely]] { \
      release(old_);                     \
    }                                    \
  } while (false)
#define CONSUME(reg)                             \
  do {                                           \
    if ((reg) >= locals && R[reg].is_object()) { \
      const Value used_ = R[reg];                \
      R[reg] = Value();                          \
      release(used_);                            \
    }                                            \
  } while (false)
#define SAFEPOINT()                          \
  do {                                       \
    if (host_lock().wanted()) [[unlikely]] { \
      SAVE();                                \
      safepoint(may_stop(*proto));           \
    }                                        \
  } while (false)

void Thread::run(uint32_t floor) {
  static const void* const labels[] = {
#define SPL_OPCODE(name, operands) &&on_##name,
      SPL_OPCODES(SPL_OPCODE)
#undef SPL_OPCODE
  };
  if (++native_depth_ > kMaxNativeDepth) {
    fail_native_depth(floor);
  }
  Frame* frame;
  const Proto* proto;
  const Instruction* pc;
  const Value* constants;
  Value* R;
  uint32_t locals;
  Instruction i;

again:
  try {
    ENTER();
    NEXT();

#include "host/vm/opcodes_arithmetic.inc"
#include "host/vm/opcodes_calls.inc"
#include "host/vm/opcodes_collections.inc"
#include "host/vm/opcodes_flow.inc"
#include "host/vm/opcodes_lvalues.inc"
#include "host/vm/opcodes_patterns.inc"
#include "host/vm/opcodes_registers.inc"
#include "host/vm/opcodes_scopes.inc"

  } catch (SimpleError& error) {
    if (!handle_in_loop(floor, error)) {
      throw;
    }
  } catch (const std::bad_alloc&) {
    const SpareMemory spared;
    SimpleError error("out of memory");
    if (!handle_in_loop(floor, error)) {
      throw error;
    }
  } catch (const ExitRequest& request) {
    leave_native_loop(floor, request);
    throw;
  }
  goto again;
}

}  // namespace spl
