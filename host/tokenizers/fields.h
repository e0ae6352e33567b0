// The fields of a JSON object of tokenizer.json. What no reader asks for is rejected.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "host/tokenizers/error.h"

namespace spl::tokenizers {

using Json = rapidjson::Value;

/// The file does not have the form of a tokenizer.json.
[[noreturn]] void fail_broken(const std::string& place, const std::string& what);
/// The file asks for something that this library does not do.
[[noreturn]] void fail_unsupported(const std::string& place, const std::string& what);

/// The place of an item of an object, such as model.vocab['a'].
std::string item_place(const std::string& place, const std::string& name);

std::string_view text_of(const Json& value);
/// A value in a message: a string in quotes, a number, or the kind.
std::string described(const Json& value);

class Fields {
 public:
  /// `place` is the path of the object in the file, such as "model".
  Fields(const Json& object, std::string place);

  const std::string& place() const { return place_; }
  std::string place_of(std::string_view name) const { return place_ + "." + std::string(name); }

  /// Null if the field is absent or null.
  const Json* find(const char* name);
  const Json& at(const char* name);
  std::string text(const char* name);
  bool flag(const char* name);
  uint64_t count(const char* name, uint64_t most = std::numeric_limits<uint32_t>::max());
  const Json& array(const char* name);
  const Json& object(const char* name);
  /// Defaults for fields that are absent or null.
  std::string text_or(const char* name, const std::string& otherwise);
  bool flag_or(const char* name, bool otherwise);
  /// The position of the string among the choices.
  size_t choice(const char* name, std::initializer_list<std::string_view> choices);
  /// The only character of a string.
  char32_t character(const char* name);

  /// Rejects the fields that were not read.
  void finish() const;

 private:
  [[noreturn]] void fail_kind(const char* name, const char* expected, const Json& found) const;
  const Json& object_;
  std::string place_;
  std::vector<std::string_view> read_;
};

/// A token and its number, as ["[CLS]", 101].
struct NumberedToken {
  std::string token;
  uint32_t id = 0;
};
NumberedToken numbered_token(const Json& value, const std::string& place);
uint32_t id_of(const Json& value, const std::string& place);

}  // namespace spl::tokenizers
