// The values of a pickle, between its bytes and the tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace simple_torch::core::pickle {

enum class Kind : uint8_t {
  kNone,
  kBool,     // number
  kInt,      // number
  kFloat,    // real
  kComplex,  // real, imaginary
  kText,
  kBytes,      // text
  kDtype,      // text: "float32"
  kDevice,     // text: "cuda:0"
  kTensor,     // tensor
  kParameter,  // tensor
  kList,
  kTuple,
  kSet,          // also a frozenset
  kDict,         // items: key, value, key, value …
  kOrderedDict,  // as kDict
  // These occur only while a file is read, not in results.
  kGlobal,     // text: "torch._utils _rebuild_tensor_v2"
  kStorage,    // number: its index; text: the dtype's name, empty for untyped bytes
  kLayout,     // text: "torch.sparse_coo"
  kOldText,    // text: a str of Python 2, each byte a Latin-1 character
  kArrayType,  // NumPy's dtype. text: "u1"; number: 1 for big-endian
  kArray,      // a NumPy array before its state; then a kTensor
};

struct Value;
using ValuePtr = std::shared_ptr<Value>;

/// One value. Parts that occur twice are the same object.
struct Value {
  Kind kind = Kind::kNone;
  int64_t number = 0;
  double real = 0;
  double imaginary = 0;
  std::string text;
  at::Tensor tensor;
  std::vector<ValuePtr> items;

  Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  /// Destroys level by level: a file may nest lists deeper than the call stack allows.
  ~Value() {
    std::vector<ValuePtr> left = std::move(items);
    while (!left.empty()) {
      const ValuePtr value = std::move(left.back());
      left.pop_back();
      if (value.use_count() == 1) {
        std::move(value->items.begin(), value->items.end(), std::back_inserter(left));
        value->items.clear();
      }
    }
  }

  bool is_dict() const { return kind == Kind::kDict || kind == Kind::kOrderedDict; }
};

inline ValuePtr make_value(Kind kind) {
  auto value = std::make_shared<Value>();
  value->kind = kind;
  return value;
}

}  // namespace simple_torch::core::pickle
