#include "host/vm/natives.h"

#include <string_view>
#include <unordered_map>

#include "host/values/module.h"
#include "host/values/sized.h"
#include "host/values/spelling_suggester.h"

namespace spl {

namespace {

using Table = std::unordered_map<Symbol, const Native*>;

Table& methods_of(Kind kind) {
  static Table tables[kKindCount];
  return tables[static_cast<size_t>(kind)];
}

Table& number_methods() {
  static Table table;
  return table;
}

Table& option_methods() {
  static Table table;
  return table;
}

struct TypeMembers {
  Kind kind;
  Table functions;
};
std::unordered_map<std::string_view, TypeMembers>& members_of_types() {
  static std::unordered_map<std::string_view, TypeMembers> members;
  return members;
}

std::unordered_map<std::string, const Native*>& host_externs() {
  static std::unordered_map<std::string, const Native*> table;
  return table;
}

Native* make_native(const NativeEntry& entry) {
  auto* native = new Native(entry.name, entry.fn, entry.min_arguments, entry.max_arguments);
  native->with_names = entry.with_names;
  return native;
}

void add_to(Table& table, std::span<const NativeEntry> entries) {
  for (const NativeEntry& entry : entries) {
    Native* method = make_native(entry);
    method->is_method = true;
    table[intern(entry.name)] = method;
  }
}

const Native* find_in(const Table& table, Symbol name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

void offer_all(const Table& table, SpellingSuggester& suggester) {
  for (const auto& [name, method] : table) {
    suggester.offer(name_of(name));
  }
}

}  // namespace

void add_methods(Kind kind, std::span<const NativeEntry> entries) { add_to(methods_of(kind), entries); }
void add_number_methods(std::span<const NativeEntry> entries) { add_to(number_methods(), entries); }
void add_option_methods(std::span<const NativeEntry> entries) { add_to(option_methods(), entries); }

const Native* builtin_method_of(Value self, Symbol name) {
  const Native* native = nullptr;
  if (self.is_object()) {
    native = find_in(methods_of(self.as_object->kind), name);
  } else if (is_any_number(self) || self.is_bool()) {
    native = find_in(number_methods(), name);
  }
  if (self.is(Kind::kGenerator) || self.is(Kind::kIterator)) {
    return native;
  }
  // A `T?` may hold a plain value instead of an Option.
  return native != nullptr ? native : find_in(option_methods(), name);
}

void offer_builtin_methods(Value self, SpellingSuggester& suggester) {
  if (self.is_object()) {
    offer_all(methods_of(self.as_object->kind), suggester);
  } else if (self.is_number() || self.is_bool()) {
    offer_all(number_methods(), suggester);
  }
  const bool is_option =
      self.is(Kind::kEnumValue) && (as_object<EnumValue>(self)->type == core_types().option ||
                                    as_object<EnumValue>(self)->type == core_types().result);
  if (is_option) {
    offer_all(option_methods(), suggester);
  }
}

void add_functions(std::span<const NativeEntry> entries) {
  for (const NativeEntry& entry : entries) {
    builtins()[intern(entry.name)] = Value::object(make_native(entry));
  }
}

void add_functions_of_type(const char* function, Kind kind, std::span<const NativeEntry> entries) {
  TypeMembers& members = members_of_types()[function];
  members.kind = kind;
  for (const NativeEntry& entry : entries) {
    members.functions[intern(entry.name)] = make_native(entry);
  }
}

const Native* member_of_function(const Native& function, Symbol name) {
  const auto found = members_of_types().find(function.name);
  if (function.is_method || found == members_of_types().end()) {
    return nullptr;
  }
  const Native* own = find_in(found->second.functions, name);
  return own != nullptr ? own : find_in(methods_of(found->second.kind), name);
}

void add_host_externs(std::span<const NativeEntry> entries) {
  for (const NativeEntry& entry : entries) {
    host_externs()[entry.name] = make_native(entry);
  }
}

const Native* host_extern(const std::string& name) {
  const auto found = host_externs().find(name);
  return found == host_externs().end() ? nullptr : found->second;
}

}  // namespace spl
