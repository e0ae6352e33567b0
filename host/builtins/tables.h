// CSV records, and the numbers in them.
#pragma once

#include "host/builtins/builtins.h"

namespace spl {

/// rt_csv_records(content: text, delimiter: text) -> [[[text]], text, bool]: the complete records by RFC
/// 4180, with LF or CR LF as line ends; the text after the last complete record; whether it ends inside
/// quotes.
Value csv_records(Thread& thread, Value* args, int count);

/// rt_is_utf8(content: text) -> bool; rt_text_of_latin1(content: text) -> text: each byte as a character.
Value is_utf8(Thread& thread, Value* args, int count);
Value text_of_latin1(Thread& thread, Value* args, int count);

/// rt_numbers_in(rows: [[text]], columns: [i64], missing: [text]) -> [f64?]: the fields in these columns of
/// each row, row by row, as numbers. A field in `missing`, ignoring surrounding white space, becomes NaN; a
/// field that is not a number becomes nil. Fails if a row has no such column.
Value numbers_in(Thread& thread, Value* args, int count);

}  // namespace spl
