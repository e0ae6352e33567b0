#include "host/builtins/time_zone.h"

#include <algorithm>
#include <cctype>

#include "host/values/error.h"

namespace spl {
namespace {

constexpr int64_t kDay = 86400;

bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// From 1970-01-01 to January 1 of the year.
int64_t days_before_year(int64_t year) {
  const int64_t y = year - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 - 719162;
}

int64_t days_before_month(int64_t year, int64_t month) {
  static constexpr std::array<int64_t, 13> kDays = {0,   31,  59,  90,  120, 151, 181,
                                                    212, 243, 273, 304, 334, 365};
  return kDays[static_cast<size_t>(month - 1)] + (month > 2 && is_leap(year) ? 1 : 0);
}

/// Reads the parts of a POSIX rule.
class TailReader {
 public:
  explicit TailReader(const std::string& form) : form_(form) {}
  bool at_end() const { return at_ == form_.size(); }
  bool is_good() const { return is_good_; }
  bool take(char c) {
    const bool is_next = at_ < form_.size() && form_[at_] == c;
    at_ += is_next ? 1 : 0;
    return is_next;
  }
  bool next_is(char c) const { return at_ < form_.size() && form_[at_] == c; }
  void expect(char c) { is_good_ = take(c) && is_good_; }
  int64_t number() {
    const size_t begin = at_;
    int64_t value = 0;
    while (at_ < form_.size() && std::isdigit(static_cast<unsigned char>(form_[at_])) != 0 &&
           at_ - begin < 9) {
      value = value * 10 + (form_[at_++] - '0');
    }
    is_good_ = is_good_ && at_ > begin;
    return value;
  }
  std::string name() {
    const bool is_quoted = take('<');
    const size_t begin = at_;
    const auto is_part = [&](char c) {
      return is_quoted ? c != '>' : std::isalpha(static_cast<unsigned char>(c)) != 0;
    };
    while (at_ < form_.size() && is_part(form_[at_])) {
      ++at_;
    }
    std::string found = form_.substr(begin, at_ - begin);
    if (is_quoted) {
      expect('>');
    }
    is_good_ = is_good_ && !found.empty();
    return found;
  }
  // [+-]hh[:mm[:ss]]
  int64_t time() {
    const int64_t sign = take('-') ? -1 : 1;
    take('+');
    int64_t seconds = number() * 3600;
    if (take(':')) {
      seconds += number() * 60;
      seconds += take(':') ? number() : 0;
    }
    return sign * seconds;
  }
  ZoneRule rule() {
    ZoneRule found;
    expect(',');
    if (take('M')) {
      found.month = number();
      expect('.');
      found.week = number();
      expect('.');
      found.day = number();
      is_good_ = is_good_ && found.month >= 1 && found.month <= 12 && found.week >= 1 && found.week <= 5 &&
                 found.day <= 6;
    } else {
      found.kind = take('J') ? 'J' : 'D';
      found.day = number();
      is_good_ = is_good_ && found.day <= 365;
    }
    found.seconds = take('/') ? time() : found.seconds;
    return found;
  }

 private:
  const std::string& form_;
  size_t at_ = 0;
  bool is_good_ = true;
};

/// Numbers of a TZif file, the highest byte first.
class FileReader {
 public:
  FileReader(const std::string& key, const std::string& content) : key_(key), content_(content) {}
  size_t position() const { return at_; }
  void skip(size_t count) {
    need(count);
    at_ += count;
  }
  int64_t number(size_t width) {
    need(width);
    uint64_t value = (static_cast<unsigned char>(content_[at_]) & 0x80U) != 0 && width > 1 ? UINT64_MAX : 0;
    for (size_t i = 0; i < width; ++i) {
      value = value << 8U | static_cast<unsigned char>(content_[at_++]);
    }
    return static_cast<int64_t>(value);
  }
  size_t count() { return static_cast<size_t>(number(4)); }
  std::string name_at(size_t begin, size_t offset) const {
    const size_t start = begin + offset;
    const size_t end = content_.find('\0', start);
    return start < content_.size() ? content_.substr(start, end - start) : "";
  }
  std::string line() {
    skip(1);
    const size_t end = content_.find('\n', at_);
    return end == std::string::npos ? "" : content_.substr(at_, end - at_);
  }
  void need(size_t count) const {
    if (count > content_.size() - at_) {
      fail("ZoneInfo: the file of " + key_ + " is not a time zone file (TZif)");
    }
  }

 private:
  const std::string& key_;
  const std::string& content_;
  size_t at_ = 0;
};

struct FileHeader {
  int64_t version = 0;
  size_t ut_marks, standard_marks, leaps, transitions, types, characters;

  explicit FileHeader(FileReader& reader) {
    reader.need(44);
    const bool is_good = reader.number(4) == 0x545a6966;  // TZif
    version = reader.number(1);
    reader.skip(15);
    ut_marks = reader.count();
    standard_marks = reader.count();
    leaps = reader.count();
    transitions = reader.count();
    types = reader.count();
    characters = reader.count();
    if (!is_good || types == 0) {
      reader.need(SIZE_MAX);
    }
  }
  size_t size(size_t width) const {
    return transitions * (width + 1) + types * 6 + characters + leaps * (width + 4) + standard_marks +
           ut_marks;
  }
};

bool is_summer(const ZoneTail& tail, int64_t seconds, int64_t start, int64_t end) {
  return tail.has_summer &&
         (start < end ? start <= seconds && seconds < end : !(end <= seconds && seconds < start));
}

ZoneOffset tail_at_local(const ZoneTail& tail, int64_t seconds, int64_t year, bool fold) {
  if (!tail.has_summer) {
    return tail.standard;
  }
  int64_t start = tail.start.in_year(year), end = tail.end.in_year(year);
  const int64_t difference = tail.summer.dst_offset;
  if (fold == (difference >= 0)) {
    end -= difference;
  } else {
    start += difference;
  }
  return is_summer(tail, seconds, start, end) ? tail.summer : tail.standard;
}

std::pair<ZoneOffset, bool> tail_at_utc(const ZoneTail& tail, int64_t seconds, int64_t year) {
  if (!tail.has_summer) {  // the rules are empty
    return {tail.standard, false};
  }
  const int64_t start = tail.start.in_year(year) - tail.standard.utc_offset;
  const int64_t end = tail.end.in_year(year) - tail.summer.utc_offset;
  const int64_t difference = tail.summer.dst_offset;
  const int64_t ambiguous = difference > 0 ? end : start;
  const bool fold = ambiguous <= seconds && seconds < ambiguous + std::abs(difference);
  return {is_summer(tail, seconds, start, end) ? tail.summer : tail.standard, fold};
}

}  // namespace

int64_t ZoneRule::in_year(int64_t year) const {
  const int64_t first = days_before_year(year);
  if (kind != 'M') {
    const int64_t number = kind == 'J' && !(day >= 60 && is_leap(year)) ? day - 1 : day;
    return (first + number) * kDay + seconds;
  }
  const int64_t month_begin = first + days_before_month(year, month);
  const int64_t month_days = days_before_month(year, month + 1) - days_before_month(year, month);
  const int64_t weekday = ((month_begin + 4) % 7 + 7) % 7;  // 0 is Sunday
  int64_t number = ((day - weekday) % 7 + 7) % 7 + (week - 1) * 7;
  if (number >= month_days) {
    number -= 7;
  }
  return (month_begin + number) * kDay + seconds;
}

std::optional<ZoneTail> parse_zone_tail(const std::string& form) {
  TailReader reader(form);
  ZoneTail tail;
  tail.standard.name = reader.name();
  tail.standard.utc_offset = -reader.time();
  tail.has_summer = !reader.at_end();
  if (tail.has_summer) {
    tail.summer.name = reader.name();
    tail.summer.utc_offset = reader.next_is(',') ? tail.standard.utc_offset + 3600 : -reader.time();
    tail.summer.dst_offset = tail.summer.utc_offset - tail.standard.utc_offset;
    tail.start = reader.rule();
    tail.end = reader.rule();
  }
  return reader.is_good() && reader.at_end() ? std::optional(tail) : std::nullopt;
}

TimeZone::TimeZone(const std::string& key, const std::string& content) {
  FileReader reader(key, content);
  FileHeader header(reader);
  size_t width = 4;
  if (header.version != 0) {  // the same with 64 bits follows
    reader.skip(header.size(width));
    header = FileHeader(reader);
    width = 8;
  }
  reader.need(header.size(width));
  for (size_t i = 0; i < header.transitions; ++i) {
    utc_.push_back(reader.number(width));
  }
  for (size_t i = 0; i < header.transitions; ++i) {
    indices_.push_back(std::min(static_cast<size_t>(reader.number(1)), header.types - 1));
  }
  std::vector<bool> is_dst;
  std::vector<size_t> names;
  for (size_t i = 0; i < header.types; ++i) {
    ZoneOffset& offset = offsets_.emplace_back();
    offset.utc_offset = reader.number(4);
    is_dst.push_back(reader.number(1) != 0);
    names.push_back(static_cast<size_t>(reader.number(1)));
  }
  for (size_t i = 0; i < header.types; ++i) {
    offsets_[i].name = reader.name_at(reader.position(), names[i]);
  }
  reader.skip(header.size(width) - header.transitions * (width + 1) - header.types * 6);
  derive_local_times();
  derive_dst_offsets(is_dst);
  const auto first_standard = std::find(is_dst.begin(), is_dst.end(), false);
  before_ = first_standard != is_dst.end() ? offsets_[static_cast<size_t>(first_standard - is_dst.begin())]
            : utc_.empty()                 ? offsets_[0]
                                           : of_transition(0);
  const std::optional<ZoneTail> tail = width == 8 ? parse_zone_tail(reader.line()) : std::nullopt;
  after_.standard = utc_.empty() ? offsets_.back() : of_transition(utc_.size() - 1);
  after_ = tail.value_or(after_);
}

// With fold 0, the larger of the two offsets counts: times that a change skips belong to the offset before
// it.
void TimeZone::derive_local_times() {
  for (size_t i = 0; i < utc_.size(); ++i) {
    const int64_t before = (i == 0 ? offsets_[0] : of_transition(i - 1)).utc_offset;
    const int64_t after = of_transition(i).utc_offset;
    local_[0].push_back(utc_[i] + std::max(before, after));
    local_[1].push_back(utc_[i] + std::min(before, after));
  }
}

// The file does not have the difference to standard time. As in Python, it is that to the standard time next
// to a summer time.
void TimeZone::derive_dst_offsets(const std::vector<bool>& is_dst) {
  const auto missing = [&] {
    for (size_t i = 0; i < offsets_.size(); ++i) {
      if (is_dst[i] && offsets_[i].dst_offset == 0) {
        return true;
      }
    }
    return false;
  };
  for (size_t i = 1; i < indices_.size() && missing(); ++i) {
    const size_t type = indices_[i];
    if (!is_dst[type] || offsets_[type].dst_offset != 0) {
      continue;
    }
    int64_t difference = 0;
    if (!is_dst[indices_[i - 1]]) {
      difference = offsets_[type].utc_offset - of_transition(i - 1).utc_offset;
    }
    if (difference == 0 && type + 1 < offsets_.size() && i + 1 < indices_.size() &&
        !is_dst[indices_[i + 1]]) {
      difference = offsets_[type].utc_offset - of_transition(i + 1).utc_offset;
    }
    offsets_[type].dst_offset = difference;
  }
  for (size_t i = 0; i < offsets_.size(); ++i) {
    if (is_dst[i] && offsets_[i].dst_offset == 0) {
      offsets_[i].dst_offset = 3600;
    }
  }
}

ZoneOffset TimeZone::at_local(int64_t seconds, int64_t year, bool fold) const {
  const std::vector<int64_t>& times = local_[fold ? 1 : 0];
  if (!times.empty() && seconds < times.front()) {
    return before_;
  }
  if (times.empty() || seconds > times.back()) {
    return tail_at_local(after_, seconds, year, fold);
  }
  const auto next = std::upper_bound(times.begin(), times.end(), seconds);
  return of_transition(static_cast<size_t>(next - times.begin()) - 1);
}

std::pair<ZoneOffset, bool> TimeZone::at_utc(int64_t seconds, int64_t year) const {
  if (!utc_.empty() && seconds < utc_.front()) {
    return {before_, false};
  }
  if (utc_.empty() || (seconds > utc_.back() && after_.has_summer)) {
    return tail_at_utc(after_, seconds, year);
  }
  const auto next = std::upper_bound(utc_.begin(), utc_.end(), seconds);
  const size_t at = static_cast<size_t>(next - utc_.begin()) - 1;
  const ZoneOffset before = at == 0 ? before_ : of_transition(at - 1);
  const int64_t shift = before.utc_offset - of_transition(at).utc_offset;
  const bool is_last = at + 1 == utc_.size() && seconds > utc_[at];
  return {is_last ? after_.standard : of_transition(at), shift > seconds - utc_[at]};
}

}  // namespace spl
