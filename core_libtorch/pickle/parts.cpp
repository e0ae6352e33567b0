#include "core_libtorch/pickle/parts.h"

#include "core_libtorch/pickle/bytes.h"

namespace simple_torch::core::pickle {

const Value& part_of(const Value& value, size_t index, Kind kind, const char* what) {
  if (index >= value.items.size() || value.items[index]->kind != kind) {
    fail_broken(std::string("expected ") + what);
  }
  return *value.items[index];
}

std::vector<int64_t> integers_of(const Value& value, const char* what) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < value.items.size(); ++i) {
    numbers.push_back(part_of(value, i, Kind::kInt, what).number);
  }
  return numbers;
}

}  // namespace simple_torch::core::pickle
