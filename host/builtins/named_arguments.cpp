#include "host/builtins/named_arguments.h"

#include <algorithm>
#include <string>

#include "host/values/error.h"
#include "host/values/spelling_suggester.h"

namespace spl {

NamedArguments::NamedArguments(const char* function, Value dict,
                               std::initializer_list<std::string_view> known)
    : dict_(*as_object<Dict>(dict)) {
  for (const auto& entry : dict_.entries) {
    const std::string name = display(entry.key);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    SpellingSuggester nearest(name);
    for (const std::string_view other : known) {
      nearest.offer(std::string(other));
    }
    fail(std::string(function) + "(): there is no parameter " + name, nearest.hint());
  }
}

Value NamedArguments::get(std::string_view name) const {
  const auto entry = find(name);
  return entry == dict_.entries.end() ? Value() : entry->value;
}

bool NamedArguments::has(std::string_view name) const { return find(name) != dict_.entries.end(); }

std::vector<Dict::Entry>::const_iterator NamedArguments::find(std::string_view name) const {
  return std::find_if(dict_.entries.begin(), dict_.entries.end(), [&](const auto& entry) {
    return entry.key.is(Kind::kText) && text_of(entry.key) == name;
  });
}

}  // namespace spl
