#include "abi/backend/flat_values.h"

#include <ATen/core/jit_type.h>

#include <utility>

#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "core_libtorch/dtypes.h"

namespace simple_torch::abi {
namespace {

using c10::IValue;

/// Rebuilds values from the letters.
class FlatReader {
 public:
  FlatReader(const char* kinds, const SplArray* values)
      : kinds_(kinds), values_(values), count_(count_of_values(kinds, values)) {}

  std::vector<IValue> all() {
    std::vector<IValue> found;
    while (at_ < count_) {
      found.push_back(next());
    }
    return found;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): NestingLevel
  IValue next() {
    const NestingLevel level;
    if (at_ == count_) {
      throw Error(ErrorKind::kInvalidArgument, "the values end inside a collection");
    }
    const char letter = kinds_[at_];
    const SplValue& item = values_->items[at_++];
    switch (letter) {
      case 't':
      case 'p':
        return value_by_letter('t', item);
      case 'y':
        return {static_cast<int64_t>(core::dtype_of_name(text_in(item)))};
      case 'e':
        return {core::device_of_text(text_in(item))};
      case 'n':
        return text_with_nul(item);
      case 'l':
        return list(item);
      case 'u':
        return c10::ivalue::Tuple::create(items(item, 1));
      case 'd':
      case 'o':
        return dict(item);
      case 'b':
      case 's':
        throw Error(ErrorKind::kInvalidArgument,
                    std::string("TorchScript has no type for ") + (letter == 'b' ? "bytes" : "a set"));
      default:
        return value_by_letter(letter, item);
    }
  }

  static std::string text_in(const SplValue& item) { return value_by_letter('v', item).toStringRef(); }

  static IValue text_with_nul(const SplValue& item) {
    std::string text;
    bool is_first = true;
    for (const IValue& part : value_by_letter('v', item).toListRef()) {
      text += (is_first ? "" : std::string(1, '\0')) + part.toStringRef();
      is_first = false;
    }
    return {text};
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  std::vector<IValue> items(const SplValue& size, size_t each) {
    if (size.tag != SPL_INT || size.as_int < 0 || static_cast<uint64_t>(size.as_int) > count_ - at_) {
      throw Error(ErrorKind::kInvalidArgument, "the size of a collection does not match its values");
    }
    std::vector<IValue> found;
    for (size_t i = 0; i < static_cast<size_t>(size.as_int) * each; ++i) {
      found.push_back(next());
    }
    return found;
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  IValue list(const SplValue& size) {
    c10::impl::GenericList made(c10::AnyType::get());
    for (IValue& item : items(size, 1)) {
      made.push_back(std::move(item));
    }
    return {std::move(made)};
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  IValue dict(const SplValue& size) {
    c10::impl::GenericDict made(c10::AnyType::get(), c10::AnyType::get());
    std::vector<IValue> parts = items(size, 2);
    for (size_t i = 0; i < parts.size(); i += 2) {
      if (parts[i].isNone() || parts[i].isList() || parts[i].isGenericDict()) {
        throw Error(ErrorKind::kInvalidArgument, "a key of a dict must be a number, a string or a tensor");
      }
      made.insert_or_assign(std::move(parts[i]), std::move(parts[i + 1]));
    }
    return {std::move(made)};
  }

  const char* kinds_;
  const SplArray* values_;
  size_t count_;
  size_t at_ = 0;
};

/// The letters and the leaves of values.
struct FlatWriter {
  std::string kinds;
  std::vector<IValue> leaves;

  void add_leaf(char letter, IValue value) {
    kinds += letter;
    leaves.push_back(std::move(value));
  }

  // NOLINTNEXTLINE(misc-no-recursion): NestingLevel
  void add(const IValue& value) {
    const NestingLevel level;
    if (value.isTensor()) {
      add_leaf('t', value);
    } else if (value.isNone() || value.isBool() || value.isInt() || value.isDouble()) {
      add_leaf('v', value);
    } else if (value.isString()) {
      add_text(value.toStringRef());
    } else if (value.isComplexDouble()) {
      add_leaf('c', value);
    } else if (value.isDevice()) {
      add_leaf('e', IValue(value.toDevice().str()));
    } else if (value.isTuple()) {
      const auto& elements = value.toTupleRef().elements();
      add_leaf('u', IValue(static_cast<int64_t>(elements.size())));
      for (const IValue& item : elements) {
        add(item);
      }
    } else if (value.isList()) {
      add_list(value.toList());
    } else if (value.isGenericDict()) {
      add_dict(value.toGenericDict());
    } else {
      throw Error(ErrorKind::kNotImplemented, "values of TorchScript's type " + value.type()->repr_str() +
                                                  " have no equivalent in Simple");
    }
  }

 private:
  // The ABI's strings end at NUL.
  void add_text(const std::string& text) {
    if (text.find('\0') == std::string::npos) {
      return add_leaf('v', IValue(text));
    }
    c10::List<std::string> parts;
    size_t begin = 0;
    for (size_t end = text.find('\0'); end != std::string::npos; end = text.find('\0', begin)) {
      parts.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    parts.push_back(text.substr(begin));
    add_leaf('n', IValue(parts));
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void add_list(const c10::List<IValue>& list) {
    add_leaf('l', IValue(static_cast<int64_t>(list.size())));
    for (const IValue& item : list) {
      add(item);
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void add_dict(const c10::impl::GenericDict& dict) {
    add_leaf('d', IValue(static_cast<int64_t>(dict.size())));
    for (const auto& entry : dict) {
      add(entry.key());
      add(entry.value());
    }
  }
};

}  // namespace

std::vector<IValue> values_of_flat(const char* kinds, const SplArray* values) {
  return FlatReader(kinds, values).all();
}

SplArray* flat_of_values(const std::vector<IValue>& values) {
  FlatWriter flat;
  for (const IValue& value : values) {
    flat.add(value);
  }
  return Results(flat.leaves).take_array(flat.kinds);
}

}  // namespace simple_torch::abi
