#include "abi/backend/operator_values.h"

#include <c10/util/complex.h>

#include <cstdlib>
#include <limits>
#include <string>

#include "abi/backend/arrays.h"
#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/utf8.h"
#include "simple_torch/c_api.h"

namespace simple_torch::abi {
namespace {

using c10::IValue;

// Simple passes a handle as an INT; the letter is its kind.
int64_t handle_in(const SplValue& item) {
  if (item.tag != SPL_INT && item.tag != SPT_TENSOR && item.tag != SPT_GENERATOR) {
    throw Error(ErrorKind::kInvalidArgument,
                "a handle must be an integer, got tag " + std::to_string(item.tag));
  }
  return item.as_int;
}

IValue tensor_in(const SplValue& item) {
  const int64_t handle = handle_in(item);
  return handle == 0 ? IValue() : IValue(*tensor_argument(handle));
}

c10::ArrayRef<SplValue> array_in(const SplValue& item) {
  if (item.tag != SPL_ARRAY && item.tag != SPT_COMPLEX) {
    throw Error(ErrorKind::kInvalidArgument, "expected an array, got tag " + std::to_string(item.tag));
  }
  require(item.as_array, "an array");
  return items_of(item.as_array);
}

template <class Convert>
IValue list_in(const SplValue& item, Convert&& convert) {
  const auto items = array_in(item);
  const NestingLevel level;
  c10::impl::GenericList list(c10::AnyType::get());
  list.reserve(items.size());
  for (const SplValue& each : items) {
    list.push_back(convert(each));
  }
  return IValue(list);
}

double part_of(const SplValue& item) {
  if (item.tag != SPL_FLOAT && item.tag != SPL_INT) {
    throw Error(ErrorKind::kInvalidArgument, "the parts of a complex number must be numbers");
  }
  return item.tag == SPL_FLOAT ? item.as_float : static_cast<double>(item.as_int);
}

IValue complex_in(const SplValue& item) {
  const auto parts = array_in(item);
  if (parts.size() != 2) {
    throw Error(ErrorKind::kInvalidArgument,
                "a complex number must have 2 parts, got " + std::to_string(parts.size()));
  }
  return IValue(c10::complex<double>(part_of(parts[0]), part_of(parts[1])));
}

IValue generator_in(const SplValue& item) { return IValue(*handles().get<at::Generator>(handle_in(item))); }

SplValue tagged(int32_t tag) {
  SplValue value{};
  value.tag = tag;
  return value;
}

SplValue int_value(int32_t tag, int64_t number) {
  SplValue value = tagged(tag);
  value.as_int = number;
  return value;
}

SplValue float_value(double number) {
  SplValue value = tagged(SPL_FLOAT);
  value.as_float = number;
  return value;
}

SplValue string_value(const std::string& string) {
  SplValue value = tagged(SPL_STRING);
  std::string valid;
  assign_utf8(valid, string);
  value.as_string = services().host.str_new(valid.c_str());
  return value;
}

SplArray* new_array() { return services().host.array_new(); }
void push(SplArray* array, SplValue value) { services().host.array_push(array, value); }

// Releases what the value refers to.
void release_value(const SplValue& value) {
  if (value.tag == SPT_TENSOR && value.as_int != 0) {
    handles().release_if(value.as_int, HandleKind::kTensor);
  } else if (value.tag == SPT_GENERATOR) {
    handles().release_if(value.as_int, HandleKind::kGenerator);
  } else if (value.tag == SPL_STRING) {
    std::free(value.as_string);
  } else if (value.tag == SPL_ARRAY || value.tag == SPT_COMPLEX) {
    for (int64_t i = 0; i < value.as_array->len; ++i) {
      if (value.as_array->items[i].tag == SPT_TENSOR) {
        release_value(value.as_array->items[i]);
      }
    }
    services().host.array_free(value.as_array);
  }
}

SplValue to_spl_value(const IValue& value);

SplValue list_value(const IValue& value) {
  SplValue list = tagged(SPL_ARRAY);
  list.as_array = new_array();
  try {
    for (const IValue& item : value.toListRef()) {
      push(list.as_array, to_spl_value(item));
    }
  } catch (...) {
    release_value(list);
    throw;
  }
  return list;
}

SplValue complex_value(c10::complex<double> number) {
  SplValue value = tagged(SPT_COMPLEX);
  value.as_array = new_array();
  push(value.as_array, float_value(number.real()));
  push(value.as_array, float_value(number.imag()));
  return value;
}

// Numbers of uint64 tensors; Simple's integers have 64 bits with a sign.
SplValue unsigned_value(uint64_t number) {
  if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw Error(ErrorKind::kTorch, "the number " + std::to_string(number) +
                                       " does not fit into i64; convert the tensor to float64, or view it as int64");
  }
  return int_value(SPL_INT, static_cast<int64_t>(number));
}

SplValue to_spl_value(const IValue& value) {
  if (value.isTensor()) {
    return int_value(SPT_TENSOR, new_handle(value.toTensor()));
  }
  if (value.isNone()) {
    return tagged(SPL_NIL);
  }
  if (value.isBool()) {
    SplValue truth = tagged(SPL_BOOL);
    truth.as_bool = value.toBool();
    return truth;
  }
  if (value.isInt()) {
    return int_value(SPL_INT, value.toInt());
  }
  if (value.isUnsigned()) {
    return unsigned_value(value.toUInt());
  }
  if (value.isDouble()) {
    return float_value(value.toDouble());
  }
  if (value.isComplexDouble()) {
    return complex_value(value.toComplexDouble());
  }
  if (value.isString()) {
    return string_value(value.toStringRef());
  }
  if (value.isList()) {
    return list_value(value);
  }
  if (value.isDevice()) {
    return string_value(value.toDevice().str());
  }
  if (value.isGenerator()) {
    return int_value(SPT_GENERATOR, handles().insert(value.toGenerator()));
  }
  throw Error(ErrorKind::kNotImplemented,
              "results of type " + value.type()->repr_str() + " are not supported");
}

bool holds_tensors(const SplArray& array) {
  for (int64_t i = 0; i < array.len; ++i) {
    if (array.items[i].tag == SPT_TENSOR) {
      return true;
    }
  }
  return false;
}

char letter_of(const SplValue& item) {
  switch (item.tag) {
    case SPT_TENSOR:
      return 't';
    case SPT_COMPLEX:
      return 'c';
    case SPT_GENERATOR:
      return 'g';
    case SPL_ARRAY:
      return holds_tensors(*item.as_array) ? 'l' : 'v';
    default:
      return 'v';
  }
}

// Replaces the tags that Simple's runtimes do not know.
void make_plain(SplValue& item) {
  if (item.tag == SPT_TENSOR || item.tag == SPT_GENERATOR) {
    item.tag = SPL_INT;
  } else if (item.tag == SPT_COMPLEX) {
    item.tag = SPL_ARRAY;
  } else if (item.tag == SPL_ARRAY) {
    for (int64_t i = 0; i < item.as_array->len; ++i) {
      make_plain(item.as_array->items[i]);
    }
  }
}

}  // namespace

IValue value_by_tag(const SplValue& item) {
  switch (item.tag) {
    case SPL_NIL:
      return {};
    case SPL_BOOL:
      return IValue(item.as_bool);
    case SPL_INT:
      return IValue(item.as_int);
    case SPL_FLOAT:
      return IValue(item.as_float);
    case SPL_STRING:
      return IValue(std::string(string_of(item)));
    case SPL_ARRAY:
      return list_in(item, value_by_tag);
    case SPT_TENSOR:
      return tensor_in(item);
    case SPT_COMPLEX:
      return complex_in(item);
    case SPT_GENERATOR:
      return generator_in(item);
    default:
      throw Error(ErrorKind::kInvalidArgument, "unknown tag " + std::to_string(item.tag) + " of an argument");
  }
}

IValue value_by_letter(char letter, const SplValue& item) {
  switch (letter) {
    case 'v':
      return value_by_tag(item);
    case 't':
      return tensor_in(item);
    case 'l':
      return list_in(item, tensor_in);
    case 'c':
      return complex_in(item);
    case 'g':
      return generator_in(item);
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  std::string("kinds: unknown letter ") + letter + ", expected v, t, l, c or g");
  }
}

Results::Results(const std::vector<IValue>& values) {
  items_.reserve(values.size());
  try {
    for (const IValue& value : values) {
      items_.push_back(to_spl_value(value));
    }
  } catch (...) {
    for (const SplValue& item : items_) {
      release_value(item);
    }
    throw;
  }
}

Results::~Results() {
  for (const SplValue& item : items_) {
    release_value(item);
  }
}

void Results::take(SplValue* buffer) {
  for (const SplValue& item : items_) {
    *buffer++ = item;
  }
  items_.clear();
}

SplArray* Results::take_array(const std::string& names) {
  std::string letters;
  for (const SplValue& item : items_) {
    letters += letter_of(item);
  }
  SplArray* array = new_array();
  push(array, string_value(letters));
  push(array, string_value(names));
  for (SplValue& item : items_) {
    make_plain(item);
    push(array, item);
  }
  items_.clear();
  return array;
}

}  // namespace simple_torch::abi
