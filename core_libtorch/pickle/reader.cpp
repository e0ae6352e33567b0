#include "core_libtorch/pickle/reader.h"

#include <bit>
#include <utility>

#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/objects.h"
#include "core_libtorch/pickle/stack.h"

namespace simple_torch::core::pickle {
namespace {

class Reader {
 public:
  Reader(Bytes& bytes, const Makers& makers) : bytes_(bytes), makers_(makers) {}

  ValuePtr run() {
    while (true) {
      const auto code = static_cast<unsigned char>(bytes_.take(1)[0]);
      if (code == '.') {
        return stack_.only_result();
      }
      step(code);
    }
  }

 private:
  void step(unsigned char code) {
    if (!step_numbers(code) && !step_texts(code) && !step_bytes(code) && !step_collections(code) &&
        !step_sets(code) && !step_memory(code)) {
      step_objects(code);
    }
  }

  bool step_numbers(unsigned char code) {
    switch (code) {
      case 'N':
        stack_.push(Kind::kNone);
        return true;
      case 0x88:
      case 0x89:
        stack_.push(Kind::kBool)->number = code == 0x88 ? 1 : 0;
        return true;
      case 'K':
        stack_.push(Kind::kInt)->number = bytes_.number<uint8_t>();
        return true;
      case 'M':
        stack_.push(Kind::kInt)->number = bytes_.number<uint16_t>();
        return true;
      case 'J':
        stack_.push(Kind::kInt)->number = bytes_.number<int32_t>();
        return true;
      case 0x8a:
        stack_.push(Kind::kInt)->number = bytes_.long_number(bytes_.number<uint8_t>());
        return true;
      case 0x8b:
        stack_.push(Kind::kInt)->number = bytes_.long_number(bytes_.number<uint32_t>());
        return true;
      case 'G':
        stack_.push(Kind::kFloat)->real = std::bit_cast<double>(__builtin_bswap64(bytes_.number<uint64_t>()));
        return true;
      default:
        return false;
    }
  }

  bool step_texts(unsigned char code) {
    switch (code) {
      case 'X':
        stack_.push(Kind::kText)->text = bytes_.text(bytes_.number<uint32_t>());
        return true;
      case 0x8c:
        stack_.push(Kind::kText)->text = bytes_.text(bytes_.number<uint8_t>());
        return true;
      case 0x8d:
        stack_.push(Kind::kText)->text = bytes_.text(bytes_.number<uint64_t>());
        return true;
      case 'c': {
        const std::string module(bytes_.line());
        stack_.push(global_of(module, std::string(bytes_.line())));
        return true;
      }
      case 0x93: {
        const std::string name = stack_.pop_text();
        stack_.push(global_of(stack_.pop_text(), name));
        return true;
      }
      default:
        return false;
    }
  }

  // Bytes of Python 2 (U, T) and Python 3 (C, B, 0x8e), and bytearrays.
  bool step_bytes(unsigned char code) {
    switch (code) {
      case 'U':
        stack_.push(Kind::kOldText)->text = bytes_.take(bytes_.number<uint8_t>());
        return true;
      case 'T':
        stack_.push(Kind::kOldText)->text = bytes_.take(bytes_.number<uint32_t>());
        return true;
      case 'C':
        stack_.push(Kind::kBytes)->text = bytes_.take(bytes_.number<uint8_t>());
        return true;
      case 'B':
        stack_.push(Kind::kBytes)->text = bytes_.take(bytes_.number<uint32_t>());
        return true;
      case 0x8e:
      case 0x96:
        stack_.push(Kind::kBytes)->text = bytes_.take(bytes_.number<uint64_t>());
        return true;
      default:
        return false;
    }
  }

  bool step_collections(unsigned char code) {
    switch (code) {
      case '(':
        stack_.mark();
        return true;
      case ']':
        stack_.push(Kind::kList);
        return true;
      case '}':
        stack_.push(Kind::kDict);
        return true;
      case ')':
        stack_.push(Kind::kTuple);
        return true;
      case 't':
        stack_.push_of(Kind::kTuple, stack_.pop_marked());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        stack_.push_of(Kind::kTuple, stack_.pop_some(code - 0x84U));
        return true;
      case 'a':
        stack_.add_to_top(Kind::kList, stack_.pop_some(1));
        return true;
      case 'e':
        stack_.add_to_top(Kind::kList, stack_.pop_marked());
        return true;
      case 's':
        stack_.add_to_top(Kind::kDict, stack_.pop_some(2));
        return true;
      case 'u':
        stack_.add_to_top(Kind::kDict, stack_.pop_marked());
        return true;
      default:
        return false;
    }
  }

  bool step_sets(unsigned char code) {
    switch (code) {
      case 0x8f:
        stack_.push(Kind::kSet);
        return true;
      case 0x90:
        stack_.add_to_top(Kind::kSet, stack_.pop_marked());
        return true;
      case 0x91:
        stack_.push_of(Kind::kSet, stack_.pop_marked());
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
        stack_.memoize(bytes_.number<uint8_t>());
        return true;
      case 'r':
        stack_.memoize(bytes_.number<uint32_t>());
        return true;
      case 0x94:
        stack_.memoize_next();
        return true;
      case 'h':
        stack_.push_known(bytes_.number<uint8_t>());
        return true;
      case 'j':
        stack_.push_known(bytes_.number<uint32_t>());
        return true;
      case '0':
        stack_.pop();
        return true;
      default:
        return false;
    }
  }

  void step_objects(unsigned char code) {
    switch (code) {
      case 'Q':
        stack_.push(storage_of(*stack_.pop(), makers_));
        break;
      case 'R': {
        const ValuePtr arguments = stack_.pop();
        const ValuePtr function = stack_.pop();
        stack_.push(call_global(*function, *arguments, makers_));
        break;
      }
      case 0x81: {
        stack_.pop();
        const ValuePtr made = stack_.pop();
        fail_unknown(made->kind == Kind::kGlobal ? made->text : "Python object");
      }
      case 'b': {
        const ValuePtr state = stack_.pop();
        take_state(*stack_.top(), *state);
        break;
      }
      default:
        fail("the pickle has opcode " + std::to_string(code) +
             ", which tensors, numbers, strings, lists and dicts do not need");
    }
  }

  Bytes& bytes_;
  const Makers& makers_;
  Stack stack_;
};

}  // namespace

ValuePtr next_unpickled(Bytes& bytes, const Makers& makers) { return Reader(bytes, makers).run(); }

ValuePtr unpickled(std::string_view bytes, const Makers& makers) {
  Bytes all(bytes);
  return next_unpickled(all, makers);
}

}  // namespace simple_torch::core::pickle
