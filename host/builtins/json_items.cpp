// std.json.stream: splits the text of an array into the texts of its items, without reading them.
#include <string_view>
#include <utility>
#include <vector>

#include "host/builtins/json_externs.h"

namespace spl {
namespace {

/// Follows the brackets and strings of the array's content.
class ItemSplitter {
 public:
  explicit ItemSplitter(std::string_view content) : content_(content) {
    while (at_ < content_.size() && !is_closed_) {
      step(content_[at_++]);
    }
  }
  /// The complete items, the text after them, and whether the array has ended.
  Value parts() {
    const Value rest = make_text(std::string(content_.substr(begin_)));
    return make_array({make_array(std::move(items_)), rest, Value::boolean(is_closed_)});
  }

 private:
  void step(char c) {
    if (in_string_) {
      in_string_ = c != '"' || is_escaped_;
      is_escaped_ = c == '\\' && !is_escaped_;
      return;
    }
    switch (c) {
      case '"':
        in_string_ = true;
        break;
      case '[':
      case '{':
        ++depth_;
        break;
      case '}':
        depth_ -= depth_ > 0;
        break;
      case ',':
        if (depth_ == 0) {
          end_item();
        }
        break;
      case ']':
        if (depth_ == 0) {
          end_item();
          is_closed_ = true;
        } else {
          --depth_;
        }
        break;
      default:
        break;
    }
  }
  void end_item() {
    items_.push_back(make_text(std::string(content_.substr(begin_, at_ - 1 - begin_))));
    begin_ = at_;
  }

  const std::string_view content_;
  std::vector<Value> items_;  // owned
  size_t at_ = 0, begin_ = 0, depth_ = 0;
  bool in_string_ = false, is_escaped_ = false, is_closed_ = false;
};

}  // namespace

Value json_items(Thread&, Value* args, int) {
  return ItemSplitter(expect_text(args[0], "json.stream: the document")).parts();
}

}  // namespace spl
