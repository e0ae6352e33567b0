// What Simple has without an import: functions, and the methods of the built-in kinds.
#pragma once

#include <optional>
#include <string>

#include "host/syntax/ast.h"
#include "host/values/objects.h"

namespace spl {

/// Fills builtins() once, before any module is compiled.
void install_builtins();

/// A row of a table of natives.
struct NativeEntry {
  const char* name;
  NativeFn fn;
  int least, most;  // a method's receiver counts
};
class SpellingSuggester;
/// The names of the built-in methods that a value has.
void offer_builtin_methods(Value self, SpellingSuggester& nearest);
void add_methods(Kind kind, const NativeEntry* entries, size_t count);
void install_text_methods();
void install_collection_methods();
void install_value_methods();
void install_generators();
void install_iterators();

/// Natives that `extern fn` finds in the host itself; null where there is none.
const Native* host_extern(const std::string& name);

/// `value as type`, by the type's code in the bytecode; owned.
Value cast_value(Value v, int code);
int64_t to_integer(Value v);  // of a number, bool or text; fails for others
double to_number(Value v);
/// The number that the whole text is, but for blanks round it.
std::optional<double> parsed_number(const std::string& field);
/// The text without the blanks round it.
std::string without_blanks(const std::string& field);
const std::string& expect_text(Value v, const char* what);
bool is_of_type(Value v, const Type* type);
Value make_iterator(Value source);  // owned
size_t checked_index(Value index, size_t size, const char* what);

/// The hook of `a op= b`; none for operators without one.
Symbol inplace_hook(BinaryOp op);
/// The operator whose hook on the left operand has this name; null for other names.
const BinaryOp* operator_of_hook(Symbol method);

}  // namespace spl
