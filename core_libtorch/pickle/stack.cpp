#include "core_libtorch/pickle/stack.h"

#include "core_libtorch/pickle/bytes.h"

namespace simple_torch::core::pickle {

const ValuePtr& Stack::top() const {
  if (values_.empty() || (!marks_.empty() && marks_.back() == values_.size())) {
    fail_broken("a value is missing");
  }
  return values_.back();
}

ValuePtr Stack::pop() {
  ValuePtr value = top();
  values_.pop_back();
  return value;
}

std::string Stack::pop_text() {
  const ValuePtr value = pop();
  if (value->kind != Kind::kText) {
    fail_broken("expected string");
  }
  return value->text;
}

std::vector<ValuePtr> Stack::pop_some(size_t count) {
  std::vector<ValuePtr> items(count);
  for (size_t i = count; i > 0; --i) {
    items[i - 1] = pop();
  }
  return items;
}

std::vector<ValuePtr> Stack::pop_marked() {
  if (marks_.empty() || marks_.back() > values_.size()) {
    fail_broken("a mark is missing");
  }
  std::vector<ValuePtr> items = pop_some(values_.size() - marks_.back());
  marks_.pop_back();
  return items;
}

void Stack::add_to_top(Kind kind, const std::vector<ValuePtr>& items) {
  Value& into = *top();
  const bool fits = kind == Kind::kDict ? into.is_dict() && items.size() % 2 == 0 : into.kind == kind;
  if (!fits) {
    fail_broken("expected a collection for items");
  }
  for (const ValuePtr& item : items) {
    if (item.get() == &into) {
      fail("it contains a collection that contains itself");
    }
  }
  into.items.insert(into.items.end(), items.begin(), items.end());
}

void Stack::push_known(size_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) {
    fail_broken("it refers to a missing memo entry");
  }
  values_.push_back(found->second);
}

ValuePtr Stack::only_result() {
  if (values_.size() != 1 || !marks_.empty()) {
    fail_broken("it ends with " + std::to_string(values_.size()) + " values on the stack");
  }
  return pop();
}

}  // namespace simple_torch::core::pickle
