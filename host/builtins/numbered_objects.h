// Native objects that programs know by a number: open files, patterns, digests, connections.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "host/values/conversions.h"
#include "host/values/error.h"

namespace spl {

template <class T>
class NumberedObjects {
 public:
  /// Never freed: threads that outlive main use it.
  static NumberedObjects& all() {
    static auto* const objects = new NumberedObjects;
    return *objects;
  }
  Value insert(std::shared_ptr<T> object) {
    by_number_[++last_] = std::move(object);
    return Value::integer(last_);
  }
  /// Shared, because another thread may remove it meanwhile. Fails with `message` for another number.
  std::shared_ptr<T> get(Value number, const char* message) const {
    const auto found = by_number_.find(to_integer(number));
    if (found == by_number_.end()) {
      fail(message);
    }
    return found->second;
  }
  /// Null for another number.
  std::shared_ptr<T> remove(Value number) {
    const auto found = by_number_.find(to_integer(number));
    if (found == by_number_.end()) {
      return nullptr;
    }
    std::shared_ptr<T> object = std::move(found->second);
    by_number_.erase(found);
    return object;
  }

 private:
  std::unordered_map<int64_t, std::shared_ptr<T>> by_number_;
  int64_t last_ = 0;
};

}  // namespace spl
