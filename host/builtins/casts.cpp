// `value as type`.
#include "builtins.h"

namespace spl {

Value cast_value(Value v, int code) {
  if (code == 10)
    return make_text(display(v));
  if (code == 11)
    return Value::boolean(truthy(v));
  if (code == 8 || code == 9) {
    const double number = to_number(v);
    return Value::number(code == 9 ? static_cast<float>(number) : number);
  }
  const int64_t whole = to_integer(v);
  switch (code) {
    case 1:
      return Value::integer(static_cast<int32_t>(whole));
    case 2:
      return Value::integer(static_cast<int16_t>(whole));
    case 3:
      return Value::integer(static_cast<int8_t>(whole));
    case 5:
      return Value::integer(static_cast<uint32_t>(whole));
    case 6:
      return Value::integer(static_cast<uint16_t>(whole));
    case 7:
      return Value::integer(static_cast<uint8_t>(whole));
    default:
      return Value::integer(whole);
  }
}

}  // namespace spl
