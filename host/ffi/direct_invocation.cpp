// Direct calls of objects behind handles. Arguments are packed on the C++ stack; the result is an instance
// around the returned handle.
#include <array>
#include <atomic>
#include <cstring>

#include "abi/include/simple_torch/spl_runtime.h"
#include "host/ffi/callback.h"
#include "host/ffi/direct.h"
#include "host/ffi/extern.h"
#include "host/values/module.h"
#include "host/vm/lock.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

using GetFunction = int64_t(int64_t, const char*);
using CallFunction = int64_t(int64_t, const char*, const SplArray*, const SplArray*);
using InvokeFunction = int64_t(int64_t, const char*, const char*, const SplArray*, const SplArray*);

const std::vector<NativeType> kGetTypes = {NativeType::kInt, NativeType::kText};
const std::vector<NativeType> kCallTypes = {NativeType::kInt, NativeType::kText, NativeType::kArray,
                                            NativeType::kArray};
const std::vector<NativeType> kInvokeTypes = {NativeType::kInt, NativeType::kText, NativeType::kText,
                                              NativeType::kArray, NativeType::kArray};

constexpr uint32_t kMaxValues = 8;  // with more arguments the method costs little more

/// Packs a text as a C string. False if it contains a NUL; the method then reports the error.
bool pack_text(SplValue& out, const std::string& text) {
  out.tag = SPL_STRING;
  out.as_string = const_cast<char*>(text.c_str());  // the callee does not write to it
  return std::strlen(text.c_str()) == text.size();
}

/// The packed arguments of one call, borrowed from the caller's registers.
class PackedArguments {
 public:
  /// False if an argument cannot be packed.
  bool pack(const Value* args, uint32_t count, const CallSpec* spec) {
    if (count > kMaxValues) {
      return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const CallSpec::Form form = spec == nullptr ? CallSpec::Form::kPositional : spec->forms[i];
      if (form == CallSpec::Form::kNamed ? !name(spec->names[i])
                                         : form != CallSpec::Form::kPositional || names_.len != 0) {
        return false;
      }
      if (!value(letters_[i], items_[i], args[i])) {
        return false;
      }
    }
    letters_[count] = 0;
    values_.len = count;
    return true;
  }

  const char* letters() const { return letters_.data(); }
  const SplArray* values() const { return &values_; }
  const SplArray* names() const { return &names_; }

 private:
  bool name(Symbol symbol) {
    SplValue& item = name_items_[static_cast<size_t>(names_.len)];
    if (!pack_text(item, name_of(symbol))) {
      return false;
    }
    for (int64_t i = 0; i < names_.len; ++i) {
      if (name_items_[static_cast<size_t>(i)].as_string == item.as_string) {
        return false;
      }
    }
    ++names_.len;
    return true;
  }

  static bool value(char& letter, SplValue& out, Value v) {
    letter = 'v';
    if (scalar_to_native(out, v)) {
      return true;
    }
    return v.is(Kind::kText) ? pack_text(out, text_of(v)) : instance(letter, out, v);
  }

  static bool instance(char& letter, SplValue& out, Value v) {
    const DirectCalls* direct = v.is(Kind::kInstance) ? as_object<Instance>(v)->record->direct : nullptr;
    if (direct == nullptr || direct->letter == 0 || !as_object<Instance>(v)->fields()[0].is_int()) {
      return false;
    }
    letter = direct->letter;
    out.tag = SPL_INT;
    out.as_int = as_object<Instance>(v)->fields()[0].as_int;
    return true;
  }

  std::array<char, kMaxValues + 1> letters_;
  std::array<SplValue, kMaxValues> items_, name_items_;
  SplArray values_{items_.data(), 0, kMaxValues}, names_{name_items_.data(), 0, kMaxValues};
};

/// The direct call of `self`; null without one.
DirectInvocation* invocation_of(Value self, DirectInvocation DirectCalls::*which) {
  Instance& instance = *as_object<Instance>(self);
  DirectCalls* direct = instance.record->direct;
  if (direct == nullptr || ((*direct).*which).native.name == kNoSymbol || !instance.fields()[0].is_int()) {
    return nullptr;
  }
  return &((*direct).*which);
}

/// The address of the function. Fails if its parameters are not `types` or its result is no handle.
void* address_of(DirectInvocation& invocation, const Record& record, const std::vector<NativeType>& types) {
  if (invocation.native.address != nullptr) {
    return invocation.native.address;
  }
  const Symbol name = invocation.native.name;
  const Value found = record.module->lookup(name);
  if (!found.is(Kind::kExtern)) {
    fail("direct: " + name_of(name) + " is not an extern function of " + record.module->name);
  }
  Extern& function = *as_object<Extern>(found);
  if (function.signature.parameters != types || function.signature.result != NativeType::kInt) {
    fail("direct: " + name_of(name) + " has the wrong parameters for a direct call");
  }
  invocation.native.address = address_of(function);
  if (invocation.native.address == nullptr) {
    fail("direct: " + name_of(name) + " is a function of the host itself");
  }
  return invocation.native.address;
}

/// Without the host lock: the function that finds the key may wait for Python.
bool stands_for_own_value(DirectCalls& direct, int64_t handle) {
  auto* const own_key = std::atomic_ref(direct.own_key).load(std::memory_order_acquire);
  return own_key != nullptr && handle > 0 && own_key(handle) != 0;
}

/// Runs `call` without the host lock and wraps its handle in an instance, or raises the error.
template <class Call>
Value invoke_native(const DirectInvocation& invocation, Record& record, Call&& call) {
  int64_t handle;
  bool is_own;
  {
    const Unlocked unlocked;
    handle = call();
    is_own = stands_for_own_value(*record.direct, handle);
  }
  if ((handle == 0 || is_own) && !callback_failed()) [[unlikely]] {
    const Value result = Value::integer(handle);
    return current_thread().call(record.module->lookup(invocation.value_of), &result, 1);
  }
  Ref owned;
  if (handle != record.direct->nil_handle) {
    Instance* instance_of_handle = new_instance(&record);
    instance_of_handle->fields()[0] = Value::integer(handle);
    owned = Ref::owned(Value::object(instance_of_handle));
  }
  if (callback_failed()) [[unlikely]] {
    raise_callback_failure();
  }
  return owned.take();
}

int64_t handle_of(Value self) { return as_object<Instance>(self)->fields()[0].as_int; }

Record& record_of(Value self) { return *as_object<Instance>(self)->record->direct->record; }

}  // namespace

Value direct_call(Value self, const Value* args, uint32_t count, const CallSpec* spec) {
  DirectInvocation* invocation = invocation_of(self, &DirectCalls::call);
  PackedArguments packed;
  if (invocation == nullptr || !packed.pack(args, count, spec)) {
    return Value::missing();
  }
  Record& record = record_of(self);
  auto* function = reinterpret_cast<CallFunction*>(address_of(*invocation, record, kCallTypes));
  return invoke_native(*invocation, record, [&] {
    return function(handle_of(self), packed.letters(), packed.values(), packed.names());
  });
}

Value direct_invoke(Value self, Symbol method, const Value* args, uint32_t count, const CallSpec* spec) {
  DirectInvocation* invocation = invocation_of(self, &DirectCalls::invoke);
  PackedArguments packed;
  if (invocation == nullptr || !packed.pack(args, count, spec)) {
    return Value::missing();
  }
  Record& record = record_of(self);
  auto* function = reinterpret_cast<InvokeFunction*>(address_of(*invocation, record, kInvokeTypes));
  const char* name = name_of(method).c_str();
  return invoke_native(*invocation, record, [&] {
    return function(handle_of(self), name, packed.letters(), packed.values(), packed.names());
  });
}

Value direct_get(Value self, Symbol field) {
  DirectInvocation* invocation = invocation_of(self, &DirectCalls::get);
  if (invocation == nullptr) {
    return Value::missing();
  }
  const Ref held = Ref::shared(self);  // the variable that holds it may change during the call
  Record& record = record_of(self);
  auto* function = reinterpret_cast<GetFunction*>(address_of(*invocation, record, kGetTypes));
  const char* name = name_of(field).c_str();
  return invoke_native(*invocation, record, [&] { return function(handle_of(self), name); });
}

}  // namespace spl
