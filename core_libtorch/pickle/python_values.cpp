#include "core_libtorch/pickle/python_values.h"

#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/parts.h"

namespace simple_torch::core::pickle {
namespace {

/// The items of the only argument, a collection; none without arguments.
std::vector<ValuePtr> items_of_first(const Value& arguments) {
  if (arguments.items.empty()) {
    return {};
  }
  const Value& first = *arguments.items[0];
  if (first.kind != Kind::kList && first.kind != Kind::kTuple && first.kind != Kind::kSet &&
      !first.is_dict()) {
    fail_broken("expected collection");
  }
  return first.items;
}

double real_of(const Value& arguments, size_t index) {
  return part_of(arguments, index, Kind::kFloat, "float").real;
}

}  // namespace

ValuePtr ordered_dict_of(const Value& arguments) {
  ValuePtr dict = make_value(Kind::kOrderedDict);
  for (const ValuePtr& pair : items_of_first(arguments)) {
    if (pair->items.size() != 2) {
      fail_broken("expected pairs in a dict");
    }
    dict->items.insert(dict->items.end(), pair->items.begin(), pair->items.end());
  }
  return dict;
}

ValuePtr counter_of(const Value& arguments) {
  ValuePtr dict = make_value(Kind::kDict);
  dict->items = items_of_first(arguments);
  if (!arguments.items.empty() && !arguments.items[0]->is_dict()) {
    fail_broken("expected dict");
  }
  return dict;
}

ValuePtr default_dict_of(const Value& arguments) {
  if (arguments.items.size() > 1) {
    fail_broken("expected a factory of a dict");
  }
  return make_value(Kind::kDict);
}

ValuePtr set_of(const Value& arguments) {
  ValuePtr set = make_value(Kind::kSet);
  set->items = items_of_first(arguments);
  return set;
}

ValuePtr size_of(const Value& arguments) {
  ValuePtr size = make_value(Kind::kTuple);
  size->items = items_of_first(arguments);
  return size;
}

ValuePtr complex_of(const Value& arguments) {
  ValuePtr made = make_value(Kind::kComplex);
  made->real = real_of(arguments, 0);
  made->imaginary = real_of(arguments, 1);
  return made;
}

ValuePtr encoded_of(const Value& arguments) {
  const std::string& text = part_of(arguments, 0, Kind::kText, "text").text;
  const auto bytes = latin1_of_text(text);
  if (part_of(arguments, 1, Kind::kText, "encoding").text != "latin1" || !bytes) {
    fail_broken("bytes are not encoded as Latin-1");
  }
  ValuePtr made = make_value(Kind::kBytes);
  made->text = *bytes;
  return made;
}

ValuePtr bytes_of(const Value& arguments) {
  ValuePtr made = make_value(Kind::kBytes);
  if (!arguments.items.empty()) {
    made->text = part_of(arguments, 0, Kind::kBytes, "bytes").text;
  }
  return made;
}

ValuePtr device_of(const Value& arguments) {
  ValuePtr made = make_value(Kind::kDevice);
  made->text = part_of(arguments, 0, Kind::kText, "device").text;
  if (arguments.items.size() > 1) {
    made->text += ":" + std::to_string(part_of(arguments, 1, Kind::kInt, "device index").number);
  }
  return made;
}

}  // namespace simple_torch::core::pickle
