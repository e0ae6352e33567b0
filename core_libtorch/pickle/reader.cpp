#include "core_libtorch/pickle/reader.h"

#include <bit>
#include <unordered_map>
#include <utility>

#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/objects.h"

namespace simple_torch::core::pickle {
namespace {

class Reader {
 public:
  Reader(std::string_view bytes, const Makers& makers) : bytes_(bytes), makers_(makers) {}

  ValuePtr run() {
    while (true) {
      const auto code = static_cast<unsigned char>(bytes_.take(1)[0]);
      if (code == '.') {
        return only_result();
      }
      step(code);
    }
  }

 private:
  ValuePtr only_result() {
    if (stack_.size() != 1 || !marks_.empty()) {
      fail_broken("it ends with " + std::to_string(stack_.size()) + " values");
    }
    return pop();
  }

  void step(unsigned char code) {
    if (!step_numbers(code) && !step_texts(code) && !step_collections(code) && !step_memory(code)) {
      step_objects(code);
    }
  }

  bool step_numbers(unsigned char code) {
    switch (code) {
      case 'N':
        push(Kind::kNone);
        return true;
      case 0x88:
      case 0x89:
        push(Kind::kBool)->number = code == 0x88 ? 1 : 0;
        return true;
      case 'K':
        push(Kind::kInt)->number = bytes_.number<uint8_t>();
        return true;
      case 'M':
        push(Kind::kInt)->number = bytes_.number<uint16_t>();
        return true;
      case 'J':
        push(Kind::kInt)->number = bytes_.number<int32_t>();
        return true;
      case 0x8a:
        push(Kind::kInt)->number = bytes_.long_number(bytes_.number<uint8_t>());
        return true;
      case 'G':
        push(Kind::kFloat)->real = std::bit_cast<double>(__builtin_bswap64(bytes_.number<uint64_t>()));
        return true;
      default:
        return false;
    }
  }

  bool step_texts(unsigned char code) {
    switch (code) {
      case 'X':
        push(Kind::kText)->text = bytes_.text(bytes_.number<uint32_t>());
        return true;
      case 0x8c:
        push(Kind::kText)->text = bytes_.text(bytes_.number<uint8_t>());
        return true;
      case 0x8d:
        push(Kind::kText)->text = bytes_.text(bytes_.number<uint64_t>());
        return true;
      case 'c': {
        const std::string module(bytes_.line());
        stack_.push_back(global_of(module, std::string(bytes_.line())));
        return true;
      }
      case 0x93: {
        const std::string name = pop_text();
        stack_.push_back(global_of(pop_text(), name));
        return true;
      }
      default:
        return false;
    }
  }

  bool step_collections(unsigned char code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case ']':
        push(Kind::kList);
        return true;
      case '}':
        push(Kind::kDict);
        return true;
      case ')':
        push(Kind::kTuple);
        return true;
      case 't':
        push_of(Kind::kTuple, pop_marked());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push_of(Kind::kTuple, pop_some(code - 0x84U));
        return true;
      case 'a':
        add_to(Kind::kList, pop_some(1));
        return true;
      case 'e':
        add_to(Kind::kList, pop_marked());
        return true;
      case 's':
        add_to(Kind::kDict, pop_some(2));
        return true;
      case 'u':
        add_to(Kind::kDict, pop_marked());
        return true;
      default:
        return false;
    }
  }

  bool step_memory(unsigned char code) {
    switch (code) {
      case 0x80:
        bytes_.take(1);
        return true;
      case 0x95:
        bytes_.take(8);
        return true;
      case 'q':
        memo_[bytes_.number<uint8_t>()] = top();
        return true;
      case 'r':
        memo_[bytes_.number<uint32_t>()] = top();
        return true;
      case 0x94:
        memo_[memo_.size()] = top();
        return true;
      case 'h':
        push_known(bytes_.number<uint8_t>());
        return true;
      case 'j':
        push_known(bytes_.number<uint32_t>());
        return true;
      case '0':
        pop();
        return true;
      default:
        return false;
    }
  }

  void step_objects(unsigned char code) {
    switch (code) {
      case 'Q':
        stack_.push_back(storage_of(*pop(), makers_));
        break;
      case 'R': {
        const ValuePtr arguments = pop();
        const ValuePtr function = pop();
        stack_.push_back(made_by(*function, *arguments, makers_));
        break;
      }
      case 0x81: {
        pop();
        const ValuePtr made = pop();
        fail_unknown(made->kind == Kind::kGlobal ? made->text : "Python object");
      }
      case 'b': {
        pop();  // what torch keeps beside a state_dict: versions of modules
        if (top()->kind != Kind::kOrderedDict) {
          fail("it holds a Python object with a state of its own, which is not read");
        }
        break;
      }
      default:
        fail("its pickle has code " + std::to_string(code) +
             ", which files of tensors, numbers, texts, lists and dicts do not need");
    }
  }

  // ---- the stack

  const ValuePtr& push(Kind kind) { return stack_.emplace_back(make_value(kind)); }

  void push_of(Kind kind, std::vector<ValuePtr> items) { push(kind)->items = std::move(items); }

  void push_known(size_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) {
      fail_broken("it refers to what it does not have");
    }
    stack_.push_back(found->second);
  }

  const ValuePtr& top() {
    if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size())) {
      fail_broken("a value is missing");
    }
    return stack_.back();
  }

  ValuePtr pop() {
    ValuePtr value = top();
    stack_.pop_back();
    return value;
  }

  std::string pop_text() {
    const ValuePtr value = pop();
    if (value->kind != Kind::kText) {
      fail_broken("no text where one belongs");
    }
    return value->text;
  }

  std::vector<ValuePtr> pop_some(size_t count) {
    std::vector<ValuePtr> items(count);
    for (size_t i = count; i > 0; --i) {
      items[i - 1] = pop();
    }
    return items;
  }

  std::vector<ValuePtr> pop_marked() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      fail_broken("a mark is missing");
    }
    std::vector<ValuePtr> items = pop_some(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  void add_to(Kind kind, std::vector<ValuePtr> items) {
    Value& into = *top();
    const bool fits =
        kind == Kind::kList ? into.kind == Kind::kList : into.is_dict() && items.size() % 2 == 0;
    if (!fits) {
      fail_broken("items for what is no collection");
    }
    for (const ValuePtr& item : items) {
      if (item.get() == &into) {
        fail("it holds a collection that contains itself");
      }
    }
    into.items.insert(into.items.end(), items.begin(), items.end());
  }

  Bytes bytes_;
  const Makers& makers_;
  std::vector<ValuePtr> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<size_t, ValuePtr> memo_;
};

}  // namespace

ValuePtr unpickled(std::string_view bytes, const Makers& makers) { return Reader(bytes, makers).run(); }

}  // namespace simple_torch::core::pickle
