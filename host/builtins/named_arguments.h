// The named arguments of a call of a built-in function.
#pragma once

#include <initializer_list>
#include <string_view>

#include "host/values/objects.h"

namespace spl {

class NamedArguments {
 public:
  /// Fails if `dict`, the named arguments of a call of `function`, has a name that is not among `known`.
  NamedArguments(const char* function, Value dict, std::initializer_list<std::string_view> known);

  /// The argument, borrowed; nil if it was not passed.
  Value get(std::string_view name) const;
  bool has(std::string_view name) const;  // also if it is nil
  bool is_true(std::string_view name) const { return truthy(get(name)); }

 private:
  std::vector<Dict::Entry>::const_iterator find(std::string_view name) const;

  const Dict& dict_;
};

}  // namespace spl
