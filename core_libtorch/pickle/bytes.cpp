#include "core_libtorch/pickle/bytes.h"

#include <bit>

#include "core_libtorch/error.h"

namespace simple_torch::core::pickle {
namespace {

/// A byte's number of leading ones says how many belong together.
bool is_utf8(std::string_view text) {
  int following = 0;
  for (const char byte : text) {
    const int ones = std::countl_one(static_cast<unsigned char>(byte));
    const bool fits = following > 0 ? ones == 1 : ones == 0 || (ones >= 2 && ones <= 4);
    if (!fits) {
      return false;
    }
    following = following > 0 ? following - 1 : ones > 0 ? ones - 1 : 0;
  }
  return following == 0;
}

}  // namespace

void fail(const std::string& why) { throw Error(ErrorKind::kIo, why); }

void fail_broken(const std::string& what) { fail("its pickle is broken: " + what); }

std::string_view Bytes::take(uint64_t count) {
  if (rest_.size() < count) {
    fail_broken("it ends too early");
  }
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::string_view Bytes::line() {
  const size_t end = rest_.find('\n');
  if (end == std::string_view::npos) {
    fail_broken("it ends too early");
  }
  const std::string_view taken = take(end);
  take(1);
  return taken;
}

std::string_view Bytes::text(uint64_t count) {
  const std::string_view taken = take(count);
  if (!is_utf8(taken)) {
    fail_broken("a text is no UTF-8");
  }
  return taken;
}

int64_t Bytes::long_number(size_t count) {
  if (count > 8) {
    fail("it holds an integer of more than 64 bits");
  }
  const std::string_view digits = take(count);
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(digits[i])) << (8 * i);
  }
  const bool is_negative = count > 0 && (digits.back() & '\x80') != 0;
  if (is_negative && count < 8) {
    value |= ~uint64_t{0} << (8 * count);
  }
  return static_cast<int64_t>(value);
}

}  // namespace simple_torch::core::pickle
