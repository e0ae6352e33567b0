// Text: lengths and positions count characters of UTF-8.
#include <algorithm>

#include "host/syntax/utf8.h"
#include "host/values/objects.h"

namespace spl {

size_t Text::length() const {
  if (length_ == kUnknown) {
    length_ = utf8_length(text_);
  }
  return length_;
}

size_t Text::byte_of(size_t index) const {
  constexpr size_t kInterval = 64;
  if (is_ascii()) {
    return index;
  }
  if (marks_.empty()) {
    marks_.push_back(0);
  }
  size_t interval = std::min(index / kInterval, marks_.size() - 1), at = marks_[interval];
  for (size_t character = interval * kInterval; character < index;) {
    at += utf8_step(text_, at);
    if (++character % kInterval == 0 && ++interval == marks_.size()) {
      marks_.push_back(at);
    }
  }
  return at;
}

void Text::append(const std::string& more) {
  text_ += more;
  length_ = kUnknown;
}

}  // namespace spl
