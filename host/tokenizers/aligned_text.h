// Text that remembers which bytes of the input each of its bytes stands for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/tokenizers/characters.h"

namespace spl::tokenizers {

/// Bytes of the input.
struct Span {
  uint32_t begin = 0, end = 0;
};

/// A part of the input while normalizers change it: characters with their origin.
class AlignedText {
 public:
  AlignedText() = default;
  /// A part of the input that begins at byte `begin`.
  AlignedText(std::string_view part, uint32_t begin);

  const std::u32string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  uint32_t begin() const { return begin_; }

  /// Replaces the text. An inserted character has the origin of the old character before it.
  void change(const std::vector<Change>& changes);
  void keep_if(const std::function<bool(char32_t)>& is_kept);
  void lowercase();
  /// Inserts the text before the first character; nothing if there is none.
  void prepend(const std::u32string& prefix);
  void strip(bool left, bool right);
  /// Replaces the characters [from, to) by others, which get the origin of the last of them.
  struct Replacement {
    size_t from, to;
  };
  void replace(const std::vector<Replacement>& places, const std::u32string& content);
  template <class Map>
  void map(const Map& f) {
    for (char32_t& c : text_) {
      c = f(c);
    }
  }

 private:
  friend class Buffer;
  std::u32string text_;
  std::vector<Span> origins_;  // of each character
  uint32_t begin_ = 0;
};

/// A finished text in UTF-8. Pre-tokenizers cut it into pieces.
class Buffer {
 public:
  /// Text that is a part of the input itself, or has one byte for each byte of it.
  Buffer(std::string text, uint32_t begin) : text_(std::move(text)), begin_(begin) {}
  explicit Buffer(const AlignedText& text);

  std::string_view text() const { return text_; }
  /// The bytes of the input for the bytes [from, to) of this text, which are not empty.
  Span origin(size_t from, size_t to) const;
  /// A part as text to change further.
  AlignedText part(size_t from, size_t to) const;

 private:
  std::string text_;
  std::vector<Span> origins_;  // of each byte; empty if byte i stands for byte begin_ + i
  uint32_t begin_;
};

std::u32string to_characters(std::string_view text);
std::string to_utf8(const std::u32string& text);

}  // namespace spl::tokenizers
