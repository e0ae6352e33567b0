#include "host/builtins/tokenizer_externs.h"

#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host/interrupts/interrupts.h"
#include "host/tokenizers/error.h"
#include "host/tokenizers/tokenizer.h"
#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

using tokenizers::Encoding;
using tokenizers::ErrorKind;
using tokenizers::Settings;
using tokenizers::Tokenizer;

struct OpenTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  Settings settings;
};
struct OpenEncoding {
  std::shared_ptr<const Tokenizer> tokenizer;  // has the strings of the tokens
  Encoding encoding;
};

/// Objects by number. The host lock guards them.
struct Registry {
  std::unordered_map<int64_t, OpenTokenizer> tokenizers;
  std::unordered_map<int64_t, OpenEncoding> encodings;
  int64_t last = 0;
};

Registry& registry() {
  static auto* const all = new Registry;  // never freed: threads that outlive main use it
  return *all;
}

template <class Map>
auto& find_open(Map& map, Value number) {
  const auto found = number.is_int() ? map.find(number.as_int) : map.end();
  if (found == map.end()) {
    fail("text.tokenizers: unknown number " + display(number));
  }
  return found->second;
}
OpenTokenizer& open_tokenizer(Value number) { return find_open(registry().tokenizers, number); }

const char* name_of_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "InvalidArgument";
    case ErrorKind::kNotImplemented:
      return "NotImplemented";
    case ErrorKind::kIo:
      return "Io";
  }
  return "";
}

/// `work` returns an owned value.
template <class Work>
Value answer(const Work& work) {
  try {
    return make_array({Value(), work()});
  } catch (const tokenizers::Error& error) {
    return make_array({make_text(name_of_kind(error.kind())), make_text(error.what())});
  }
}

[[noreturn]] void reject(const std::string& message) {
  throw tokenizers::Error(ErrorKind::kInvalidArgument, message);
}

const Elements& items_of(Value array) {
  if (!array.is(Kind::kArray)) {
    reject("expected an array, got " + type_name(array));
  }
  return as_object<Array>(array)->items;
}

tokenizers::Sequence sequence_of(Value value) {
  tokenizers::Sequence out;
  if (value.is(Kind::kText)) {
    out.parts.push_back(text_of(value));
    return out;
  }
  out.is_words = true;
  if (!value.is(Kind::kArray)) {
    reject("expected a string, or an array of words, got " + type_name(value));
  }
  for (const Value word : items_of(value)) {
    if (!word.is(Kind::kText)) {
      reject("expected a word, got " + type_name(word));
    }
    out.parts.push_back(text_of(word));
  }
  return out;
}

tokenizers::Input input_of(Value pair) {
  const Elements& both = items_of(pair);
  tokenizers::Input out{sequence_of(both.at(0)), std::nullopt};
  if (!both.at(1).is_nil()) {
    out.second = sequence_of(both.at(1));
  }
  return out;
}

int64_t count_of(Value value, const char* name) {
  if (!value.is_int() || value.as_int < 0 || value.as_int > std::numeric_limits<uint32_t>::max()) {
    reject(std::string(name) + " must be a non-negative integer of 32 bits, got " + display(value));
  }
  return value.as_int;
}

template <class Enum>
Enum choice_of(Value value, const char* name, std::initializer_list<const char*> choices) {
  const std::string got = display(value);
  std::string known;
  int index = 0;
  for (const char* const choice : choices) {
    if (got == choice) {
      return static_cast<Enum>(index);
    }
    known += (index++ == 0 ? "'" : ", '") + std::string(choice) + "'";
  }
  reject(std::string(name) + " must be one of " + known + ", got '" + got + "'");
}

tokenizers::Direction direction_of(Value value) {
  return choice_of<tokenizers::Direction>(value, "direction", {"left", "right"});
}

int64_t added(OpenEncoding encoding) {
  const int64_t number = ++registry().last;
  registry().encodings.emplace(number, std::move(encoding));
  return number;
}

template <class Numbers>
Value integers(const Numbers& numbers) {
  std::vector<Value> items;
  items.reserve(numbers.size());
  for (const auto number : numbers) {
    items.push_back(Value::integer(static_cast<int64_t>(number)));
  }
  return make_array(std::move(items));
}

/// -1 is nil.
Value optional_integers(const std::vector<int64_t>& numbers) {
  std::vector<Value> items;
  items.reserve(numbers.size());
  for (const int64_t number : numbers) {
    items.push_back(number < 0 ? Value() : Value::integer(number));
  }
  return make_array(std::move(items));
}

Value texts(const std::vector<const std::string*>& strings) {
  std::vector<Value> items;
  items.reserve(strings.size());
  for (const std::string* text : strings) {
    items.push_back(make_text(*text));
  }
  return make_array(std::move(items));
}

Value spans(const std::vector<tokenizers::Span>& offsets) {
  std::vector<Value> items;
  items.reserve(offsets.size());
  for (const tokenizers::Span& offset : offsets) {
    items.push_back(make_tuple({Value::integer(offset.begin), Value::integer(offset.end)}));
  }
  return make_array(std::move(items));
}

Value overflow(const OpenEncoding& from) {
  std::vector<int64_t> numbers;
  for (const Encoding& encoding : from.encoding.overflowing) {
    numbers.push_back(added({from.tokenizer, encoding}));
  }
  return integers(numbers);
}

Value field_of(const OpenEncoding& open, const std::string& name) {
  const Encoding& encoding = open.encoding;
  if (name == "ids") {
    return integers(encoding.ids);
  }
  if (name == "type_ids") {
    return integers(encoding.type_ids);
  }
  if (name == "tokens") {
    return texts(encoding.tokens);
  }
  if (name == "offsets") {
    return spans(encoding.offsets);
  }
  if (name == "attention_mask") {
    return integers(encoding.attention_mask);
  }
  if (name == "special_tokens_mask") {
    return integers(encoding.special_tokens_mask);
  }
  if (name == "word_ids") {
    return optional_integers(encoding.words);
  }
  if (name == "sequence_ids") {
    return optional_integers(encoding.sequence_ids());
  }
  if (name == "length") {
    return Value::integer(static_cast<int64_t>(encoding.size()));
  }
  return overflow(open);
}

Value tokenizer_read(Thread&, Value* args, int) {
  return answer([&] {
    const int64_t number = registry().last + 1;
    auto tokenizer = Tokenizer::parse(expect_text(args[0], "the document"));
    const Settings settings = tokenizer->initial_settings();
    registry().tokenizers.emplace(number, OpenTokenizer{std::move(tokenizer), settings});
    registry().last = number;
    return Value::integer(number);
  });
}

Value tokenizer_free(Thread&, Value* args, int) {
  registry().tokenizers.erase(args[0].as_int);
  return Value();
}

Value encoding_free(Thread&, Value* args, int) {
  registry().encodings.erase(args[0].as_int);
  return Value();
}

Value tokenizer_encode(Thread&, Value* args, int) {
  const OpenTokenizer open = open_tokenizer(args[0]);
  return answer([&] {
    std::vector<tokenizers::Input> inputs;
    for (const Value pair : items_of(args[1])) {
      inputs.push_back(input_of(pair));
    }
    const bool adds_special_tokens = truthy(args[2]);
    std::optional<std::vector<Encoding>> encodings;
    for (bool (*is_stopped)() = is_interrupt_requested; !encodings.has_value(); is_stopped = nullptr) {
      {
        const Unlocked unlocked;
        encodings = open.tokenizer->encode_batch(inputs, adds_special_tokens, open.settings, is_stopped);
      }
      if (host_lock().wanted()) {
        safepoint();  // returns if the interrupt belongs to another thread
      }
    }
    std::vector<int64_t> numbers;
    numbers.reserve(encodings->size());
    for (Encoding& encoding : *encodings) {
      numbers.push_back(added({open.tokenizer, std::move(encoding)}));
    }
    return integers(numbers);
  });
}

Value encoding_field(Thread&, Value* args, int) {
  return field_of(find_open(registry().encodings, args[0]), expect_text(args[1], "the field"));
}

Value tokenizer_decode(Thread&, Value* args, int) {
  const OpenTokenizer& open = open_tokenizer(args[0]);
  return answer([&] {
    std::vector<uint32_t> ids;
    for (const Value id : items_of(args[1])) {
      ids.push_back(static_cast<uint32_t>(count_of(id, "a token's number")));
    }
    return make_text(open.tokenizer->decode(ids, truthy(args[2])));
  });
}

Value tokenizer_token_to_id(Thread&, Value* args, int) {
  const auto id = open_tokenizer(args[0]).tokenizer->token_to_id(expect_text(args[1], "the token"));
  return make_array({id ? Value::integer(*id) : Value()});
}

Value tokenizer_id_to_token(Thread&, Value* args, int) {
  const OpenTokenizer& open = open_tokenizer(args[0]);
  return answer([&] {
    const auto id = static_cast<uint32_t>(count_of(args[1], "a token's number"));
    const std::string* const token = open.tokenizer->id_to_token(id);
    return token == nullptr ? Value() : make_text(*token);
  });
}

Value tokenizer_vocabulary(Thread&, Value* args, int) {
  const Tokenizer& tokenizer = *open_tokenizer(args[0]).tokenizer;
  auto* dict = new Dict();
  for (const auto& token : tokenizer.model().vocabulary().tokens()) {
    dict->set(make_text(token.text), Value::integer(token.id));
  }
  if (truthy(args[1])) {
    for (const auto& token : tokenizer.added_tokens().tokens()) {
      dict->set(make_text(token.content), Value::integer(token.id));
    }
  }
  return make_array({Value::object(dict)});
}

Value tokenizer_vocabulary_size(Thread&, Value* args, int) {
  const size_t size = open_tokenizer(args[0]).tokenizer->vocabulary_size(truthy(args[1]));
  return Value::integer(static_cast<int64_t>(size));
}

Value tokenizer_added(Thread&, Value* args, int) {
  const size_t count = open_tokenizer(args[0]).tokenizer->special_tokens_to_add(truthy(args[1]));
  return Value::integer(static_cast<int64_t>(count));
}

Value tokenizer_set_truncation(Thread&, Value* args, int) {
  OpenTokenizer& open = open_tokenizer(args[0]);
  return answer([&] {
    const Elements& options = items_of(args[1]);
    if (options.empty()) {
      open.settings.truncation.reset();
      return Value();
    }
    tokenizers::Truncation truncation;
    truncation.max_length = static_cast<size_t>(count_of(options.at(0), "max_length"));
    truncation.stride = static_cast<size_t>(count_of(options.at(1), "stride"));
    truncation.strategy = choice_of<tokenizers::TruncationStrategy>(
        options.at(2), "strategy", {"longest_first", "only_first", "only_second"});
    truncation.direction = direction_of(options.at(3));
    open.tokenizer->check(truncation);
    open.settings.truncation = truncation;
    return Value();
  });
}

Value tokenizer_set_padding(Thread&, Value* args, int) {
  OpenTokenizer& open = open_tokenizer(args[0]);
  return answer([&] {
    const Elements& options = items_of(args[1]);
    if (options.empty()) {
      open.settings.padding.reset();
      return Value();
    }
    tokenizers::Padding padding;
    padding.direction = direction_of(options.at(0));
    padding.pad_id = static_cast<uint32_t>(count_of(options.at(1), "pad_id"));
    padding.pad_type_id = static_cast<uint32_t>(count_of(options.at(2), "pad_type_id"));
    padding.pad_token = expect_text(options.at(3), "pad_token");
    padding.is_fixed = !options.at(4).is_nil();
    padding.length = padding.is_fixed ? static_cast<size_t>(count_of(options.at(4), "length")) : 0;
    padding.multiple =
        options.at(5).is_nil() ? 0 : static_cast<size_t>(count_of(options.at(5), "pad_to_multiple_of"));
    open.settings.padding = padding;
    return Value();
  });
}

Value tokenizer_set_encode_special_tokens(Thread&, Value* args, int) {
  open_tokenizer(args[0]).settings.encodes_special_tokens = truthy(args[1]);
  return Value();
}

constexpr NativeEntry kTokenizerExterns[] = {
    {"rt_tokenizer_read", tokenizer_read, 1, 1},
    {"rt_tokenizer_free", tokenizer_free, 1, 1},
    {"rt_tokenizer_encode", tokenizer_encode, 3, 3},
    {"rt_tokenizer_decode", tokenizer_decode, 3, 3},
    {"rt_tokenizer_token_to_id", tokenizer_token_to_id, 2, 2},
    {"rt_tokenizer_id_to_token", tokenizer_id_to_token, 2, 2},
    {"rt_tokenizer_vocabulary", tokenizer_vocabulary, 2, 2},
    {"rt_tokenizer_vocabulary_size", tokenizer_vocabulary_size, 2, 2},
    {"rt_tokenizer_special_tokens_to_add", tokenizer_added, 2, 2},
    {"rt_tokenizer_set_truncation", tokenizer_set_truncation, 2, 2},
    {"rt_tokenizer_set_padding", tokenizer_set_padding, 2, 2},
    {"rt_tokenizer_set_encode_special_tokens", tokenizer_set_encode_special_tokens, 2, 2},
    {"rt_tokenizer_encoding_field", encoding_field, 2, 2},
    {"rt_tokenizer_encoding_free", encoding_free, 1, 1},
};

}  // namespace

std::span<const NativeEntry> tokenizer_externs() { return kTokenizerExterns; }

}  // namespace spl
