#include "host/ffi/operator_call.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "host/ffi/callback.h"
#include "host/ffi/extern.h"
#include "host/ffi/operator_operands.h"
#include "host/ffi/operator_properties.h"
#include "host/values/error.h"
#include "host/values/module.h"
#include "host/vm/lock.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

using OperatorFunction = int64_t(const char*, const char*, const SplArray*, const SplArray*);
using GetItemFunction = int64_t(int64_t, const char*, const SplArray*);

const std::vector<NativeType> kOperatorTypes = {NativeType::kText, NativeType::kText, NativeType::kArray,
                                                NativeType::kArray};
const std::vector<NativeType> kItemTypes = {NativeType::kInt, NativeType::kText, NativeType::kArray};

bool resolve_item(const OperatorCall& call, Extern& native, Record& record) {
  call.address = address_of(native);
  call.record = &record;
  return call.address != nullptr;
}

// The functions and the class for several tensors are those of the module that defines results_of().
bool resolve_tensors(const OperatorCall& call, Extern& native) {
  LoadedModule& module = *reinterpret_cast<Closure*>(call.reader)->proto->module;
  const Value next = module.lookup(intern(native.name + "_tensor"));
  const Value number = module.lookup(intern(native.name + "_number"));
  const Value pair = module.lookup(intern("ValuesAndIndices"));
  if (!next.is(Kind::kExtern) || !number.is(Kind::kExtern) || !pair.is(Kind::kRecord) ||
      as_object<Record>(pair)->fields.size() != 2) {
    return false;
  }
  call.next_tensor = address_of(*as_object<Extern>(next));
  call.number = address_of(*as_object<Extern>(number));
  call.pair = as_object<Record>(pair);
  return call.next_tensor != nullptr && call.number != nullptr;
}

// Resolves the function and the class; false while the module that defines them is not loaded yet.
bool resolve_operator(const OperatorCall& call, LoadedModule& module, const std::vector<NativeType>& types) {
  if (call.record != nullptr) {
    return true;
  }
  const Value function = module.lookup(call.native), record = module.lookup(call.result);
  if (!function.is(Kind::kExtern) || !record.is(Kind::kRecord)) {
    return false;
  }
  Extern& native = *as_object<Extern>(function);
  if (native.signature.parameters != types || as_object<Record>(record)->fields.size() != 1) {
    fail("operator: " + native.name + " has the wrong parameters, or " + name_of(call.result) +
         " is not a class with one field");
  }
  const Value results = module.lookup(intern(native.name + "_results"));
  const Value reader = module.lookup(intern("results_of"));
  const bool raises = module.lookup(intern("stop_on_error")).is(Kind::kClosure);
  if (!results.is(Kind::kExtern) || !reader.is(Kind::kClosure) || !raises) {
    return types != kOperatorTypes && resolve_item(call, native, *as_object<Record>(record));
  }
  call.results = as_object<Extern>(results);
  call.reader = reader.as_object;
  return resolve_tensors(call, native) && resolve_item(call, native, *as_object<Record>(record));
}

constexpr int64_t kSeveralResults = -2, kTensorList = -3, kValuesAndIndices = -4, kFloat = -5, kInteger = -6,
                  kBool = -7, kTensorTuple = -8, kNothing = -9;

std::vector<Value> tensors_of(const OperatorCall& call) {
  auto* next = reinterpret_cast<int64_t (*)()>(call.next_tensor);
  std::vector<Value> tensors;
  const Unlocked unlocked;
  for (int64_t handle = next(); handle > 0; handle = next()) {
    tensors.push_back(Value::integer(handle));
  }
  return tensors;
}

// A list or a tuple of tensors, or the class of a pair.
Value several_tensors(const OperatorCall& call, int64_t kind) {
  std::vector<Value> tensors = tensors_of(call);
  for (Value& tensor : tensors) {
    tensor = instance_of_handle(call.record, tensor.as_int);
  }
  if (kind == kTensorTuple) {
    return make_tuple(std::move(tensors));
  }
  if (kind != kValuesAndIndices || tensors.size() != 2) {
    return make_array(std::move(tensors));
  }
  Instance* pair = new_instance(call.pair);
  std::copy(tensors.begin(), tensors.end(), pair->fields());
  return Value::object(pair);
}

// Results other than tensors only: results_of() of the library converts them.
Value general_results(const OperatorCall& call) {
  Thread& thread = current_thread();
  const Ref flat = Ref::owned(call_extern(thread, *call.results, nullptr, 0));
  const Value argument = flat.get();
  return thread.call(Value::object(call.reader), &argument, 1);
}

// The number is ready: reading it waits for nothing.
Value number_result(const OperatorCall& call, int64_t kind) {
  const int64_t bits = reinterpret_cast<int64_t (*)()>(call.number)();
  return kind == kFloat     ? Value::number(std::bit_cast<double>(bits))
         : kind == kInteger ? Value::integer(bits)
                            : Value::boolean(bits != 0);
}

// Missing for a call that was not made.
Value other_results(const OperatorCall& call, int64_t kind) {
  switch (kind) {
    case kFloat:
    case kInteger:
    case kBool:
      return number_result(call, kind);
    case kTensorList:
    case kValuesAndIndices:
    case kTensorTuple:
      return several_tensors(call, kind);
    case kSeveralResults:
      return general_results(call);
    case kNothing:
      return Value();
    default:
      return Value::missing();
  }
}

// A failed operator that works in place is not repeated. stop_on_error() of the library raises its error.
void raise_last_error(const Proto& proto) {
  const Value raise = proto.module->lookup(intern("stop_on_error"));
  if (raise.is(Kind::kClosure)) {
    release(current_thread().call(raise, nullptr, 0));
  }
}

// Calls the operator with packed arguments; `args` are the same arguments.
Value run_operator(const Proto& proto, const std::string& name, Operands& operands, OperandNames& names,
                   const Value* args, size_t count) {
  const OperatorCall& call = *proto.operator_call;
  if (!resolve_operator(call, *proto.module, kOperatorTypes)) {
    return Value::missing();
  }
  int64_t handle;
  {
    const Unlocked unlocked;
    handle = reinterpret_cast<OperatorFunction*>(call.address)(name.c_str(), operands.letters(),
                                                               operands.values(), names.array());
  }
  if (handle <= 0) {
    if (callback_failed()) [[unlikely]] {
      raise_callback_failure();
    }
    if (handle == 0 && name.ends_with('_')) {
      raise_last_error(proto);
    }
    return other_results(call, handle);
  }
  const bool in_place = count > 0 && handle == tensor_handle(args[0]);
  Ref result = in_place ? Ref::shared(args[0]) : Ref::owned(instance_of_handle(call.record, handle));
  if (callback_failed()) [[unlikely]] {
    raise_callback_failure();
  }
  return result.take();
}

// The arguments are the operator's name, an array of positional arguments and a dict of named ones.
Value call_packed_operator(const Proto& proto, const Value* args, uint32_t count) {
  const bool is_packed =
      count == 3 && args[0].is(Kind::kText) && args[1].is(Kind::kArray) && args[2].is(Kind::kDict);
  if (!is_packed || text_of(args[0]).size() != std::strlen(text_of(args[0]).c_str())) {
    return Value::missing();
  }
  const auto& positional = as_object<Array>(args[1])->items;
  Operands operands;
  OperandNames names;
  for (const Value value : positional) {
    if (!operands.add_argument(value)) {
      return Value::missing();
    }
  }
  for (const auto& entry : as_object<Dict>(args[2])->entries) {
    if (entry.key.is_missing()) {
      continue;
    }
    if (!entry.key.is(Kind::kText) || !names.add(text_of(entry.key)) || !operands.add_argument(entry.value)) {
      return Value::missing();
    }
  }
  return run_operator(proto, text_of(args[0]), operands, names, positional.data(), positional.size());
}

// The name of an operator that begins with the text in the first field of `self`.
Symbol prefixed(Value self, Symbol name) {
  const Value prefix = as_object<Instance>(self)->fields()[0];
  return prefix.is(Kind::kText) ? intern(text_of(prefix) + name_of(name)) : name;
}

Value call_by_name(const Proto& proto, Symbol name, const Value* args, uint32_t count, uint32_t leading,
                   const CallSpec* spec) {
  if (count > kMaxOperands) {
    return Value::missing();
  }
  Operands operands;
  OperandNames names;
  for (uint32_t i = 0; i < count; ++i) {
    const auto form = spec == nullptr || i < leading ? CallSpec::Form::kPositional : spec->forms[i - leading];
    const bool is_packed = form == CallSpec::Form::kNamed ? names.add(name_of(spec->names[i - leading]))
                           : form == CallSpec::Form::kPositional ? names.empty()
                                                                 : false;
    if (!is_packed || !operands.add_argument(args[i])) {
      return Value::missing();
    }
  }
  if (leading == 0 && name_of(name).ends_with('_')) {  // the result is not the argument itself
    return Value::missing();
  }
  return run_operator(proto, name_of(name), operands, names, args, count);
}

}  // namespace

Value call_operator(const Proto& proto, Symbol name, const Value* args, uint32_t count, uint32_t leading,
                    const CallSpec* spec) {
  using Form = OperatorCall::Form;
  const bool is_plain = spec == nullptr;
  switch (proto.operator_call->form) {
    case Form::kProperty:
      return is_plain ? call_property(proto, args, count) : Value::missing();
    case Form::kList:
      return is_plain ? call_list(proto, args, count) : Value::missing();
    case Form::kReadElements:
      return is_plain ? read_elements(proto, args, count) : Value::missing();
    case Form::kMakeElements:
      return is_plain ? make_elements(proto, args, count) : Value::missing();
    case Form::kPacked:
      return is_plain ? call_packed_operator(proto, args, count) : Value::missing();
    case Form::kPrefixed:
      return call_by_name(proto, prefixed(args[0], name), args + 1, count - 1, 0, spec);
    default:
      return call_by_name(proto, name, args, count, leading, spec);
  }
}

Value get_item(const Proto& proto, Value self, Value key) {
  const OperatorCall& call = *proto.operator_call;
  const int64_t handle = tensor_handle(self);
  Operands operands;
  if (handle == 0 || !operands.add_subscripts(key) || !resolve_operator(call, *proto.module, kItemTypes)) {
    return Value::missing();
  }
  const Ref held_self = Ref::shared(self),
            held_key = Ref::shared(key);  // variables may change during the call
  int64_t item;
  {
    const Unlocked unlocked;
    item = reinterpret_cast<GetItemFunction*>(call.address)(handle, operands.letters(), operands.values());
  }
  Ref result = Ref::owned(item <= 0 ? Value::missing() : instance_of_handle(call.record, item));
  if (callback_failed()) [[unlikely]] {
    raise_callback_failure();
  }
  return result.take();
}

bool set_item(const Proto& proto, Value self, Value key, Value value) {
  const OperatorCall& call = *proto.operator_call;
  const int64_t handle = tensor_handle(self), source = tensor_handle(value);
  Operands operands;
  SplValue scalar{};
  const bool is_scalar =
      (value.is_int() || value.is_float() || value.is_bool()) && scalar_to_native(scalar, value);
  const bool has_value =
      source != 0 ? operands.add('t', integer_value(source)) : is_scalar && operands.add('v', scalar);
  if (handle == 0 || !has_value || !operands.add_subscripts(key) ||
      !resolve_operator(call, *proto.module, kItemTypes)) {
    return false;
  }
  const Ref held_self = Ref::shared(self), held_key = Ref::shared(key), held_value = Ref::shared(value);
  int64_t is_assigned;
  {
    const Unlocked unlocked;
    is_assigned =
        reinterpret_cast<GetItemFunction*>(call.address)(handle, operands.letters(), operands.values());
  }
  if (callback_failed()) [[unlikely]] {
    raise_callback_failure();
  }
  return is_assigned > 0;
}

}  // namespace spl
