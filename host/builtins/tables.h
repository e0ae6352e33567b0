// Tables of text: their records, and their numbers, many at a time.
#pragma once

#include "host/builtins/builtins.h"

namespace spl {

/// rt_csv_records(content: text, delimiter: text) -> [[[text]], text, bool]: the records as RFC 4180 has
/// them, whose ends are LF or CR LF; what stands behind the last one's end; whether that ends between quotes.
Value csv_records(Thread& thread, Value* args, int count);

/// rt_numbers_in(rows: [[text]], places: [i64], missing: [text]) -> [f64?]: the fields at these places of
/// each row, row by row, as numbers; NaN for what is among `missing`, but for blanks round it, and nil for
/// what is no number. Fails where a row has no such place.
Value numbers_in(Thread& thread, Value* args, int count);

}  // namespace spl
