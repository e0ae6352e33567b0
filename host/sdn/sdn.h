// SDN, Simple's data notation, as far as configuration files use it: keys and values, and named tables.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace spl::sdn {

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Document {
  std::map<std::string, std::string> values;  // nested keys are joined by dots
  std::map<std::string, Table> tables;
  std::string error;  // "LINE: error: …"; empty when all was understood

  const Table* table(const std::string& name) const {
    const auto found = tables.find(name);
    return found == tables.end() ? nullptr : &found->second;
  }
};

Document parse(const std::string& text);

}  // namespace spl::sdn
