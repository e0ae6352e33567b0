#include "host/tokenizers/fields.h"

#include <algorithm>
#include <array>

#include "host/tokenizers/characters.h"

namespace spl::tokenizers {

void fail_broken(const std::string& place, const std::string& what) {
  throw Error(ErrorKind::kIo, place + ": " + what);
}

void fail_unsupported(const std::string& place, const std::string& what) {
  throw Error(ErrorKind::kNotImplemented, place + ": " + what);
}

std::string item_place(const std::string& place, const std::string& name) {
  std::string out = place;
  return out.append("['").append(name).append("']");
}

std::string_view text_of(const Json& value) { return {value.GetString(), value.GetStringLength()}; }

std::string described(const Json& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return "null";
    case rapidjson::kFalseType:
      return "false";
    case rapidjson::kTrueType:
      return "true";
    case rapidjson::kObjectType:
      return "an object";
    case rapidjson::kArrayType:
      return "an array";
    case rapidjson::kStringType:
      return "'" + std::string(text_of(value)) + "'";
    case rapidjson::kNumberType:
      break;
  }
  return value.IsInt64() ? std::to_string(value.GetInt64()) : "a number";
}

Fields::Fields(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
  if (!object.IsObject()) {
    fail_broken(place_, "expected an object, got " + described(object));
  }
  std::vector<std::string_view> names;
  for (const auto& member : object.GetObject()) {
    names.push_back(text_of(member.name));
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    fail_broken(place_, "duplicate field '" + std::string(*twice) + "'");
  }
}

const Json* Fields::find(const char* name) {
  read_.emplace_back(name);
  const auto found = object_.FindMember(name);
  return found == object_.MemberEnd() || found->value.IsNull() ? nullptr : &found->value;
}

const Json& Fields::at(const char* name) {
  const Json* found = find(name);
  if (found == nullptr) {
    fail_broken(place_, "missing field '" + std::string(name) + "'");
  }
  return *found;
}

std::string Fields::text(const char* name) {
  const Json& value = at(name);
  if (!value.IsString()) {
    fail_kind(name, "a string", value);
  }
  return std::string(text_of(value));
}

bool Fields::flag(const char* name) {
  const Json& value = at(name);
  if (!value.IsBool()) {
    fail_kind(name, "true or false", value);
  }
  return value.GetBool();
}

uint64_t Fields::count(const char* name, uint64_t most) {
  const Json& value = at(name);
  if (!value.IsUint64() || value.GetUint64() > most) {
    fail_kind(name, "a non-negative integer of 32 bits", value);
  }
  return value.GetUint64();
}

const Json& Fields::array(const char* name) {
  const Json& value = at(name);
  if (!value.IsArray()) {
    fail_kind(name, "an array", value);
  }
  return value;
}

const Json& Fields::object(const char* name) {
  const Json& value = at(name);
  if (!value.IsObject()) {
    fail_kind(name, "an object", value);
  }
  return value;
}

std::string Fields::text_or(const char* name, const std::string& otherwise) {
  return find(name) == nullptr ? otherwise : text(name);
}

bool Fields::flag_or(const char* name, bool otherwise) {
  return find(name) == nullptr ? otherwise : flag(name);
}

size_t Fields::choice(const char* name, std::initializer_list<std::string_view> choices) {
  const std::string got = text(name);
  const auto found = std::find(choices.begin(), choices.end(), got);
  if (found == choices.end()) {
    std::string known;
    for (const std::string_view choice : choices) {
      known += (known.empty() ? "" : ", ") + std::string(choice);
    }
    fail_broken(place_of(name), "must be one of " + known + ", got '" + got + "'");
  }
  return static_cast<size_t>(found - choices.begin());
}

char32_t Fields::character(const char* name) {
  const std::string got = text(name);
  size_t at = 0;
  const char32_t character = got.empty() ? 0 : next_character(got, at);
  if (got.empty() || at != got.size()) {
    fail_broken(place_of(name), "expected one character, got '" + got + "'");
  }
  return character;
}

void Fields::finish() const {
  for (const auto& member : object_.GetObject()) {
    const std::string_view name = text_of(member.name);
    if (std::find(read_.begin(), read_.end(), name) == read_.end()) {
      fail_unsupported(place_, "field '" + std::string(name) + "' is not supported");
    }
  }
}

void Fields::fail_kind(const char* name, const char* expected, const Json& found) const {
  fail_broken(place_of(name), "expected " + std::string(expected) + ", got " + described(found));
}

uint32_t id_of(const Json& value, const std::string& place) {
  if (!value.IsUint()) {
    fail_broken(place,
                "the number of a token must be a non-negative integer of 32 bits, got " + described(value));
  }
  return value.GetUint();
}

NumberedToken numbered_token(const Json& value, const std::string& place) {
  if (!value.IsArray() || value.Size() != 2 || !value[0].IsString()) {
    fail_broken(place, "expected a token and its number, got " + described(value));
  }
  return {std::string(text_of(value[0])), id_of(value[1], place)};
}

}  // namespace spl::tokenizers
