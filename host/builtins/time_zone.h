// Time zones of the system's database (TZif files), with the answers of Python's zoneinfo.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spl {

struct ZoneOffset {
  int64_t utc_offset = 0, dst_offset = 0;  // in seconds
  std::string name;
};

/// A day and a time of each year at which summer time begins or ends: M3.5.0/2, J60 or 59.
struct ZoneRule {
  char kind = 'M';  // M: week of a month, J: day without February 29, D: day
  int64_t month = 0, week = 0, day = 0;
  int64_t seconds = 7200;
  /// In local time, seconds since 1970.
  int64_t in_year(int64_t year) const;
};

/// The rule for times after the last transition: std offset, summer offset and their changes.
struct ZoneTail {
  ZoneOffset standard, summer;
  bool has_summer = false;
  ZoneRule start, end;
};
/// The POSIX form of such a rule: CET-1CEST,M3.5.0,M10.5.0/3. Nothing if it is malformed.
std::optional<ZoneTail> parse_zone_tail(const std::string& form);

class TimeZone {
 public:
  /// Fails for a content that is no TZif file.
  TimeZone(const std::string& key, const std::string& content);

  /// Of a clock's time. `fold` is 1 for the second of two equal times.
  ZoneOffset at_local(int64_t seconds, int64_t year, bool fold) const;
  /// The offset of a time in UTC, and the fold of its local time.
  std::pair<ZoneOffset, bool> at_utc(int64_t seconds, int64_t year) const;

 private:
  void derive_local_times();
  void derive_dst_offsets(const std::vector<bool>& is_dst);
  ZoneOffset of_transition(size_t at) const { return offsets_[indices_[at]]; }

  std::vector<int64_t> utc_;                   // of the transitions
  std::array<std::vector<int64_t>, 2> local_;  // the same by the clock, by fold
  std::vector<size_t> indices_;                // into offsets_, by transition
  std::vector<ZoneOffset> offsets_;
  ZoneOffset before_;
  ZoneTail after_;
};

}  // namespace spl
