// `value as type`.
#include "host/builtins/builtins.h"
#include "host/values/sized.h"

namespace spl {

Value cast_value(Value v, int code) {
  if (code == 10) {
    return make_text(display(v));
  }
  if (code == 11) {
    return Value::boolean(truthy(v));
  }
  if (code == 0) {
    return Value::integer(to_integer(v));
  }
  if (code == 8) {
    return Value::number(to_number(v));
  }
  static constexpr Tag kTypes[] = {Tag::kInt,    Tag::kInt32,  Tag::kInt16, Tag::kInt8,  Tag::kUint64,
                                   Tag::kUint32, Tag::kUint16, Tag::kUint8, Tag::kFloat, Tag::kFloat32};
  return cast_to(kTypes[code], v);
}

}  // namespace spl
