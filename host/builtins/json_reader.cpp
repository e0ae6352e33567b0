// std.json.loads: RapidJSON reads the document, and its events build the values.
#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/error/error.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "host/builtins/json_externs.h"
#include "host/syntax/utf8.h"
#include "host/values/error.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

/// A fault of the document, in Python's words where Python has them.
struct JsonFault {
  std::string what;
  size_t offset = 0;  // in bytes
};

[[noreturn]] void fail_at(const std::string& document, const JsonFault& fault) {
  const std::string_view before(document.data(), std::min(fault.offset, document.size()));
  const size_t line_end = before.rfind('\n');
  const size_t line_begin = line_end == std::string_view::npos ? 0 : line_end + 1;
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  fail("json.loads: " + fault.what + ": line " + std::to_string(line) + " column " +
       std::to_string(utf8_length(before.substr(line_begin)) + 1) + " (char " +
       std::to_string(utf8_length(before)) + ")");
}

size_t offset_of(const rapidjson::InsituStringStream& stream) {
  return static_cast<size_t>(stream.src_ - stream.head_);
}

/// Shares the texts of keys that occur often, as those of an array of objects.
class KeyCache {
 public:
  ~KeyCache() {
    for (const Value key : keys_) {
      release(key);
    }
  }
  /// Owned.
  Value get(std::string_view key) {
    Value& slot = keys_[slot_of(key)];
    if (!slot.is_object() || text_of(slot) != key) {
      assign(slot, make_text(std::string(key)));
    }
    return retained(slot);
  }

 private:
  static constexpr size_t kSlots = 512;
  static size_t slot_of(std::string_view key) {
    uint64_t ends = key.size();
    if (!key.empty()) {
      const size_t width = std::min(key.size(), sizeof(uint32_t));
      uint32_t first = 0, last = 0;
      std::memcpy(&first, key.data(), width);
      std::memcpy(&last, key.data() + key.size() - width, width);
      ends += first * 0x9e3779b97f4a7c15U + last * 0xc2b2ae3d27d4eb4fU;
    }
    return (ends * 0x9e3779b97f4a7c15U) >> 55U;
  }
  std::array<Value, kSlots> keys_{};
};

/// RapidJSON's handler. Values wait on a stack until their array or dict ends.
class ValueBuilder {
 public:
  ValueBuilder(const std::string& document, const rapidjson::InsituStringStream& stream, bool allows_nan)
      : document_(document),
        stream_(stream),
        allows_nan_(allows_nan),
        may_have_surrogates_(document.find("\\ud") != std::string::npos ||
                             document.find("\\uD") != std::string::npos) {}
  ~ValueBuilder() { std::for_each(values_.begin(), values_.end(), release); }
  ValueBuilder(const ValueBuilder&) = delete;
  ValueBuilder& operator=(const ValueBuilder&) = delete;

  const JsonFault& fault() const { return fault_; }
  /// The document's value. Owned.
  Value take() {
    const Value result = values_.back();
    values_.pop_back();
    return result;
  }

  // The interface of RapidJSON's handlers. During a scalar's event, the stream is at its first character.
  bool Null() { return push(Value()); }
  bool Bool(bool b) { return push(Value::boolean(b)); }
  bool Int(int i) { return push(Value::integer(i)); }
  bool Uint(unsigned i) { return push(Value::integer(i)); }
  bool Int64(int64_t i) { return push(Value::integer(i)); }
  bool Uint64(uint64_t i) {
    return i <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
               ? push(Value::integer(static_cast<int64_t>(i)))
               : reject("integer out of range of i64, got " + std::string(number_token()));
  }
  // RapidJSON's own result is not correctly rounded.
  bool Double(double parsed_by_library) {
    const std::string_view token = number_token();
    if (token.find_first_of(".eE") == std::string_view::npos) {
      return named_number(token);
    }
    double value = 0;
    const auto read = std::from_chars(token.data(), token.data() + token.size(), value);
    // As in Python, numbers that are too small become zero.
    const bool is_read = read.ec == std::errc() || std::abs(parsed_by_library) < 1.0;
    return is_read ? push(Value::number(value)) : reject("number out of range of f64");
  }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return is_valid({text, size}) && push(make_text(std::string(text, size)));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    return is_valid({text, size}) && push(keys_.get({text, size}));
  }
  bool StartObject() { return enter(); }
  bool StartArray() { return enter(); }
  bool EndArray(rapidjson::SizeType count) {
    --depth_;
    const auto first = values_.end() - static_cast<ptrdiff_t>(count);
    std::vector<Value> items(first, values_.end());
    values_.erase(first, values_.end());
    return push(make_array(std::move(items)));
  }
  // As in Python, the last of several equal keys has the value, and the first the position.
  bool EndObject(rapidjson::SizeType count) {
    --depth_;
    auto* dict = new Dict();
    if (count > 0) {
      dict->entries.reserve(count);
      dict->rebuild(count);
    }
    const size_t first = values_.size() - 2 * size_t{count};
    for (size_t i = first; i < values_.size(); i += 2) {
      dict->set(values_[i], values_[i + 1]);
    }
    values_.resize(first);
    return push(Value::object(dict));
  }

 private:
  bool push(Value owned) {
    values_.push_back(owned);
    if ((++pushed_ & 0xfffU) == 0 && host_lock().wanted()) {
      safepoint();
    }
    return true;
  }
  bool reject(std::string what) {
    fault_ = {std::move(what), offset_of(stream_)};
    return false;
  }
  bool enter() {
    return ++depth_ <= kMaxJsonDepth ||
           reject("nested more than " + std::to_string(kMaxJsonDepth) + " levels deep");
  }
  std::string_view number_token() const {
    const std::string_view rest = std::string_view(document_).substr(offset_of(stream_));
    return rest.substr(0, rest.find_first_of(",]} \t\r\n"));
  }
  // RapidJSON accepts more spellings of NaN and infinity than Python.
  bool named_number(std::string_view token) {
    const bool is_named = token == "NaN" || token == "Infinity" || token == "-Infinity";
    if (is_named && !allows_nan_) {
      return reject("Out of range float values are not JSON compliant, got " + std::string(token));
    }
    if (is_named) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const double infinity = token.front() == '-' ? -kInfinity : kInfinity;
      return push(Value::number(token == "NaN" ? std::numeric_limits<double>::quiet_NaN() : infinity));
    }
    const bool is_integer = token.find_first_not_of("-0123456789") == std::string_view::npos;
    return reject(is_integer ? "integer out of range of i64, got " + std::string(token) : "Expecting value");
  }
  // RapidJSON checks the first half of a surrogate pair only.
  bool is_valid(std::string_view text) {
    if (!may_have_surrogates_) {
      return true;
    }
    for (size_t at = text.find('\xed'); at != std::string_view::npos; at = text.find('\xed', at + 1)) {
      if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) {
        return reject("unpaired surrogate in \\u escape");
      }
    }
    return true;
  }

  const std::string& document_;
  const rapidjson::InsituStringStream& stream_;
  const bool allows_nan_, may_have_surrogates_;
  std::vector<Value> values_;  // owned
  KeyCache keys_;
  JsonFault fault_;
  int depth_ = 0;
  uint32_t pushed_ = 0;
};

std::string described(rapidjson::ParseErrorCode code) {
  switch (code) {
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "Extra data";
    case rapidjson::kParseErrorObjectMissName:
      return "Expecting property name enclosed in double quotes";
    case rapidjson::kParseErrorObjectMissColon:
      return "Expecting ':' delimiter";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "Expecting ',' delimiter";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return "Invalid \\uXXXX escape";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "unpaired surrogate in \\u escape";
    case rapidjson::kParseErrorStringEscapeInvalid:
      return "Invalid \\escape or control character";
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "Unterminated string";
    case rapidjson::kParseErrorNumberTooBig:
      return "number out of range of f64";
    case rapidjson::kParseErrorNumberMissFraction:
    case rapidjson::kParseErrorNumberMissExponent:
      return "Expecting digits";
    default:
      return "Expecting value";
  }
}

// The start of a misspelled literal, which Python reports; RapidJSON reports its first wrong character.
size_t place_of(const std::string& document, const rapidjson::ParseResult& result) {
  size_t offset = std::min(result.Offset(), document.size());
  if (result.Code() == rapidjson::kParseErrorValueInvalid) {
    const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
    while (offset > 0 && is_part(document[offset - 1])) {
      --offset;
    }
  }
  return offset;
}

}  // namespace

Value json_loads(Thread&, Value* args, int) {
  const Ref kept = Ref::shared(args[0]);  // other threads run at safepoints
  const std::string& document = expect_text(kept.get(), "json.loads: the document");
  if (document.size() >= std::numeric_limits<rapidjson::SizeType>::max()) {
    fail("json.loads: the document must be smaller than 4 GiB, got " + std::to_string(document.size()) +
         " bytes");
  }
  constexpr size_t kPadding = 16;  // RapidJSON reads whole SSE registers
  std::string buffer;
  buffer.reserve(document.size() + kPadding);
  buffer = document;
  buffer.append(kPadding, '\0');
  rapidjson::InsituStringStream stream(buffer.data());
  ValueBuilder builder(document, stream, truthy(args[1]));
  rapidjson::Reader reader;
  // Iterative: a deep document must not overflow the small stack of a generator.
  constexpr unsigned kFlags =
      rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (result.Code() == rapidjson::kParseErrorTermination) {
    fail_at(document, builder.fault());
  }
  if (result.IsError()) {
    fail_at(document, {described(result.Code()), place_of(document, result)});
  }
  if (offset_of(stream) != document.size()) {
    fail_at(document, {"Extra data", offset_of(stream)});  // after a NUL character
  }
  return make_array({builder.take()});
}

}  // namespace spl
