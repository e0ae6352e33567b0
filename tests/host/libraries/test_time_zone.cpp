// The POSIX rules at the end of time zone files. Expected values: POSIX, and Python's zoneinfo.
#include <gtest/gtest.h>

#include "host/builtins/time_zone.h"

namespace spl {
namespace {

TEST(ZoneTail, HasStandardAndSummerTime) {
  const auto tail = parse_zone_tail("CET-1CEST,M3.5.0,M10.5.0/3");
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->standard.name, "CET");
  EXPECT_EQ(tail->standard.utc_offset, 3600);
  EXPECT_EQ(tail->summer.utc_offset, 7200);
  EXPECT_EQ(tail->summer.dst_offset, 3600);
  EXPECT_EQ(tail->start.in_year(2024), 1711850400);  // 2024-03-31 02:00 by the clock
  EXPECT_EQ(tail->end.in_year(2024), 1729998000);    // 2024-10-27 03:00 by the clock
}

TEST(ZoneTail, MayHaveOffsetsAndTimesOfAnySign) {
  const auto tail = parse_zone_tail("<-03>3:30<-02>2,M3.4.4/-1:30,J60/50");
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->standard.name, "-03");
  EXPECT_EQ(tail->standard.utc_offset, -12600);
  EXPECT_EQ(tail->summer.utc_offset, -7200);
  EXPECT_EQ(tail->start.seconds, -5400);
  // J60 is March 1 in every year.
  EXPECT_EQ(tail->end.in_year(2023) - 50 * 3600, 1677628800);
  EXPECT_EQ(tail->end.in_year(2024) - 50 * 3600, 1709251200);
}

TEST(ZoneTail, CountsDaysFromZeroWithoutJ) {
  const auto tail = parse_zone_tail("AAA0BBB,59,60");
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->start.in_year(2024) - 7200, 1709164800);  // February 29
  EXPECT_EQ(tail->start.in_year(2023) - 7200, 1677628800);  // March 1
}

TEST(ZoneTail, MayHaveNoSummerTime) {
  const auto tail = parse_zone_tail("<+0530>-5:30");
  ASSERT_TRUE(tail.has_value());
  EXPECT_FALSE(tail->has_summer);
  EXPECT_EQ(tail->standard.utc_offset, 19800);
}

TEST(ZoneTail, RejectsOtherTexts) {
  for (const char* const form : {"", "CET", "CET-1CEST", "CET-1CEST,M13.1.0,M1.1.0", "CET-1,M3.5.0", "<CET-1",
                                 "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-1CEST,J366,J1"}) {
    EXPECT_FALSE(parse_zone_tail(form).has_value()) << form;
  }
}

}  // namespace
}  // namespace spl
