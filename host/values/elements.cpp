#include "host/values/elements.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace spl {

namespace {

// Below these numbers of elements the plain vector is as fast and as small.
constexpr size_t kSharedFrom = 32;
constexpr size_t kGapFrom = 32;
constexpr size_t kBooleansFrom = 64;

void release_each(const std::vector<Value>& values) {
  for (const Value v : values) {
    release(v);
  }
}

}  // namespace

void SharedValues::add(const Elements::Form* part) {
  parts.push_back(part);
  refs = static_cast<uint32_t>(parts.size());
}

void SharedValues::remove(const Elements::Form* part) {
  parts.erase((std::find(parts.rbegin(), parts.rend(), part) + 1).base());
  refs = static_cast<uint32_t>(parts.size());
}

Elements::~Elements() {
  if (shared() != nullptr) {
    release_each(leave_shared());
  }
  release_each(own_);
}

Value Elements::at(size_t at) const {
  if (at >= size()) {
    throw std::out_of_range("Elements::at");
  }
  return (*this)[at];
}

const Value* Elements::data() const {
  if (form_ == nullptr) {
    return own_.data();
  }
  if (form_->is_compact()) {
    const_cast<Elements*>(this)->unpack();
    return own_.data();
  }
  return form_->start;
}

size_t Elements::vector_size() const {
  if (form_ != nullptr && form_->is_compact()) {
    return form_->count;
  }
  return shared() == nullptr ? own_.size() : shared()->values.size();
}

// ---- Booleans and computed integers ---------------------------------------------------------------------

bool Elements::holds_booleans() const {
  return std::all_of(own_.begin(), own_.end(), [](Value v) { return v.is_bool(); });
}

// From a plain vector of booleans.
void Elements::pack() {
  auto form = std::make_unique<Form>();
  form->count = own_.size();
  form->booleans.reserve(own_.capacity() + 1);
  for (const Value v : own_) {
    form->booleans.push_back(static_cast<uint8_t>(v.as_bool));
  }
  form_ = std::move(form);
  own_ = {};
}

void Elements::unpack() {
  std::vector<Value> values;
  values.reserve(form_->count);
  for (size_t at = 0; at < form_->count; ++at) {
    values.push_back(form_->get(at));
  }
  own_ = std::move(values);
  form_.reset();
}

void Elements::fill_with(Value value, size_t count) {
  if (value.is_bool() && count >= kBooleansFrom) {
    form_ = std::make_unique<Form>();
    form_->count = count;
    form_->booleans.assign(count, static_cast<uint8_t>(value.as_bool));
    return;
  }
  own_.assign(count, value);
  if (value.is_object()) {
    value.as_object->refs += static_cast<uint32_t>(count);
  }
}

void Elements::fill_with_integers(int64_t first, int64_t step, size_t count) {
  if (count == 0) {
    return;
  }
  form_ = std::make_unique<Form>();
  form_->count = count;
  form_->integer = first;
  form_->step = step;
}

// ---- Shared vectors --------------------------------------------------------------------------------------

// Moves the vector to where slices can share it.
void Elements::share() {
  if (form_ != nullptr && form_->shared != nullptr) {
    return;
  }
  if (form_ != nullptr && form_->is_compact()) {
    unpack();
  }
  if (form_ == nullptr) {
    form_ = std::make_unique<Form>();
    form_->count = own_.size();
  }
  auto* const shared = new SharedValues(std::move(own_));
  own_ = {};
  form_->shared = shared;
  form_->start = shared->values.data() + form_->first;
  shared->add(form_.get());
}

// Leaves the shared vector. Returns the values that no other part covers; owned.
std::vector<Value> Elements::leave_shared() {
  SharedValues* const shared = std::exchange(form_->shared, nullptr);
  shared->remove(form_.get());
  const size_t first = form_->first, last = first + form_->count;
  if (shared->parts.empty()) {
    std::vector<Value> values = std::move(shared->values);
    delete shared;
    return values;
  }
  size_t others_first = SIZE_MAX, others_last = 0;
  for (auto part = shared->parts.rbegin(); part != shared->parts.rend(); ++part) {
    others_first = std::min(others_first, (*part)->first);
    others_last = std::max(others_last, (*part)->first + (*part)->count);
    if (others_first <= first && last <= others_last) {
      return {};
    }
  }
  std::vector<Value> uncovered;
  for (size_t at = first; at < std::min(last, others_first); ++at) {
    uncovered.push_back(std::exchange(shared->values[at], Value()));
  }
  for (size_t at = std::max(first, others_last); at < last; ++at) {
    uncovered.push_back(std::exchange(shared->values[at], Value()));
  }
  return uncovered;
}

// Before a change: the last part takes the vector, another one copies its elements.
void Elements::unshare() {
  if (form_->shared->parts.size() == 1) {
    const size_t last = form_->first + form_->count;
    own_ = leave_shared();
    own_.resize(last);
    form_->start = own_.data() + form_->first;
    if (form_->first == 0) {
      form_.reset();
    }
    return;
  }
  std::vector<Value> values(form_->start, form_->start + form_->count);
  for (const Value v : values) {
    retained(v);
  }
  const std::vector<Value> uncovered = leave_shared();
  own_ = std::move(values);
  form_.reset();
  release_each(uncovered);  // no last references: the copy holds them too
}

Elements Elements::slice(size_t first, size_t count) const {
  if (form_ != nullptr && form_->step != 0) {
    Elements part;
    part.fill_with_integers(form_->get(first).as_int, form_->step, count);
    return part;
  }
  if (count < kSharedFrom || count < vector_size() - count) {
    std::vector<Value> values;
    values.reserve(count);
    for (size_t at = first; at < first + count; ++at) {
      values.push_back(retained((*this)[at]));
    }
    return Elements(std::move(values));
  }
  const_cast<Elements*>(this)->share();
  Elements part;
  part.form_ = std::make_unique<Form>();
  part.form_->shared = form_->shared;
  part.form_->start = form_->start + first;
  part.form_->first = form_->first + first;
  part.form_->count = count;
  form_->shared->add(part.form_.get());
  return part;
}

// ---- Gaps ------------------------------------------------------------------------------------------------

void Elements::close_gap() {
  own_.erase(own_.begin(), own_.begin() + static_cast<std::ptrdiff_t>(form_->first));
  form_.reset();
}

// A gap is at most as large as the rest, so that removals pay for the moves.
void Elements::close_large_gap() {
  if (form_->first > form_->count) {
    close_gap();
  }
}

// ---- Changes ---------------------------------------------------------------------------------------------

void Elements::push_in_form(Value owned) {
  if (shared() != nullptr) {
    unshare();
  }
  if (form_ == nullptr && own_.size() >= kBooleansFrom && owned.is_bool() && holds_booleans()) {
    pack();
  }
  if (form_ != nullptr && form_->is_compact()) {
    if (form_->is_booleans() && owned.is_bool()) {
      form_->booleans.push_back(static_cast<uint8_t>(owned.as_bool));
      ++form_->count;
      return;
    }
    unpack();
  }
  own_.push_back(owned);
  if (form_ != nullptr) {
    form_->start = own_.data() + form_->first;
    ++form_->count;
  }
}

void Elements::set_in_form(size_t at, Value owned) {
  if (form_->is_booleans() && owned.is_bool()) {
    form_->booleans[form_->first + at] = static_cast<uint8_t>(owned.as_bool);
    return;
  }
  assign(slot(at), owned);
}

Value& Elements::slot(size_t at) {
  if (shared() != nullptr) {
    unshare();
  }
  if (form_ != nullptr && form_->is_compact()) {
    unpack();
  }
  return own_[form_ == nullptr ? at : form_->first + at];
}

Value Elements::take(size_t at) {
  const Value taken = (*this)[at];
  if (shared() != nullptr) {
    unshare();
  }
  if (form_ != nullptr && form_->step != 0) {
    unpack();
  }
  if (form_ == nullptr && (at != 0 || own_.size() < kGapFrom)) {
    own_.erase(own_.begin() + static_cast<std::ptrdiff_t>(at));
    return taken;
  }
  if (form_ == nullptr) {
    form_ = std::make_unique<Form>();
    form_->count = own_.size();
    form_->start = own_.data();
  }
  const auto place = static_cast<std::ptrdiff_t>(form_->first + at);
  --form_->count;
  if (form_->is_booleans()) {
    auto& booleans = form_->booleans;
    at == 0 ? static_cast<void>(++form_->first) : static_cast<void>(booleans.erase(booleans.begin() + place));
    if (form_->first > form_->count) {
      booleans.erase(booleans.begin(), booleans.begin() + static_cast<std::ptrdiff_t>(form_->first));
      form_->first = 0;
    }
    return taken;
  }
  if (at == 0) {
    own_[form_->first++] = Value();
    ++form_->start;
  } else {
    own_.erase(own_.begin() + place);
  }
  close_large_gap();
  return taken;
}

std::vector<Value>& Elements::vector() {
  if (shared() != nullptr) {
    unshare();
  }
  if (form_ != nullptr && form_->is_compact()) {
    unpack();
  } else if (form_ != nullptr) {
    close_gap();
  }
  return own_;
}

std::vector<Value> Elements::take_all() { return std::exchange(vector(), {}); }

Elements Elements::copy() const {
  Elements made;
  if (form_ != nullptr && form_->is_compact()) {
    made.form_ = std::make_unique<Form>(*form_);
    return made;
  }
  made.own_.assign(data(), data() + size());
  for (const Value v : made.own_) {
    retained(v);
  }
  return made;
}

}  // namespace spl
