// The contract of Elements: each form of a list behaves as a plain vector, and owns each element once.
#include "host/values/elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/values/objects.h"

namespace spl {
namespace {

// What an element is, so that lists of all forms can be compared with plain vectors.
std::string shown(Value v) {
  if (v.is_bool()) {
    return v.as_bool ? "true" : "false";
  }
  return v.is_int() ? std::to_string(v.as_int) : text_of(v);
}

std::vector<std::string> shown_items(const Elements& list) {
  std::vector<std::string> items;
  for (const Value v : list) {
    items.push_back(shown(v));
  }
  return items;
}

Value text(int number) { return make_text("t" + std::to_string(number)); }

Elements texts(int count) {
  Elements list;
  for (int i = 0; i < count; ++i) {
    list.push_back(text(i));
  }
  return list;
}

TEST(Elements, ReleasesAnElementWhenNoSliceCoversIt) {
  const Ref watched = Ref::owned(text(-1));
  auto source = std::make_unique<Elements>();
  source->push_back(retained(watched.get()));
  for (int i = 0; i < 99; ++i) {
    source->push_back(text(i));
  }
  const Elements rest = source->slice(1, 99);
  EXPECT_NE(rest.shared(), nullptr);
  EXPECT_EQ(watched.get().as_object->refs, 2u);
  source.reset();
  EXPECT_EQ(watched.get().as_object->refs, 1u);
  EXPECT_EQ(shown(rest[0]), "t0");
}

TEST(Elements, ReleasesBothEndsThatTheOtherSlicesLeave) {
  std::vector<Ref> watched;
  Elements source;
  for (int i = 0; i < 100; ++i) {
    watched.push_back(Ref::owned(text(i)));
    source.push_back(retained(watched.back().get()));
  }
  Elements left = source.slice(10, 60), right = source.slice(30, 60);
  source = Elements();
  for (size_t i = 0; i < watched.size(); ++i) {
    EXPECT_EQ(watched[i].get().as_object->refs, i >= 10 && i < 90 ? 2u : 1u) << i;
  }
  left = Elements();
  for (size_t i = 0; i < watched.size(); ++i) {
    EXPECT_EQ(watched[i].get().as_object->refs, i >= 30 && i < 90 ? 2u : 1u) << i;
  }
  EXPECT_EQ(shown(right.front()), "t30");
}

TEST(Elements, ChangesOnlyOneOfTwoSlices) {
  Elements source = texts(100);
  Elements part = source.slice(0, 100);
  part.set(3, Value::integer(7));
  EXPECT_EQ(shown(source[3]), "t3");
  EXPECT_EQ(shown(part[3]), "7");
  EXPECT_EQ(part.shared(), nullptr);
}

TEST(Elements, TakesTheSharedVectorBackWithoutACopy) {
  Elements source = texts(100);
  Elements rest = source.slice(1, 99);
  const Value* const place = rest.data();
  source = Elements();
  rest.push_back(Value::integer(1));
  rest.take(99 - 1);
  EXPECT_EQ(rest.shared(), nullptr);
  EXPECT_LE(rest.data() - place, 1);
}

TEST(Elements, CopiesASliceOfLessThanHalf) {
  const Elements source = texts(100);
  EXPECT_EQ(source.slice(0, 49).shared(), nullptr);
  EXPECT_NE(source.slice(0, 50).shared(), nullptr);
}

TEST(Elements, ComputesIntegersToTheEndOfTheirRange) {
  Elements list;
  list.fill_with_integers(INT64_MIN, INT64_MAX, 3);
  EXPECT_EQ(list[0].as_int, INT64_MIN);
  EXPECT_EQ(list[1].as_int, -1);
  EXPECT_EQ(list[2].as_int, INT64_MAX - 1);
}

TEST(Elements, RejectsAnIndexBehindTheEnd) {
  const Elements list = texts(2);
  EXPECT_EQ(shown(list.at(1)), "t1");
  EXPECT_THROW(static_cast<void>(list.at(2)), std::out_of_range);
}

/// A list and the plain vector that it must equal.
struct Pair {
  Elements list;
  std::vector<std::string> model;
};

Value random_value(std::mt19937& random, bool boolean) {
  if (boolean) {
    return Value::boolean(random() % 2 != 0);
  }
  return random() % 2 != 0 ? Value::integer(static_cast<int64_t>(random() % 100))
                           : text(static_cast<int>(random() % 100));
}

void change_randomly(Pair& pair, std::mt19937& random) {
  auto& [list, model] = pair;
  const Value value = random_value(random, random() % 8 != 0);
  const size_t at = model.empty() ? 0 : random() % model.size();
  const auto place = model.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random() % 7) {
    case 0:
    case 1:
      list.push_back(retained(value));
      model.push_back(shown(value));
      break;
    case 2:
      if (!model.empty()) {
        release(list.take(at));
        model.erase(place);
      }
      break;
    case 3:
      for (int i = 0; i < 10 && !model.empty(); ++i) {
        release(list.take(0));
        model.erase(model.begin());
      }
      break;
    case 4:
      if (!model.empty()) {
        list.set(at, retained(value));
        *place = shown(value);
      }
      break;
    case 5:
      if (!model.empty()) {
        assign(list.slot(at), retained(value));
        *place = shown(value);
      }
      break;
    default:
      std::reverse(list.vector().begin(), list.vector().end());
      std::reverse(model.begin(), model.end());
      break;
  }
  release(value);
}

Pair random_part(const Pair& of, std::mt19937& random) {
  const size_t size = of.model.size(), first = size == 0 ? 0 : random() % std::min<size_t>(size, 4);
  const size_t count = size - first - (size - first == 0 ? 0 : random() % std::min<size_t>(size - first, 4));
  const auto begin = of.model.begin() + static_cast<std::ptrdiff_t>(first);
  return {of.list.slice(first, count), {begin, begin + static_cast<std::ptrdiff_t>(count)}};
}

Pair filled(std::mt19937& random) {
  Pair pair;
  const size_t count = random() % 200;
  if (random() % 2 != 0) {
    pair.list.fill_with(Value::boolean(true), count);
    pair.model.assign(count, "true");
    return pair;
  }
  pair.list.fill_with_integers(5, -3, count);
  for (size_t i = 0; i < count; ++i) {
    pair.model.push_back(std::to_string(5 - 3 * static_cast<int64_t>(i)));
  }
  return pair;
}

TEST(Elements, EqualsAPlainVectorAfterRandomChanges) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    std::vector<Pair> pairs(3);
    for (int step = 0; step < 1000; ++step) {
      Pair& pair = pairs[random() % pairs.size()];
      const Pair& other = pairs[random() % pairs.size()];
      switch (random() % 12) {
        case 0:
          pair = random_part(other, random);
          break;
        case 1:
          pair = {other.list.copy(), other.model};
          break;
        case 2:
          if (random() % 8 == 0) {
            pair = filled(random);
          }
          break;
        default:
          change_randomly(pair, random);
      }
      for (const Pair& each : pairs) {
        ASSERT_EQ(shown_items(each.list), each.model) << "round " << round << ", step " << step;
      }
    }
  }
}

}  // namespace
}  // namespace spl
