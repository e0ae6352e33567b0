// The Mersenne Twister MT19937 of Matsumoto and Nishimura, seeded by an array as in Python.
#include "host/builtins/random_externs.h"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "host/values/error.h"
#include "host/values/objects.h"

namespace spl {
namespace {

class MersenneTwister {
 public:
  static constexpr size_t kWords = 624;

  void seed(const std::vector<uint32_t>& key) {
    seed_by(19650218U);
    size_t i = 1, j = 0;
    for (size_t k = std::max(kWords, key.size()); k > 0; --k) {
      state_[i] = (state_[i] ^ (mixed(i) * 1664525U)) + key[j] + static_cast<uint32_t>(j);
      i = next(i);
      j = j + 1 == key.size() ? 0 : j + 1;
    }
    for (size_t k = kWords - 1; k > 0; --k) {
      state_[i] = (state_[i] ^ (mixed(i) * 1566083941U)) - static_cast<uint32_t>(i);
      i = next(i);
    }
    state_[0] = 0x80000000U;
    at_ = kWords;
  }

  uint32_t word() {
    if (at_ >= kWords) {
      twist();
    }
    uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
  }

  std::vector<Value> state() const {
    std::vector<Value> words;
    for (const uint32_t word : state_) {
      words.push_back(Value::integer(word));
    }
    words.push_back(Value::integer(static_cast<int64_t>(at_)));
    return words;
  }
  void set_state(const Elements& words) {
    for (size_t i = 0; i < kWords; ++i) {
      state_[i] = static_cast<uint32_t>(words[i].as_int);
    }
    at_ = static_cast<size_t>(words[kWords].as_int);
  }

 private:
  void seed_by(uint32_t number) {
    state_[0] = number;
    for (size_t i = 1; i < kWords; ++i) {
      state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
    }
  }
  uint32_t mixed(size_t i) const { return state_[i - 1] ^ (state_[i - 1] >> 30); }
  /// The next index of the array's seeding, which copies the last word to the front when it wraps.
  size_t next(size_t i) {
    if (i + 1 < kWords) {
      return i + 1;
    }
    state_[0] = state_[kWords - 1];
    return 1;
  }
  void twist() {
    for (size_t i = 0; i < kWords; ++i) {
      const uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7fffffffU);
      state_[i] = state_[(i + 397) % kWords] ^ (y >> 1) ^ ((y & 1U) != 0 ? 0x9908b0dfU : 0U);
    }
    at_ = 0;
  }

  std::array<uint32_t, kWords> state_{};
  size_t at_ = kWords;
};

struct Generators {
  std::unordered_map<int64_t, std::unique_ptr<MersenneTwister>> by_number;
  int64_t last = 0;
};

Generators& generators() {
  static auto* const all = new Generators;  // never freed: threads that outlive main use it
  return *all;
}

MersenneTwister& generator(Value number) {
  const auto found =
      number.is_int() ? generators().by_number.find(number.as_int) : generators().by_number.end();
  if (found == generators().by_number.end()) {
    fail("std.random: no such generator");
  }
  return *found->second;
}

const Elements& integers(Value array, size_t count) {
  if (!array.is(Kind::kArray)) {
    fail("std.random: expected an array of integers, got " + type_name(array));
  }
  const auto& items = as_object<Array>(array)->items;
  const bool are_words = std::all_of(items.begin(), items.end(), [](Value item) {
    return item.is_int() && item.as_int >= 0 && item.as_int <= UINT32_MAX;
  });
  if (!are_words || items.empty() || (count != 0 && items.size() != count)) {
    fail("std.random: the state is not one of a generator");
  }
  return items;
}

Value random_new(Thread&, Value*, int) {
  const int64_t number = ++generators().last;
  generators().by_number[number] = std::make_unique<MersenneTwister>();
  return Value::integer(number);
}

Value random_free(Thread&, Value* args, int) {
  if (args[0].is_int()) {
    generators().by_number.erase(args[0].as_int);
  }
  return Value();
}

// An empty array seeds from the system.
Value random_seed(Thread&, Value* args, int) {
  std::vector<uint32_t> key;
  const bool is_empty = args[1].is(Kind::kArray) && as_object<Array>(args[1])->items.empty();
  if (is_empty) {
    std::random_device system;
    std::generate_n(std::back_inserter(key), 16, [&] { return system(); });
  } else {
    for (const Value word : integers(args[1], 0)) {
      key.push_back(static_cast<uint32_t>(word.as_int));
    }
  }
  generator(args[0]).seed(key);
  return Value();
}

// 53 bits in [0, 1).
Value random_double(Thread&, Value* args, int) {
  MersenneTwister& from = generator(args[0]);
  const uint32_t high = from.word() >> 5, low = from.word() >> 6;
  return Value::number((high * 67108864.0 + low) / 9007199254740992.0);
}

// An integer of up to 63 bits. As in Python, the last word supplies the highest bits.
Value random_bits(Thread&, Value* args, int) {
  MersenneTwister& from = generator(args[0]);
  const int64_t count = args[1].is_int() ? args[1].as_int : -1;
  if (count < 0 || count > 63) {
    fail("getrandbits: the number of bits must be between 0 and 63, got " + display(args[1]));
  }
  uint64_t bits = 0;
  for (int64_t done = 0; done < count; done += 32) {
    const auto missing = static_cast<unsigned>(std::min<int64_t>(count - done, 32));
    bits |= static_cast<uint64_t>(from.word() >> (32U - missing)) << done;
  }
  return Value::integer(static_cast<int64_t>(bits));
}

Value random_state(Thread&, Value* args, int) { return make_array(generator(args[0]).state()); }

Value random_set_state(Thread&, Value* args, int) {
  const auto& words = integers(args[1], MersenneTwister::kWords + 1);
  if (words.back().as_int > static_cast<int64_t>(MersenneTwister::kWords)) {
    fail("std.random: the state is not one of a generator");
  }
  generator(args[0]).set_state(words);
  return Value();
}

constexpr NativeEntry kRandomExterns[] = {
    {"rt_random_new", random_new, 0, 0},
    {"rt_random_free", random_free, 1, 1},
    {"rt_random_seed", random_seed, 2, 2},
    {"rt_random_double", random_double, 1, 1},
    {"rt_random_bits", random_bits, 2, 2},
    {"rt_random_state", random_state, 1, 1},
    {"rt_random_set_state", random_set_state, 2, 2},
};

}  // namespace

std::span<const NativeEntry> random_externs() { return kRandomExterns; }

}  // namespace spl
