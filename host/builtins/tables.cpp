#include "host/builtins/tables.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "host/syntax/utf8.h"
#include "host/vm/failure.h"

namespace spl {

namespace {

const Elements& rows_of(Value array) {
  if (!array.is(Kind::kArray)) {
    fail("rt_numbers_in: arguments must be arrays of rows, column indexes and texts, got " +
         type_name(array));
  }
  return as_object<Array>(array)->items;
}

std::unordered_set<std::string> texts_of(Value array) {
  std::unordered_set<std::string> texts;
  for (const Value item : rows_of(array)) {
    texts.insert(expect_text(item, "a missing-value marker"));
  }
  return texts;
}

Value number_or_nil(const std::string& field, const std::unordered_set<std::string>& missing) {
  if (const std::optional<double> value = parsed_number(field)) {
    return Value::number(*value);
  }
  const bool is_missing = missing.contains(stripped(field));
  return is_missing ? Value::number(std::numeric_limits<double>::quiet_NaN()) : Value();
}

/// A CSV parser. Records end with LF, CR LF or CR; an empty line is a record without fields. Quotes open at
/// the start of a field, elsewhere they are text. Inside quotes, two quotes stand for one.
class Records {
 public:
  Records(const std::string& content, const std::string& delimiter)
      : content_(content), delimiter_(delimiter), marks_(std::string("\"\r\n") + delimiter.front()) {}

  Value parts() {
    while (at_ < content_.size()) {
      take();
    }
    for (const Value field : fields_) {
      release(field);
    }
    return make_array(
        {make_array(std::move(records_)), make_text(content_.substr(begin_)), Value::boolean(is_inside_)});
  }

 private:
  void take() {
    if (content_[at_] == '"') {
      return take_quote();
    }
    was_inside_ = false;
    if (!is_inside_ && content_.compare(at_, delimiter_.size(), delimiter_) == 0) {
      at_ += delimiter_.size();
      return end_field();
    }
    if (!is_inside_ && content_[at_] == '\r' && at_ + 1 == content_.size()) {
      ++at_;  // perhaps the first half of CR LF: the record is not complete
      return;
    }
    if (!is_inside_ && (content_[at_] == '\n' || content_[at_] == '\r')) {
      return end_record();
    }
    const size_t end = std::min(content_.find_first_of(marks_, at_ + 1), content_.size());
    field_.append(content_, at_, end - at_);
    at_ = end;
  }

  void take_quote() {
    const bool is_text = !is_inside_ && !was_inside_ && !field_.empty();
    if (was_inside_ || is_text) {
      field_ += '"';
    }
    if (is_text) {
      ++at_;
      return;
    }
    was_inside_ = std::exchange(is_inside_, !is_inside_);
    ++at_;
  }

  void end_field() { fields_.push_back(make_text(std::exchange(field_, {}))); }

  void end_record() {
    if (at_ > begin_) {
      end_field();
    }
    records_.push_back(make_array(std::exchange(fields_, {})));
    at_ += content_.compare(at_, 2, "\r\n") == 0 ? 2 : 1;
    begin_ = at_;
  }

  const std::string& content_;
  const std::string& delimiter_;
  const std::string marks_;    // characters that end a run of plain text
  size_t at_ = 0, begin_ = 0;  // begin_: start of the record
  bool is_inside_ = false;     // inside quotes
  bool was_inside_ = false;    // the last character was a closing quote, or the first of two
  std::string field_;
  std::vector<Value> fields_, records_;
};

}  // namespace

Value csv_records(Thread&, Value* args, int) {
  const std::string& delimiter = expect_text(args[1], "the delimiter");
  if (delimiter.empty()) {
    fail("the delimiter must be one character");
  }
  return Records(expect_text(args[0], "the content"), delimiter).parts();
}

Value is_utf8(Thread&, Value* args, int) {
  const std::string& text = expect_text(args[0], "the content");
  for (size_t at = 0; at < text.size();) {
    const size_t step = utf8_step(text, at);
    if (step == 1 && static_cast<unsigned char>(text[at]) >= 0x80) {
      return Value::boolean(false);
    }
    at += step;
  }
  return Value::boolean(true);
}

Value text_of_latin1(Thread&, Value* args, int) {
  std::string text;
  for (const char byte : expect_text(args[0], "the content")) {
    append_utf8(text, static_cast<unsigned char>(byte));
  }
  return make_text(std::move(text));
}

Value numbers_in(Thread&, Value* args, int) {
  const auto& rows = rows_of(args[0]);
  const auto& columns = rows_of(args[1]);
  const auto missing = texts_of(args[2]);
  std::vector<Value> numbers;
  numbers.reserve(rows.size() * columns.size());
  for (const Value row : rows) {
    const auto& fields = rows_of(row);
    for (const Value column : columns) {
      const Value field = fields[checked_index(column, fields.size(), "row")];
      numbers.push_back(number_or_nil(expect_text(field, "a field"), missing));
    }
  }
  return make_array(std::move(numbers));
}

}  // namespace spl
