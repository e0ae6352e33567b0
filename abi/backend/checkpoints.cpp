// Bodies of torch.save and torch.load. Values are passed flat: each value precedes its items.
#include <ATen/ops/empty.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/checkpoint.h"
#include "core_libtorch/pickle/plain_file.h"

namespace simple_torch::abi {
namespace {

using core::pickle::Kind;
using core::pickle::Value;
using core::pickle::ValuePtr;

constexpr int kMaxDepth = 200;
constexpr size_t kMaxValues = 50'000'000;  // a small file can repeat a shared value many times

/// Values from the letters of functions_files.toml.
class Unflattener {
 public:
  Unflattener(const char* kinds, const SplArray* values)
      : kinds_(kinds), values_(values), count_(count_of_values(kinds, values)) {}

  ValuePtr run() {
    ValuePtr value = next(0);
    if (at_ != count_) {
      throw Error(ErrorKind::kInvalidArgument, "expected one value, got more");
    }
    return value;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): kMaxDepth
  ValuePtr next(int depth) {
    if (depth > kMaxDepth) {
      throw Error(ErrorKind::kInvalidArgument,
                  "the value to save is nested more than " + std::to_string(kMaxDepth) + " levels deep");
    }
    if (at_ == count_) {
      fail_too_early();
    }
    const char letter = kinds_[at_];
    const SplValue& item = values_->items[at_++];
    switch (letter) {
      case 't':
      case 'p':
        return tensor(letter == 't' ? Kind::kTensor : Kind::kParameter, item);
      case 'b':
        return bytes(item);
      case 'n':
        return text_with_nul(item);
      case 'y':
        return text(Kind::kDtype, item);
      case 'e':
        return text(Kind::kDevice, item);
      case 'l':
        return collection(Kind::kList, item, 1, depth);
      case 'u':
        return collection(Kind::kTuple, item, 1, depth);
      case 's':
        return collection(Kind::kSet, item, 1, depth);
      case 'd':
        return collection(Kind::kDict, item, 2, depth);
      case 'o':
        return collection(Kind::kOrderedDict, item, 2, depth);
      default:
        return plain(letter, item);
    }
  }

  [[noreturn]] static void fail_too_early() {
    throw Error(ErrorKind::kInvalidArgument, "the values end inside a collection");
  }

  static ValuePtr tensor(Kind kind, const SplValue& item) {
    ValuePtr result = core::pickle::make_value(kind);
    result->tensor = value_by_letter('t', item).toTensor();
    return result;
  }

  static ValuePtr bytes(const SplValue& item) {
    const at::Tensor content = value_by_letter('t', item).toTensor().contiguous();
    if (!content.is_cpu() || content.scalar_type() != at::kByte || content.dim() != 1) {
      throw Error(ErrorKind::kInvalidArgument, "bytes must be a 1-D uint8 tensor on the CPU");
    }
    ValuePtr result = core::pickle::make_value(Kind::kBytes);
    result->text.assign(static_cast<const char*>(content.const_data_ptr()), content.nbytes());
    return result;
  }

  static ValuePtr text(Kind kind, const SplValue& item) {
    ValuePtr result = core::pickle::make_value(kind);
    result->text = value_by_letter('v', item).toStringRef();
    return result;
  }

  static ValuePtr text_with_nul(const SplValue& item) {
    ValuePtr result = core::pickle::make_value(Kind::kText);
    const c10::IValue parts = value_by_letter('v', item);
    if (!parts.isList()) {
      throw Error(ErrorKind::kInvalidArgument, "a string with NUL must be an array of its parts");
    }
    bool is_first = true;
    for (const c10::IValue& part : parts.toListRef()) {
      result->text += (is_first ? "" : std::string(1, '\0')) + part.toStringRef();
      is_first = false;
    }
    return result;
  }

  static ValuePtr plain(char letter, const SplValue& item) {
    const c10::IValue value = value_by_letter(letter, item);
    if (value.isString()) {
      return text(Kind::kText, item);
    }
    ValuePtr result = core::pickle::make_value(Kind::kNone);
    if (value.isBool()) {
      result->kind = Kind::kBool;
      result->number = value.toBool() ? 1 : 0;
    } else if (value.isInt()) {
      result->kind = Kind::kInt;
      result->number = value.toInt();
    } else if (value.isDouble()) {
      result->kind = Kind::kFloat;
      result->real = value.toDouble();
    } else if (value.isComplexDouble()) {
      result->kind = Kind::kComplex;
      result->real = value.toComplexDouble().real();
      result->imaginary = value.toComplexDouble().imag();
    } else if (!value.isNone()) {
      throw Error(ErrorKind::kInvalidArgument, "values of type " + value.tagKind() + " cannot be saved");
    }
    return result;
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  ValuePtr collection(Kind kind, const SplValue& size, int64_t each, int depth) {
    ValuePtr result = core::pickle::make_value(kind);
    if (size.tag != SPL_INT || size.as_int < 0) {
      throw Error(ErrorKind::kInvalidArgument, "the size of a collection must be a non-negative integer");
    }
    if (static_cast<uint64_t>(size.as_int) > count_ - at_) {
      fail_too_early();
    }
    for (int64_t i = 0; i < size.as_int * each; ++i) {
      result->items.push_back(next(depth + 1));
    }
    return result;
  }

  const char* kinds_;
  const SplArray* values_;
  size_t count_;
  size_t at_ = 0;
};

class Flattener {
 public:
  // NOLINTNEXTLINE(misc-no-recursion): kMaxDepth
  void add(const Value& value, int depth = 0) {
    if (depth > kMaxDepth || values.size() > kMaxValues) {
      throw Error(ErrorKind::kIo, "the file has too many values, or they are nested too deep");
    }
    switch (value.kind) {
      case Kind::kNone:
        return add_leaf('v', c10::IValue());
      case Kind::kBool:
        return add_leaf('v', c10::IValue(value.number != 0));
      case Kind::kInt:
        return add_leaf('v', c10::IValue(value.number));
      case Kind::kFloat:
        return add_leaf('v', c10::IValue(value.real));
      case Kind::kComplex:
        return add_leaf('c', c10::IValue(c10::complex<double>(value.real, value.imaginary)));
      case Kind::kText:
        return add_text(value.text);
      case Kind::kOldText:
        return add_text(core::pickle::text_of_latin1(value.text));
      case Kind::kBytes:
        return add_leaf('b', c10::IValue(bytes_of(value.text)));
      case Kind::kDtype:
        return add_leaf('y', c10::IValue(value.text));
      case Kind::kDevice:
        return add_leaf('e', c10::IValue(value.text));
      case Kind::kTensor:
        return add_leaf('t', c10::IValue(value.tensor));
      case Kind::kParameter:
        return add_leaf('p', c10::IValue(value.tensor));
      case Kind::kList:
        return add_items('l', value, depth);
      case Kind::kTuple:
        return add_items('u', value, depth);
      case Kind::kSet:
        return add_items('s', value, depth);
      case Kind::kDict:
        return add_pairs('d', value, depth);
      case Kind::kOrderedDict:
        return add_pairs('o', value, depth);
      default:  // kinds that exist only while a pickle is read
        throw Error(ErrorKind::kIo, "the file's pickle ends with " + value.text + ", expected a value");
    }
  }

  std::string kinds;
  std::vector<c10::IValue> values;

 private:
  void add_leaf(char letter, c10::IValue value) {
    kinds += letter;
    values.push_back(std::move(value));
  }

  void add_text(const std::string& text) {
    if (text.find('\0') == std::string::npos) {
      add_leaf('v', c10::IValue(text));
    } else {
      add_leaf('n', c10::IValue(parts_between_nul(text)));
    }
  }

  // The ABI's strings end at NUL.
  static c10::List<std::string> parts_between_nul(const std::string& text) {
    c10::List<std::string> parts;
    size_t begin = 0;
    for (size_t end = text.find('\0'); end != std::string::npos; end = text.find('\0', begin)) {
      parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
  }

  static at::Tensor bytes_of(const std::string& content) {
    at::Tensor bytes = at::empty({static_cast<int64_t>(content.size())}, at::kByte);
    std::copy(content.begin(), content.end(), bytes.mutable_data_ptr<uint8_t>());
    return bytes;
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void add_items(char letter, const Value& value, int depth) {
    add_leaf(letter, c10::IValue(static_cast<int64_t>(value.items.size())));
    for (const ValuePtr& item : value.items) {
      add(*item, depth + 1);
    }
  }

  // Keys of type bytes become strings, one character per byte: Python 2 had one type for both.
  // NOLINTNEXTLINE(misc-no-recursion)
  void add_pairs(char letter, const Value& value, int depth) {
    add_leaf(letter, c10::IValue(static_cast<int64_t>(value.items.size() / 2)));
    for (size_t i = 0; i < value.items.size(); ++i) {
      const Value& item = *value.items[i];
      if (i % 2 == 0 && item.kind == Kind::kBytes) {
        add_text(core::pickle::text_of_latin1(item.text));
      } else {
        add(item, depth + 1);
      }
    }
  }
};

SplArray* flattened(const Value& value) {
  Flattener flat;
  flat.add(value);
  return Results(flat.values).take_array(flat.kinds);
}

}  // namespace

namespace body {

int32_t values_save(const char* path, const char* kinds, const SplArray* values) {
  return guarded([&] {
    require(path, "path");
    core::pickle::save(*Unflattener(kinds, values).run(), path);
  });
}

int32_t values_load(const char* path, const char* map_location, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    require(map_location, "map_location");
    const std::string location = map_location;
    *out = flattened(*core::pickle::load(path, location.empty() ? std::nullopt : std::optional(location)));
  });
}

int32_t pickle_load(const char* path, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    *out = flattened(*core::pickle::load_plain(path));
  });
}

int32_t file_is_libtorchs(const char* path, bool* out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    *out = core::pickle::is_libtorch_archive(path);
  });
}

}  // namespace body
}  // namespace simple_torch::abi
