// Direct calls of operators and drop().
#include "host/ffi/direct.h"

#include "host/ffi/callback.h"
#include "host/ffi/extern.h"
#include "host/values/module.h"
#include "host/vm/lock.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

Extern& function_of(DirectCall& call, const Record& record) {
  if (call.function == nullptr) {
    const Value found = record.module->lookup(call.name);
    if (!found.is(Kind::kExtern)) {
      fail("direct: " + name_of(call.name) + " is not an extern function of " + record.module->name);
    }
    call.function = as_object<Extern>(found);
  }
  return *call.function;
}

using OneInteger = int64_t(int64_t);
using TwoIntegers = int64_t(int64_t, int64_t);

// The fast path for functions of integers: what call_extern() does, without repeating its checks.
template <class Function, class... Integers>
Value call_integers(DirectCall& call, Integers... integers) {
  int64_t result;
  {
    const Unlocked unlocked;
    result = reinterpret_cast<Function*>(call.address)(integers...);
  }
  if (callback_failed()) [[unlikely]] {
    raise_callback_failure();
  }
  return Value::integer(result);
}

Value call_general(DirectCall& call, const Record& record, Value* arguments, int count) {
  Extern& function = function_of(call, record);
  const Value result = call_extern(current_thread(), function, arguments, count);
  if (function.only_integers) {
    call.address = function.address;
  }
  return result;
}

Value handle_of(Value instance) { return as_object<Instance>(instance)->fields()[0]; }

}  // namespace

Value direct_operation(BinaryOp op, Value a, Value b) {
  DirectCalls& direct = *as_object<Instance>(a)->record->direct;
  Record* record = direct.record;
  DirectCalls::Operator& entry = direct.operators[static_cast<size_t>(op)];
  const bool same = b.is(Kind::kInstance) && as_object<Instance>(b)->record->direct == &direct;
  DirectCall& call = same ? entry.with_same : b.is_float() ? entry.with_float : entry.with_int;
  if (call.name == kNoSymbol || !(same || b.is_float() || b.is_int())) {
    return Value::missing();
  }
  Value arguments[] = {handle_of(a), same ? handle_of(b) : b};
  if (!arguments[0].is_int() || (same && !arguments[1].is_int())) {
    return Value::missing();
  }
  const Value handle = same && call.address != nullptr
                           ? call_integers<TwoIntegers>(call, arguments[0].as_int, arguments[1].as_int)
                           : call_general(call, *record, arguments, 2);
  if (!handle.is_int() || handle.as_int == 0) {
    return Value::missing();
  }
  Instance* made = new_instance(record);
  made->fields()[0] = handle;
  return Value::object(made);
}

bool direct_drop(Instance& instance) {
  DirectCalls* direct = instance.record->direct;
  if (direct == nullptr || direct->drop.name == kNoSymbol || !instance.fields()[0].is_int()) {
    return false;
  }
  Value handle = instance.fields()[0];
  if (handle.as_int <= 0) {  // no handle, or a moved one
    return true;
  }
  if (direct->drop.address != nullptr) {
    call_integers<OneInteger>(direct->drop, handle.as_int);
  } else {
    release(call_general(direct->drop, *direct->record, &handle, 1));
  }
  return true;
}

}  // namespace spl
