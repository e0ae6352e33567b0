// Finds a built-in method by the receiver's type.
#include "methods.h"

#include <unordered_map>

#include "builtins.h"

namespace spl {
namespace {

using Index = std::unordered_map<Symbol, const Native*>;

/// Natives count the receiver among their arguments; like all natives they live for ever.
Index index_of_tables(std::initializer_list<const MethodTable*> tables) {
  Index index;
  for (const MethodTable* table : tables) {
    for (const BuiltinMethod& m : *table) {
      index.emplace(intern(m.name), new Native(m.name, m.fn, m.least + 1, m.most < 0 ? -1 : m.most + 1));
    }
  }
  return index;
}

/// The methods of a `T?` that holds the plain value, or nil.
const Index& optional_index() {
  static const Index index = index_of_tables({&option_methods()});
  return index;
}

const Index& index_for(Kind kind) {
  static const Index text = index_of_tables({&text_methods()});
  static const Index array = index_of_tables({&array_methods(), &sequence_methods()});
  static const Index tuple = index_of_tables({&sequence_methods()});
  static const Index dict = index_of_tables({&dict_methods()});
  static const Index range = index_of_tables({&range_methods(), &sequence_methods()});
  switch (kind) {
    case Kind::kText: return text;
    case Kind::kArray: return array;
    case Kind::kTuple: return tuple;
    case Kind::kDict: return dict;
    case Kind::kRange: return range;
    default: return optional_index();
  }
}

const Index& index_for(Value self) {
  static const Index number = index_of_tables({&number_methods()});
  static const Index result = index_of_tables({&result_methods()});
  if (self.is_number() || self.is_bool()) return number;
  if (!self.is_object()) return optional_index();
  const bool is_result = self.is(Kind::kEnumValue) && as_object<EnumValue>(self)->type == core_types().result;
  return is_result ? result : index_for(self.as_object->kind);
}

const Native* look_up(const Index& index, Symbol name) {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace

const Native* builtin_method(Kind kind, Symbol name) { return look_up(index_for(kind), name); }

const Native* builtin_method_of(Value self, Symbol name) {
  const Index& own = index_for(self);
  const Native* method = look_up(own, name);
  return method != nullptr ? method : look_up(optional_index(), name);
}

std::vector<std::string> builtin_method_names(Value self) {
  std::vector<std::string> names;
  for (const auto& [symbol, method] : index_for(self)) names.emplace_back(method->name);
  return names;
}

const std::string& text_argument(Value v, const char* method) {
  if (!v.is(Kind::kText)) fail(std::string(method) + " needs text, got " + type_name(v));
  return text_of(v);
}

int64_t int_argument(Value v, const char* method) {
  if (!v.is_int()) fail(std::string(method) + " needs an integer, got " + type_name(v));
  return v.as_int;
}

std::vector<Ref> elements_of(Thread& thread, Value iterable) {
  std::vector<Ref> elements;
  thread.each(iterable, [&](Value element) {
    elements.push_back(Ref::shared(element));
    return true;
  });
  return elements;
}

Value array_of(std::vector<Ref> elements) {
  std::vector<Value> items;
  items.reserve(elements.size());
  for (Ref& element : elements) items.push_back(element.take());
  return make_array(std::move(items));
}

}  // namespace spl
