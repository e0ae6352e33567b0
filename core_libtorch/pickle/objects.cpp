#include "core_libtorch/pickle/objects.h"

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/pickle/bytes.h"

namespace simple_torch::core::pickle {
namespace {

const Value& item_of(const Value& value, size_t index, Kind kind, const char* what) {
  if (index >= value.items.size() || value.items[index]->kind != kind) {
    fail_broken(std::string("no ") + what + " where one belongs");
  }
  return *value.items[index];
}

std::vector<int64_t> integers_of(const Value& value, const char* what) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < value.items.size(); ++i) {
    numbers.push_back(item_of(value, i, Kind::kInt, what).number);
  }
  return numbers;
}

bool is_dtype_name(const std::string& name) {
  try {
    dtype_of_name(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

ValuePtr ordered_dict(const Value& arguments) {
  ValuePtr dict = make_value(Kind::kOrderedDict);
  if (arguments.items.empty()) {
    return dict;
  }
  for (const ValuePtr& pair : arguments.items[0]->items) {
    if (pair->items.size() != 2) {
      fail_broken("a dict of what are no pairs");
    }
    dict->items.insert(dict->items.end(), pair->items.begin(), pair->items.end());
  }
  return dict;
}

ValuePtr tensor_of(const Value& arguments, bool names_dtype, const Makers& makers) {
  const Value& storage = item_of(arguments, 0, Kind::kStorage, "storage");
  const std::string dtype = names_dtype ? item_of(arguments, 6, Kind::kDtype, "dtype").text : "";
  ValuePtr made = make_value(Kind::kTensor);
  made->tensor = makers.tensor(storage, dtype, item_of(arguments, 1, Kind::kInt, "offset").number,
                               integers_of(item_of(arguments, 2, Kind::kTuple, "shape"), "size"),
                               integers_of(item_of(arguments, 3, Kind::kTuple, "strides"), "stride"),
                               item_of(arguments, 4, Kind::kBool, "flag").number != 0);
  return made;
}

ValuePtr parameter_of(const Value& arguments) {
  ValuePtr made = make_value(Kind::kParameter);
  made->tensor = item_of(arguments, 0, Kind::kTensor, "tensor").tensor;
  made->tensor.requires_grad_(item_of(arguments, 1, Kind::kBool, "flag").number != 0);
  return made;
}

}  // namespace

void fail_unknown(const std::string& global) {
  std::string name = global;
  name.replace(name.find(' '), 1, ".");
  fail("it holds a " + name +
       ", and only tensors, numbers, texts, lists, tuples, dicts and dtypes are read, as a pickle of "
       "anything else "
       "can run any code; save a state_dict() in Python");
}

ValuePtr storage_of(const Value& id, const Makers& makers) {
  if (id.kind != Kind::kTuple || id.items.size() != 5 ||
      item_of(id, 0, Kind::kText, "text").text != "storage") {
    fail_broken("a reference that is no storage");
  }
  return makers.storage(item_of(id, 1, Kind::kGlobal, "storage class").text,
                        item_of(id, 2, Kind::kText, "key").text, item_of(id, 3, Kind::kText, "location").text,
                        item_of(id, 4, Kind::kInt, "size").number);
}

ValuePtr made_by(const Value& function, const Value& arguments, const Makers& makers) {
  if (function.kind != Kind::kGlobal || arguments.kind != Kind::kTuple) {
    fail_broken("a call of what is no function");
  }
  const std::string& name = function.text;
  if (name == "collections OrderedDict") {
    return ordered_dict(arguments);
  }
  if (name == "torch Size") {
    ValuePtr size = make_value(Kind::kTuple);
    size->items = arguments.items.empty() ? std::vector<ValuePtr>() : arguments.items[0]->items;
    return size;
  }
  if (name == "torch._utils _rebuild_tensor_v2" || name == "torch._utils _rebuild_tensor_v3") {
    return tensor_of(arguments, name.ends_with("3"), makers);
  }
  if (name == "torch._utils _rebuild_parameter") {
    return parameter_of(arguments);
  }
  fail_unknown(name);
}

ValuePtr global_of(const std::string& module, const std::string& name) {
  const bool is_dtype = module == "torch" && is_dtype_name(name);
  ValuePtr made = make_value(is_dtype ? Kind::kDtype : Kind::kGlobal);
  made->text = is_dtype ? name : module + " " + name;
  return made;
}

}  // namespace simple_torch::core::pickle
