// The values of the C++ functions: owned handles, views of lists, arguments and results of any kind. C++17.
#ifndef SIMPLE_TORCH_VALUES_HPP_
#define SIMPLE_TORCH_VALUES_HPP_

#include <simple_torch/error.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace simple_torch {

/// Owns a handle of one kind and releases it. Empty where there is no value. Any thread may use or destroy
/// it.
template <SptHandleKind kKind>
class Handle {
 public:
  Handle() noexcept = default;
  /// Takes ownership of a new handle of that kind; 0 is none.
  explicit Handle(int64_t handle) noexcept : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset(other.release());
    }
    return *this;
  }
  ~Handle() { reset(); }

  /// The handle for a function of the C ABI; 0 if empty. It stays owned.
  int64_t get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != 0; }
  /// Returns the handle, which the caller then owns.
  int64_t release() noexcept { return std::exchange(handle_, 0); }
  void reset(int64_t handle = 0) noexcept {
    if (const int64_t old = std::exchange(handle_, handle); old != 0) {
      spt_release(old);  // fails, without effect, after the library has shut down
    }
  }

 private:
  int64_t handle_ = 0;
};

/// A tensor. A copy is the same tensor, as in PyTorch; simple_torch::clone() copies the memory.
class Tensor : public Handle<SPT_HANDLE_TENSOR> {
 public:
  using Handle::Handle;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;
  Tensor(const Tensor& other) : Handle(another(other.get())) {}
  Tensor& operator=(const Tensor& other) {
    if (this != &other) {
      reset(another(other.get()));
    }
    return *this;
  }

 private:
  static int64_t another(int64_t handle) {
    int64_t out = 0;
    if (handle != 0) {
      check(spt_another_handle(handle, &out));
    }
    return out;
  }
};

/// A list argument of numbers: refers to a vector or to memory, which must exist during the call, or owns the
/// items of an initializer list.
template <class T>
class List {
 public:
  List(std::initializer_list<T> items) : owned_(items), size_(items.size()) {}
  List(const std::vector<T>& items) noexcept : data_(items.data()), size_(items.size()) {}
  List(const T* data, size_t size) noexcept : data_(data), size_(size) {}
  const T* data() const noexcept { return owned_.empty() ? data_ : owned_.data(); }
  int64_t size() const noexcept { return static_cast<int64_t>(size_); }

 private:
  std::vector<T> owned_;
  const T* data_ = nullptr;
  size_t size_;
};

using IntList = List<int64_t>;
using DoubleList = List<double>;

/// A list argument of handles, which stay owned by their objects.
template <class Owner>
class HandleList {
 public:
  /// An item of an initializer list. Refers to its object without owning it.
  class Item {
   public:
    Item(const Owner& owner) noexcept : handle_(owner.get()) {}
    int64_t get() const noexcept { return handle_; }

   private:
    int64_t handle_;
  };

  HandleList(std::initializer_list<Item> items) { add(items); }
  HandleList(const std::vector<Owner>& items) { add(items); }
  const int64_t* data() const noexcept { return handles_.data(); }
  int64_t size() const noexcept { return static_cast<int64_t>(handles_.size()); }

 private:
  template <class Items>
  void add(const Items& items) {
    handles_.reserve(items.size());
    for (const auto& item : items) {
      handles_.push_back(item.get());
    }
  }

  std::vector<int64_t> handles_;
};

using TensorList = HandleList<Tensor>;

namespace detail {

/// A string for C. One with a NUL would lose what follows.
inline const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) {
    throw TorchError(SPT_INVALID_ARGUMENT,
                     "a string must not contain NUL, got one at byte " + std::to_string(text.find('\0')));
  }
  return text.c_str();
}

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

struct Free {
  void operator()(void* memory) const noexcept { spt_free(memory); }
};

inline std::string take_text(char* text) {
  const std::unique_ptr<char, Free> owned(text);
  return text == nullptr ? std::string() : std::string(text);
}

template <class T>
std::vector<T> take_list(T* items, int64_t size) {
  const std::unique_ptr<T, Free> owned(items);
  return std::vector<T>(items, items + size);
}

template <class Owner>
std::vector<Owner> take_handles(int64_t* handles, int64_t size) {
  const std::unique_ptr<int64_t, Free> owned(handles);
  std::vector<Owner> list;
  try {
    list.reserve(static_cast<size_t>(size));
  } catch (...) {
    for (int64_t i = 0; i < size; ++i) {
      spt_release(handles[i]);
    }
    throw;
  }
  for (int64_t i = 0; i < size; ++i) {
    list.emplace_back(handles[i]);
  }
  return list;
}

}  // namespace detail

/// A list argument of strings.
class TextList {
 public:
  TextList(std::initializer_list<std::string> items) : items_(items) { point(); }
  TextList(std::vector<std::string> items) : items_(std::move(items)) { point(); }
  TextList(const TextList& other) : items_(other.items_) { point(); }
  TextList& operator=(const TextList&) = delete;
  const char* const* data() const noexcept { return pointers_.data(); }
  int64_t size() const noexcept { return static_cast<int64_t>(pointers_.size()); }

 private:
  void point() {
    for (const std::string& item : items_) {
      pointers_.push_back(detail::c_text(item));
    }
  }

  std::vector<std::string> items_;
  std::vector<const char*> pointers_;
};

/// An array of values of any kind, as the C ABI returns it. Handles in it belong to the receiver.
class Array {
 public:
  struct Free {
    void operator()(SplArray* array) const noexcept { spl_array_free(array); }
  };
  using Owner = std::unique_ptr<SplArray, Free>;

  explicit Array(SplArray* array) noexcept : array_(array) {}
  int64_t size() const noexcept { return spl_array_len(array_.get()); }
  SplValue operator[](int64_t index) const noexcept { return spl_array_get(array_.get(), index); }
  const SplArray* get() const noexcept { return array_.get(); }

 private:
  Owner array_;
};

/// A keyword argument: named("dim", 1).
template <class T>
struct Named {
  const char* name;
  const T& value;
};

template <class T>
Named<T> named(const char* name, const T& value) {
  return {name, value};
}

/// Arguments of any kind for an operator or for Python: nullptr (None), bool, integers, floating-point and
/// complex numbers, strings, tensors, other handles, lists (IntList, DoubleList, std::vector) and, last,
/// keyword arguments.
class Arguments {
 public:
  template <class... T>
  explicit Arguments(const T&... values) : values_(spl_array_new()) {
    (add(values), ...);
  }

  const char* kinds() const noexcept { return kinds_.c_str(); }
  const SplArray* values() const noexcept { return values_.get(); }
  const char* const* names() const noexcept { return names_.data(); }
  int64_t names_size() const noexcept { return static_cast<int64_t>(names_.size()); }
  /// For functions that accept no keyword arguments.
  const Arguments& without_names() const {
    if (!names_.empty()) {
      throw TorchError(SPT_INVALID_ARGUMENT,
                       std::string("no keyword argument is accepted, got ") + names_[0]);
    }
    return *this;
  }

 private:
  template <class T>
  void add(const Named<T>& argument) {
    add_value(argument.value);
    names_.push_back(argument.name);
  }
  template <class T>
  void add(const T& value) {
    if (!names_.empty()) {
      throw TorchError(SPT_INVALID_ARGUMENT,
                       std::string("a positional argument follows keyword argument ") + names_[0]);
    }
    add_value(value);
  }

  static SplValue tagged(int32_t tag) {
    SplValue value{};
    value.tag = tag;
    return value;
  }
  static SplValue plain(std::nullptr_t) { return tagged(SPL_NIL); }
  static SplValue plain(const char* text) {
    if (text == nullptr) {
      throw TorchError(SPT_INVALID_ARGUMENT, "a string must not be NULL");
    }
    SplValue value = tagged(SPL_STRING);
    value.as_string = spl_str_new(text);
    return value;
  }
  static SplValue plain(const std::string& text) { return plain(detail::c_text(text)); }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  static SplValue plain(T number) {
    SplValue value = tagged(std::is_same_v<T, bool> ? SPL_BOOL : std::is_integral_v<T> ? SPL_INT : SPL_FLOAT);
    if constexpr (std::is_same_v<T, bool>) {
      value.as_bool = number;
    } else if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(int64_t)) {
        if (number > static_cast<T>(INT64_MAX)) {
          throw TorchError(SPT_INVALID_ARGUMENT,
                           "an integer must fit in 64 bits with sign, got " + std::to_string(number));
        }
      }
      value.as_int = static_cast<int64_t>(number);
    } else {
      value.as_float = static_cast<double>(number);
    }
    return value;
  }

  void push(char kind, SplValue value) {
    kinds_ += kind;
    spl_array_push(values_.get(), value);
  }
  template <class Items, class Convert>
  void push_array(char kind, const Items& items, Convert&& convert) {
    SplValue value = tagged(SPL_ARRAY);
    value.as_array = spl_array_new();
    for (const auto& item : items) {
      spl_array_push(value.as_array, convert(item));
    }
    push(kind, value);
  }

  void add_value(const Tensor& tensor) {
    if (tensor) {
      push('t', plain(tensor.get()));
    } else {
      push('v', plain(nullptr));
    }
  }
  void add_value(const Handle<SPT_HANDLE_OBJECT>& object) { push('o', plain(object.get())); }
  void add_value(const Handle<SPT_HANDLE_GENERATOR>& generator) { push('g', plain(generator.get())); }
  void add_value(const std::vector<Tensor>& tensors) {
    push_array('l', tensors, [](const Tensor& tensor) { return plain(tensor.get()); });
  }
  void add_value(const std::complex<double>& number) {
    push_array('c', std::initializer_list<double>{number.real(), number.imag()},
               [](double part) { return plain(part); });
  }
  template <class T>
  void add_value(const List<T>& list) {
    add_value(std::vector<T>(list.data(), list.data() + list.size()));
  }
  template <class T>
  void add_value(const std::vector<T>& list) {
    push_array('v', list, [](const T& item) { return plain(item); });
  }
  template <class T, std::enable_if_t<std::is_constructible_v<std::string, T> || std::is_arithmetic_v<T> ||
                                          std::is_same_v<T, std::nullptr_t>,
                                      int> = 0>
  void add_value(const T& value) {
    push('v', plain(value));
  }

  Array::Owner values_;
  std::string kinds_;
  std::vector<const char*> names_;
};

/// The results of an operator, by position.
class Results {
 public:
  /// Of an array of spt_op: the letters of the results, their names, and the results.
  explicit Results(const Array& array) {
    const std::string letters = array[0].as_string;
    names_ = array[1].as_string;
    items_.resize(letters.size());
    for (const bool owned : {true, false}) {  // handles first: the conversion of other values may throw
      for (size_t i = 0; i < letters.size(); ++i) {
        if ((letters[i] == 't' || letters[i] == 'l' || letters[i] == 'g') == owned) {
          items_[i] = item_of(letters[i], array[static_cast<int64_t>(i) + 2]);
        }
      }
    }
  }

  size_t size() const noexcept { return items_.size(); }
  /// The names of the schema, separated by commas; "" if it has none.
  const std::string& names() const noexcept { return names_; }

  const Tensor& tensor(size_t index = 0) const { return as<Tensor>(index, "a tensor"); }
  const std::vector<Tensor>& tensors(size_t index = 0) const {
    return as<std::vector<Tensor>>(index, "a list of tensors");
  }
  double to_double(size_t index = 0) const { return as<double>(index, "a float"); }
  int64_t to_int(size_t index = 0) const { return as<int64_t>(index, "an integer"); }
  bool to_bool(size_t index = 0) const { return as<bool>(index, "a bool"); }
  std::complex<double> to_complex(size_t index = 0) const {
    return as<std::complex<double>>(index, "a complex number");
  }
  const std::string& text(size_t index = 0) const { return as<std::string>(index, "a string"); }
  const std::vector<int64_t>& ints(size_t index = 0) const {
    return as<std::vector<int64_t>>(index, "a list of integers");
  }
  const std::vector<double>& doubles(size_t index = 0) const {
    return as<std::vector<double>>(index, "a list of floats");
  }
  bool is_none(size_t index = 0) const { return std::holds_alternative<std::monostate>(at(index)); }

 private:
  struct EmptyList {};  // of any type
  using Item = std::variant<std::monostate, bool, int64_t, double, std::complex<double>, std::string, Tensor,
                            std::vector<Tensor>, Handle<SPT_HANDLE_GENERATOR>, std::vector<int64_t>,
                            std::vector<double>, EmptyList>;

  static Item item_of(char letter, const SplValue& value) {
    switch (letter) {
      case 't':
        return Tensor(value.as_int);
      case 'g':
        return Handle<SPT_HANDLE_GENERATOR>(value.as_int);
      case 'l':
        return tensors_of(*value.as_array);
      case 'c':
        return std::complex<double>(value.as_array->items[0].as_float, value.as_array->items[1].as_float);
      default:
        return plain_of(value);
    }
  }

  static std::vector<Tensor> tensors_of(const SplArray& array) {
    std::vector<Tensor> list;
    list.reserve(static_cast<size_t>(array.len));
    for (int64_t i = 0; i < array.len; ++i) {
      list.emplace_back(array.items[i].tag == SPL_INT ? array.items[i].as_int : 0);
    }
    return list;
  }

  static Item plain_of(const SplValue& value) {
    switch (value.tag) {
      case SPL_NIL:
        return std::monostate();
      case SPL_BOOL:
        return value.as_bool;
      case SPL_INT:
        return value.as_int;
      case SPL_FLOAT:
        return value.as_float;
      case SPL_STRING:
        return std::string(value.as_string);
      default:
        return list_of(*value.as_array);
    }
  }

  static Item list_of(const SplArray& array) {
    if (array.len == 0) {
      return EmptyList();
    }
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    for (int64_t i = 0; i < array.len; ++i) {
      const SplValue& item = array.items[i];
      if (item.tag == SPL_INT) {
        ints.push_back(item.as_int);
      } else if (item.tag == SPL_FLOAT) {
        doubles.push_back(item.as_float);
      }
    }
    if (ints.size() == static_cast<size_t>(array.len)) {
      return ints;
    }
    if (doubles.size() == static_cast<size_t>(array.len)) {
      return doubles;
    }
    throw TorchError(SPT_NOT_IMPLEMENTED,
                     "a list with other items than integers or floats has no C++ type; call spt_op");
  }

  const Item& at(size_t index) const {
    if (index >= items_.size()) {
      throw TorchError(SPT_INDEX_OUT_OF_RANGE, "the operator has " + std::to_string(items_.size()) +
                                                   " results, got index " + std::to_string(index));
    }
    return items_[index];
  }
  template <class T>
  const T& as(size_t index, const char* what) const {
    const Item& item = at(index);
    if (const T* found = std::get_if<T>(&item)) {
      return *found;
    }
    if constexpr (detail::is_vector<T>) {
      static const T empty;
      if (std::holds_alternative<EmptyList>(item)) {
        return empty;
      }
    }
    throw TorchError(SPT_INVALID_ARGUMENT, "result " + std::to_string(index) + " is not " + what);
  }

  std::vector<Item> items_;
  std::string names_;
};

}  // namespace simple_torch

#endif  // SIMPLE_TORCH_VALUES_HPP_
