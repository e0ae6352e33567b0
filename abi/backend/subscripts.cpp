// Bodies of get_item and set_item.
#include "core_libtorch/subscripts.h"

#include <c10/util/SmallVector.h>

#include <string>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"

namespace simple_torch::abi {
namespace {

std::optional<int64_t> slice_part(const SplValue& value) {
  if (value.tag != SPL_NIL && value.tag != SPL_INT) {
    throw Error(ErrorKind::kInvalidArgument, "the parts of a slice must be integers or nil");
  }
  return value.tag == SPL_NIL ? std::nullopt : std::optional<int64_t>(value.as_int);
}

core::Slice slice(const SplValue& item) {
  if (item.tag != SPL_ARRAY || item.as_array == nullptr || items_of(item.as_array).size() != 3) {
    throw Error(ErrorKind::kInvalidArgument, "a slice must be an array of start, stop and step");
  }
  const auto items = items_of(item.as_array);
  return {slice_part(items[0]), slice_part(items[1]), slice_part(items[2])};
}

core::Subscript plain_subscript(const SplValue& item) {
  switch (item.tag) {
    case SPL_INT:
      return item.as_int;
    case SPL_BOOL:
      return item.as_bool;
    case SPL_NIL:
      return core::NewDimension{};
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  "a subscript must be an integer, a bool, nil, a slice, ... or a tensor, got " +
                      value_by_letter('v', item).type()->repr_str());
  }
}

core::Subscript tensor_subscript(const c10::IValue& value) {
  if (!value.isTensor()) {
    throw Error(ErrorKind::kInvalidHandle, "a subscript tensor must not be handle 0");
  }
  return value.toTensor();
}

core::Subscript subscript(char letter, const SplValue& item) {
  switch (letter) {
    case 's':
      return slice(item);
    case 'e':
      return core::Ellipsis{};
    case 't':
      return tensor_subscript(value_by_letter('t', item));
    case 'v':
      return plain_subscript(item);
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  std::string("kinds: unknown letter ") + letter + ", expected v, t, s or e");
  }
}

using Subscripts = c10::SmallVector<core::Subscript, 4>;

/// The subscripts from `first` on.
Subscripts subscripts(const char* kinds, const SplArray* values, size_t first) {
  const size_t count = count_of_values(kinds, values);
  if (count < first) {
    throw Error(ErrorKind::kInvalidArgument, "set_item: value is missing");
  }
  Subscripts all;
  for (size_t i = first; i < count; ++i) {
    all.push_back(subscript(kinds[i], values->items[i]));
  }
  return all;
}

void assign(int64_t a, const char* kinds, const SplArray* value_and_keys) {
  const auto held = tensor_argument(a);
  const Subscripts where = subscripts(kinds, value_and_keys, 1);
  const c10::IValue value = value_by_letter(kinds[0], value_and_keys->items[0]);
  if (value.isTensor()) {
    core::set_item(*held, where, value.toTensor());
  } else if (value.isScalar()) {
    core::set_item(*held, where, value.toScalar());
  } else {
    throw Error(ErrorKind::kInvalidArgument,
                "the value must be a tensor or a number, got " + value.type()->repr_str());
  }
}

}  // namespace

namespace body {

int32_t get_item(int64_t a, const char* kinds, const SplArray* keys, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const auto held = tensor_argument(a);
    *out = new_handle(core::get_item(*held, subscripts(kinds, keys, 0)));
  });
}

int32_t set_item(int64_t a, const char* kinds, const SplArray* value_and_keys) {
  return guarded([&] { assign(a, kinds, value_and_keys); });
}

int32_t assign_item(int64_t a, const char* kinds, const SplArray* value_and_keys, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    assign(a, kinds, value_and_keys);
    *out = 1;
  });
}

}  // namespace body
}  // namespace simple_torch::abi
