// Argument lists: one letter and one tagged value for each.
#include "abi/python_arguments.h"

#include <string>

#include "core_libtorch/error.h"

namespace simple_torch::abi {
namespace {

int64_t handle_in(const SplValue& item) {
  if (item.tag != SPL_INT) {
    throw Error(ErrorKind::kInvalidArgument,
                "a handle is an integer, and this value has tag " + std::to_string(item.tag));
  }
  return item.as_int;
}

}  // namespace

PythonArguments::PythonArguments(const char* kinds, const SplArray* values) {
  const size_t count = count_of_values(kinds, values);
  for (size_t i = 0; i < count; ++i) {
    values_.push_back(convert(kinds[i], values->items[i]));
  }
}

bridge::Arguments PythonArguments::with_names(const char* const* names, int64_t names_len) const {
  if (names_len < 0 || static_cast<size_t>(names_len) > size()) {
    throw Error(ErrorKind::kInvalidArgument, "there are " + std::to_string(names_len) + " names for " +
                                                 std::to_string(size()) + " values");
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
                "this takes " + std::to_string(count) + " values, and there are " + std::to_string(size()));
  }
  return data();
}

bridge::Value PythonArguments::convert(char kind, const SplValue& item) {
  bridge::Value value{};
  switch (kind) {
    case 'v':
      return plain(item);
    case 'o':
      value.type = bridge::Value::Type::kObject;
      objects_.push_back(handles().get<PythonRef>(handle_in(item)));
      value.object = objects_.back()->get();
      return value;
    case 't':
      value.type = bridge::Value::Type::kTensor;
      tensors_.push_back(handles().get<at::Tensor>(handle_in(item)));
      value.tensor = &*tensors_.back();
      return value;
    case 'd':
      value.type = bridge::Value::Type::kDlpack;
      value.dlpack = capsules_.emplace_back(handles().take<dlpack::Managed>(handle_in(item))).receiver();
      return value;
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  std::string("kinds has the letter ") + kind + ", and only v, o, t and d mean something");
  }
}

bridge::Value PythonArguments::plain(const SplValue& item) {
  bridge::Value value{};
  switch (item.tag) {
    case SPL_NIL:
      value.type = bridge::Value::Type::kNil;
      return value;
    case SPL_BOOL:
      value.type = bridge::Value::Type::kBool;
      value.boolean = item.as_bool;
      return value;
    case SPL_INT:
      value.type = bridge::Value::Type::kInt;
      value.integer = item.as_int;
      return value;
    case SPL_FLOAT:
      value.type = bridge::Value::Type::kFloat;
      value.real = item.as_float;
      return value;
    case SPL_STRING:
      value.type = bridge::Value::Type::kText;
      value.text = item.as_string;
      return value;
    case SPL_ARRAY:
      return list(item.as_array);
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  "a value of tag " + std::to_string(item.tag) + " cannot cross; a dict is made by py_dict");
  }
}

bridge::Value PythonArguments::list(const SplArray* array) {
  const auto given = items_of(array);
  const Nested level;
  auto items = std::make_unique<bridge::Value[]>(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    items[i] = plain(given[i]);
  }
  bridge::Value value{};
  value.type = bridge::Value::Type::kList;
  value.list = {items.get(), given.size()};
  lists_.push_back(std::move(items));
  return value;
}

}  // namespace simple_torch::abi
