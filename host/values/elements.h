// The elements of an array or a tuple.
//
// Most lists are a plain vector. Four other forms save time or memory; no program sees a difference:
// - a list whose first elements were removed keeps a gap in front, so that removing one takes constant time;
// - a slice that covers at least half of its source shares the source's vector until one of them changes;
// - a list that grew beyond a few elements and holds booleans only stores one byte for each;
// - the integers of a range with a step are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "host/values/value.h"

namespace spl {

struct SharedValues;

class Elements {
 public:
  /// Yields elements by value: a list of booleans has no Value to refer to.
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = const Value*;
    using reference = Value;

    Iterator() = default;
    Iterator(const Elements* list, size_t at) : list_(list), at_(at) {}
    Value operator*() const { return (*list_)[at_]; }
    Value operator[](difference_type offset) const { return *(*this + offset); }
    Iterator& operator+=(difference_type offset) {
      at_ = static_cast<size_t>(static_cast<difference_type>(at_) + offset);
      return *this;
    }
    Iterator& operator-=(difference_type offset) { return *this += -offset; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend Iterator operator+(Iterator it, difference_type offset) { return it += offset; }
    friend Iterator operator+(difference_type offset, Iterator it) { return it += offset; }
    friend Iterator operator-(Iterator it, difference_type offset) { return it -= offset; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    const Elements* list_ = nullptr;
    size_t at_ = 0;
  };

  Elements() = default;
  explicit Elements(std::vector<Value> owned) : own_(std::move(owned)) {}
  Elements(Elements&& other) noexcept = default;
  Elements& operator=(Elements&& other) noexcept {
    own_.swap(other.own_);
    form_.swap(other.form_);
    return *this;
  }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements();

  size_t size() const { return form_ == nullptr ? own_.size() : form_->count; }
  bool empty() const { return size() == 0; }
  /// Borrowed, like the results of the next five.
  Value operator[](size_t at) const { return form_ == nullptr ? own_[at] : form_->get(at); }
  /// The same; throws std::out_of_range.
  Value at(size_t at) const;
  Value front() const { return (*this)[0]; }
  Value back() const { return (*this)[size() - 1]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  /// The elements in memory; valid until the next change.
  const Value* data() const;

  // Changes. The object that holds the list must have one owner.
  void push_back(Value owned) {
    if (form_ == nullptr && own_.size() < own_.capacity()) {
      own_.push_back(owned);
    } else {
      push_in_form(owned);
    }
  }
  /// Replaces an element. The old one is released after the list has its new element.
  void set(size_t at, Value owned) {
    if (form_ == nullptr) {
      assign(own_[at], owned);
    } else {
      set_in_form(at, owned);
    }
  }
  /// Removes an element. Owned.
  Value take(size_t at);
  /// The place of an element, for a change of the element itself.
  Value& slot(size_t at);
  /// Makes the empty list hold `count` times `value`, with a reference for each.
  void fill_with(Value value, size_t count);
  /// Makes the empty list hold `count` integers from `first` on; the last one must fit.
  void fill_with_integers(int64_t first, int64_t step, size_t count);
  /// The list as a plain vector, for other changes.
  std::vector<Value>& vector();
  /// Removes all elements. Owned.
  std::vector<Value> take_all();

  /// A copy of all elements, and of `count` elements from `first` on.
  Elements copy() const;
  Elements slice(size_t first, size_t count) const;

  /// The object that holds the elements if slices may share them; else null.
  SharedValues* shared() const { return form_ == nullptr ? nullptr : form_->shared; }

 private:
  friend struct SharedValues;
  struct Form {
    const Value* start = nullptr;    // the first element; null if there are no values in memory
    size_t first = 0;                // its index in the vector behind it
    size_t count = 0;                // of elements
    SharedValues* shared = nullptr;  // the vector behind a slice, or behind its source
    std::vector<uint8_t> booleans;
    int64_t integer = 0, step = 0;  // of computed integers: the first one; the step is not 0

    Value get(size_t at) const {
      if (start != nullptr) {
        return start[at];
      }
      return step == 0 ? Value::boolean(booleans[first + at] != 0)
                       : Value::integer(static_cast<int64_t>(static_cast<uint64_t>(integer) +
                                                             at * static_cast<uint64_t>(step)));
    }
    bool is_compact() const { return start == nullptr; }
    bool is_booleans() const { return start == nullptr && step == 0; }
  };

  size_t vector_size() const;
  void push_in_form(Value owned);
  void set_in_form(size_t at, Value owned);
  bool holds_booleans() const;
  void pack();
  void unpack();
  void share();
  void unshare();
  void close_gap();
  void close_large_gap();
  std::vector<Value> leave_shared();

  std::vector<Value> own_;      // owned; nil in the gap; empty in the other forms
  std::unique_ptr<Form> form_;  // null for a plain vector
};

/// A vector that slices share. Each of `parts` covers at least half of it, so that all parts together are one
/// range; the values outside that range are nil.
struct SharedValues : Object {
  std::vector<Value> values;  // owned
  std::vector<const Elements::Form*> parts;

  explicit SharedValues(std::vector<Value> owned) : Object(Kind::kSharedValues), values(std::move(owned)) {}
  void add(const Elements::Form* part);
  void remove(const Elements::Form* part);
};

}  // namespace spl
