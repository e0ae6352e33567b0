// Text: lengths and positions count characters of UTF-8.
#include <algorithm>
#include <array>

#include "host/syntax/utf8.h"
#include "host/values/objects.h"

namespace spl {

size_t Text::count_characters() const { return length_ = utf8_length(text_); }

constinit std::array<Object*, 128> ascii_texts{};

Value make_first_character(const std::string& text, size_t at, size_t bytes) {
  const auto code = static_cast<unsigned char>(text[at]);
  const Value made = make_text(text.substr(at, bytes));
  if (bytes == 1 && code < ascii_texts.size()) {
    ascii_texts[code] = made.as_object;
    return retained(made);
  }
  return made;
}

Value make_text_constant(const std::string& text) {
  return text.size() == 1 ? make_character(text, 0, 1) : make_text(text);
}

size_t Text::byte_of(size_t index) const {
  constexpr size_t kInterval = 64;
  if (is_ascii()) {
    return index;
  }
  if (marks_ == nullptr) {
    marks_ = std::make_unique<std::vector<size_t>>(1, 0);
  }
  std::vector<size_t>& marks = *marks_;
  size_t interval = std::min(index / kInterval, marks.size() - 1), at = marks[interval];
  for (size_t character = interval * kInterval; character < index;) {
    at += utf8_step(text_, at);
    if (++character % kInterval == 0 && ++interval == marks.size()) {
      marks.push_back(at);
    }
  }
  return at;
}

void Text::append(const std::string& more) {
  text_ += more;
  length_ = kUnknown;
}

}  // namespace spl
