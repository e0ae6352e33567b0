#include "host/ffi/operator_properties.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "host/ffi/conversion.h"
#include "host/ffi/extern.h"
#include "host/ffi/operator_operands.h"
#include "host/values/module.h"
#include "host/vm/lock.h"
#include "host/vm/thread.h"

namespace spl {

Value instance_of_handle(Record* record, int64_t handle) {
  Instance* instance = new_instance(record);
  instance->fields()[0] = Value::integer(handle);
  return Value::object(instance);
}

namespace {

constexpr uint32_t kMaxPropertyArguments = 3;

bool is_empty_result(Value value) {
  return value.is_nil() || (value.is_int() && value.as_int <= 0) || (value.is_bool() && !value.as_bool) ||
         (value.is(Kind::kArray) && as_object<Array>(value)->items.empty()) ||
         (value.is(Kind::kText) && text_of(value).empty());
}

void* address_of_integers(LoadedModule& module, Symbol name, size_t parameters) {
  const Value function = module.lookup(name);
  if (!function.is(Kind::kExtern)) {
    return nullptr;
  }
  Extern& native = *as_object<Extern>(function);
  void* address = address_of(native);
  return native.only_integers && native.signature.parameters.size() == parameters ? address : nullptr;
}

// Whether the last native call of this thread failed; true where the module has no function for that.
bool may_have_failed(const Proto& proto) {
  static const Symbol kind = intern("rt_torch_last_error_kind");
  const OperatorCall& call = *proto.operator_call;
  if (call.error_kind == nullptr) {
    call.error_kind = address_of_integers(*proto.module, kind, 0);
  }
  return call.error_kind == nullptr || reinterpret_cast<int64_t (*)()>(call.error_kind)() != 0;
}

// A negative index counts from the end.
Value item_at(const Array& items, int64_t index) {
  const int64_t count = std::ssize(items.items), at = index < 0 ? index + count : index;
  const Value item = at >= 0 && at < count ? items.items[static_cast<size_t>(at)] : Value();
  return item.is_nil() ? Value::missing() : retained(item);
}

// The value that stands for a native result: see call_property().
Value value_of_result(const OperatorCall& call, Value result) {
  if (call.values == nullptr) {
    return retained(result);
  }
  if (!result.is_int()) {
    return Value::missing();
  }
  if (call.values->kind == Kind::kArray) {
    return item_at(*static_cast<Array*>(call.values), result.as_int);
  }
  return result.as_int > 0 ? instance_of_handle(static_cast<Record*>(call.values), result.as_int) : Value();
}

// Upstream's functions return a negative number where there is no value.
bool is_unmapped(const OperatorCall& call, Value result) {
  return call.values == nullptr && result.is_int() && result.as_int < 0;
}

// The class or the array that the attribute names; it is a constant.
bool resolve_values(const Proto& proto) {
  const OperatorCall& call = *proto.operator_call;
  if (call.result == kNoSymbol || call.values != nullptr) {
    return true;
  }
  const Value values = proto.module->lookup(call.result);
  if (!values.is(Kind::kRecord) && !values.is(Kind::kArray)) {
    return false;
  }
  call.values = retained(values).as_object;
  return true;
}

// Sets the address, the last step, only where the function fits.
bool resolve_property(const Proto& proto) {
  const OperatorCall& call = *proto.operator_call;
  if (call.address != nullptr) {
    return true;
  }
  const Value function = proto.module->lookup(call.native);
  if (!function.is(Kind::kExtern) || !resolve_values(proto)) {
    return false;
  }
  const Signature& signature = as_object<Extern>(function)->signature;
  const bool is_plain = signature.result != NativeType::kFloat && signature.result != NativeType::kFloat32 &&
                        std::all_of(signature.parameters.begin(), signature.parameters.end(),
                                    [](NativeType type) { return type == NativeType::kInt; });
  if (!is_plain) {
    return false;
  }
  call.function = as_object<Extern>(function);
  call.is_getter = signature.parameters.size() == 1 &&
                   (signature.result == NativeType::kInt || signature.result == NativeType::kBool);
  call.address = address_of(*as_object<Extern>(function));
  return call.address != nullptr;
}

// The value for a native result, which is missing where the body of the function has to run. Consumes it.
Value checked_result(const Proto& proto, Value owned) {
  const OperatorCall& call = *proto.operator_call;
  const Ref result = Ref::owned(owned);
  const bool is_missing = is_empty_result(owned) && (is_unmapped(call, owned) || may_have_failed(proto));
  return is_missing ? Value::missing() : value_of_result(call, owned);
}

// Most attributes of a tensor, which programs read all the time.
Value read_getter(const Proto& proto, int64_t handle) {
  const OperatorCall& call = *proto.operator_call;
  int64_t word;
  {
    const Unlocked unlocked;
    word = reinterpret_cast<int64_t (*)(int64_t)>(call.address)(handle);
  }
  if (call.function->signature.result == NativeType::kBool) {
    const bool is_true = (word & 0xFF) != 0;
    return is_true && call.values == nullptr ? Value::boolean(true)
                                             : checked_result(proto, Value::boolean(is_true));
  }
  return word > 0 && call.values == nullptr ? Value::integer(word)
                                            : checked_result(proto, Value::integer(word));
}

}  // namespace

Value call_property(const Proto& proto, const Value* args, uint32_t count) {
  const int64_t handle = count > 0 ? tensor_handle(args[0]) : 0;
  if (handle == 0 || count > kMaxPropertyArguments || !resolve_property(proto)) {
    return Value::missing();
  }
  const OperatorCall& call = *proto.operator_call;
  if (call.is_getter && count == 1) {
    return read_getter(proto, handle);
  }
  const Signature& signature = call.function->signature;
  if (signature.parameters.size() != count) {
    return Value::missing();
  }
  std::array<int64_t, kMaxPropertyArguments> words{handle};
  for (uint32_t i = 1; i < count; ++i) {
    if (!args[i].is_int()) {
      return Value::missing();
    }
    words[i] = args[i].as_int;
  }
  NativeResult result{};
  {
    using Function = int64_t(int64_t, int64_t, int64_t);  // surplus arguments of C functions are ignored
    const Unlocked unlocked;
    result.i64 = reinterpret_cast<Function*>(call.address)(words[0], words[1], words[2]);
  }
  return checked_result(proto, from_native(signature.result, result));
}

namespace {

constexpr int64_t kMaxListed = 64;  // as many dimensions as a tensor may have

bool resolve_address(const Proto& proto, size_t parameters) {
  const OperatorCall& call = *proto.operator_call;
  if (call.address == nullptr) {
    call.address = address_of_integers(*proto.module, call.native, parameters);
  }
  return call.address != nullptr;
}

int64_t call_copy(const Proto& proto, int64_t handle, int64_t* address, int64_t capacity) {
  using Copy = int64_t(int64_t, int64_t*, int64_t);
  const Unlocked unlocked;
  return reinterpret_cast<Copy*>(proto.operator_call->address)(handle, address, capacity);
}

}  // namespace

Value call_list(const Proto& proto, const Value* args, uint32_t count) {
  const int64_t handle = count == 1 ? tensor_handle(args[0]) : 0;
  if (handle == 0 || !resolve_address(proto, 3)) {
    return Value::missing();
  }
  std::array<int64_t, kMaxListed> items;
  const int64_t length = call_copy(proto, handle, items.data(), kMaxListed);
  if (length < 0 || length > kMaxListed || (length == 0 && may_have_failed(proto))) {
    return Value::missing();
  }
  std::vector<Value> values(static_cast<size_t>(length));
  std::transform(items.begin(), items.begin() + length, values.begin(), Value::integer);
  return make_array(std::move(values));
}

namespace {

// The format of spt_copy_elements and spt_from_elements: the kind of number, the number of dimensions, the
// sizes, the elements in row-major order.
enum ElementKind : int64_t { kFloats = 0, kIntegers = 1, kBools = 2 };
constexpr size_t kHeader = 2;

/// Reads words as nested arrays.
class ElementReader {
 public:
  explicit ElementReader(const int64_t* words)
      : kind_(words[0]), sizes_(words + kHeader), next_(sizes_ + words[1]) {
    dims_ = static_cast<size_t>(words[1]);
  }

  Value read(size_t dim = 0) {
    if (dim == dims_) {
      return element(*next_++);
    }
    std::vector<Value> items(static_cast<size_t>(sizes_[dim]));
    for (Value& item : items) {
      item = read(dim + 1);
    }
    return make_array(std::move(items));
  }

 private:
  Value element(int64_t word) const {
    return kind_ == kFloats     ? Value::number(std::bit_cast<double>(word))
           : kind_ == kIntegers ? Value::integer(word)
                                : Value::boolean(word != 0);
  }

  int64_t kind_;
  const int64_t* sizes_;
  const int64_t* next_;
  size_t dims_;
};

const Elements* items_of_list(Value value) {
  return value.is(Kind::kArray)   ? &as_object<Array>(value)->items
         : value.is(Kind::kTuple) ? &as_object<Tuple>(value)->items
                                  : nullptr;
}

/// Collects the numbers of nested arrays.
class ElementWriter {
 public:
  /// False for arrays without a common shape, for bools among numbers, and for other values.
  bool collect(Value value, size_t dim = 0) {
    const Elements* items = items_of_list(value);
    if (items == nullptr) {
      return dim == sizes_.size() && collect_number(value);
    }
    if (dim == sizes_.size()) {
      if (!numbers_.empty() || items->empty() || dim == kMaxListed) {
        return false;
      }
      sizes_.push_back(std::ssize(*items));
    }
    return std::ssize(*items) == sizes_[dim] &&
           std::all_of(items->begin(), items->end(), [&](Value item) { return collect(item, dim + 1); });
  }

  std::vector<int64_t> words() const {
    std::vector<int64_t> all{kind(), std::ssize(sizes_)};
    all.reserve(kHeader + sizes_.size() + numbers_.size());
    all.insert(all.end(), sizes_.begin(), sizes_.end());
    for (const Value number : numbers_) {
      all.push_back(!has_float_ ? number.is_bool() ? static_cast<int64_t>(number.as_bool) : number.as_int
                    : number.is_float() ? std::bit_cast<int64_t>(number.as_float)
                                        : std::bit_cast<int64_t>(static_cast<double>(number.as_int)));
    }
    return all;
  }

 private:
  bool collect_number(Value value) {
    has_float_ = has_float_ || value.is_float();
    has_integer_ = has_integer_ || value.is_int();
    has_bool_ = has_bool_ || value.is_bool();
    numbers_.push_back(value);
    return value.is_bool() ? !has_float_ && !has_integer_
                           : !has_bool_ && (value.is_float() || value.is_int());
  }
  int64_t kind() const { return has_float_ ? kFloats : has_integer_ ? kIntegers : kBools; }

  std::vector<int64_t> sizes_;
  std::vector<Value> numbers_;  // borrowed
  bool has_float_ = false, has_integer_ = false, has_bool_ = false;
};

}  // namespace

Value read_elements(const Proto& proto, const Value* args, uint32_t count) {
  const int64_t handle = count == 1 ? tensor_handle(args[0]) : 0;
  if (handle == 0 || !resolve_address(proto, 3)) {
    return Value::missing();
  }
  std::array<int64_t, 128> few;
  const int64_t length = call_copy(proto, handle, few.data(), std::ssize(few));
  if (length <= 0) {
    return Value::missing();
  }
  if (length <= std::ssize(few)) {
    return ElementReader(few.data()).read();
  }
  std::vector<int64_t> many(static_cast<size_t>(length));
  return call_copy(proto, handle, many.data(), length) == length ? ElementReader(many.data()).read()
                                                                 : Value::missing();
}

Value make_elements(const Proto& proto, const Value* args, uint32_t count) {
  ElementWriter elements;
  if (count != 1 || items_of_list(args[0]) == nullptr || !elements.collect(args[0]) ||
      !resolve_address(proto, 2)) {
    return Value::missing();
  }
  const Value record = proto.module->lookup(proto.operator_call->result);
  if (!record.is(Kind::kRecord)) {
    return Value::missing();
  }
  const std::vector<int64_t> words = elements.words();
  int64_t handle;
  {
    using Make = int64_t(const int64_t*, int64_t);
    const Unlocked unlocked;
    handle = reinterpret_cast<Make*>(proto.operator_call->address)(words.data(), std::ssize(words));
  }
  return handle > 0 ? instance_of_handle(as_object<Record>(record), handle) : Value::missing();
}

}  // namespace spl
