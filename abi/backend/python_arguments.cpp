// Conversion of argument lists: one letter and one tagged value for each argument.
#include "abi/backend/python_arguments.h"

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::abi {
namespace {

int64_t handle_in(const SplValue& item) {
  if (item.tag != SPL_INT) {
    throw Error(ErrorKind::kInvalidArgument,
                "a handle must be an integer, got tag " + std::to_string(item.tag));
  }
  return item.as_int;
}

}  // namespace

PythonArguments::PythonArguments(const char* kinds, const SplArray* values) {
  const size_t count = count_of_values(kinds, values);
  values_.resize_for_overwrite(count);
  for (size_t i = 0; i < count; ++i) {
    convert(kinds[i], values->items[i], values_[i]);
  }
}

bridge::Arguments PythonArguments::with_names(const char* const* names, int64_t names_len) const {
  if (names_len < 0 || static_cast<size_t>(names_len) > size()) {
    throw Error(ErrorKind::kInvalidArgument,
                std::to_string(names_len) + " names for " + std::to_string(size()) + " values");
  }
  for (int64_t i = 0; i < names_len; ++i) {
    if (names == nullptr || names[i] == nullptr) {
      throw Error(ErrorKind::kInvalidArgument, "name " + std::to_string(i) + " is NULL");
    }
  }
  return {data(), size(), names, static_cast<size_t>(names_len)};
}

const bridge::Value* PythonArguments::exactly(size_t count) const {
  if (size() != count) {
    throw Error(ErrorKind::kInvalidArgument,
                "expected " + std::to_string(count) + " values, got " + std::to_string(size()));
  }
  return data();
}

void PythonArguments::convert(char kind, const SplValue& item, bridge::Value& out) {
  switch (kind) {
    case 'v':
      convert_plain(item, out);
      return;
    case 'm':
      convert_dict(item, out);
      return;
    case 'o':
      out.type = bridge::Value::Type::kObject;
      objects_.push_back(handles().get<PythonRef>(handle_in(item)));
      out.object = objects_.back()->get();
      return;
    case 't':
      out.type = bridge::Value::Type::kTensor;
      tensors_.push_back(handles().get<at::Tensor>(handle_in(item)));
      out.tensor = &*tensors_.back();
      return;
    case 'd':
      out.type = bridge::Value::Type::kDlpack;
      out.dlpack = capsules_.emplace_back(handles().take<dlpack::Managed>(handle_in(item))).receiver();
      return;
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  std::string("kinds: unknown letter ") + kind + ", expected v, m, o, t or d");
  }
}

void PythonArguments::convert_plain(const SplValue& item, bridge::Value& out) {
  switch (item.tag) {
    case SPL_NIL:
      out.type = bridge::Value::Type::kNil;
      return;
    case SPL_BOOL:
      out.type = bridge::Value::Type::kBool;
      out.boolean = item.as_bool;
      return;
    case SPL_INT:
      out.type = bridge::Value::Type::kInt;
      out.integer = item.as_int;
      return;
    case SPL_FLOAT:
      out.type = bridge::Value::Type::kFloat;
      out.real = item.as_float;
      return;
    case SPL_STRING:
      out.type = bridge::Value::Type::kText;
      out.text = string_of(item);
      return;
    case SPL_ARRAY:
      convert_list(item.as_array, out);
      return;
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  "unknown tag " + std::to_string(item.tag) + " of a value; spt_py_dict creates a dict");
  }
}

void PythonArguments::convert_list(const SplArray* array, bridge::Value& out) {
  const NestingLevel level;
  bridge::Value item{};
  for (const SplValue& value : items_of(array)) {
    if (value.tag != SPL_INT && value.tag != SPL_FLOAT) {
      convert_plain(value, item);  // throws for an invalid value
    }
  }
  out.type = bridge::Value::Type::kList;
  out.list = array;
}

void PythonArguments::convert_dict(const SplValue& item, bridge::Value& out) {
  if (item.tag != SPL_ARRAY || items_of(item.as_array).size() % 2 != 0) {
    throw Error(ErrorKind::kInvalidArgument, "a dict must be an array of key, value, key, value and so on");
  }
  convert_list(item.as_array, out);
  out.type = bridge::Value::Type::kDict;
}

}  // namespace simple_torch::abi
