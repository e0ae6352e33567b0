#include "host/builtins/datetime_externs.h"

#include <cmath>
#include <ctime>
#include <deque>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <unordered_map>

#include "host/builtins/builtins.h"
#include "host/builtins/time_zone.h"
#include "host/values/error.h"

namespace spl {
namespace {

__extension__ using Wide = __int128;

[[noreturn]] void fail_range() { fail("timedelta: the duration is out of range"); }

Wide magnitude(Wide a) { return a < 0 ? -a : a; }

// Rounded half to even.
Wide rounded_quotient(Wide a, Wide b) {
  Wide quotient = a / b;
  const Wide rest = a % b;
  const Wide twice = 2 * magnitude(rest);
  if (twice > magnitude(b) || (twice == magnitude(b) && (quotient & 1) != 0)) {
    quotient += (a < 0) == (b < 0) ? 1 : -1;
  }
  return quotient;
}

// Days and microseconds of a day.
Value days_and_rest(Wide microseconds) {
  constexpr Wide kDay = 86400000000;
  const Wide days = microseconds / kDay;
  if (magnitude(days) > std::numeric_limits<int64_t>::max()) {
    fail_range();
  }
  return make_array({Value::integer(static_cast<int64_t>(days)),
                     Value::integer(static_cast<int64_t>(microseconds - days * kDay))});
}

int bits_of(Wide a) {
  int bits = 0;
  for (; a != 0; a /= 2) {
    ++bits;
  }
  return bits;
}

// The product or the quotient of an integer and a float, which is a mantissa and a power of two.
Value duration_scaled(Thread&, Value* args, int) {
  const Wide total = to_integer(args[0]);
  const double factor = to_number(args[1]);
  if (!std::isfinite(factor)) {
    fail("timedelta: cannot multiply or divide by " + display(args[1]));
  }
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  const auto mantissa = static_cast<Wide>(std::ldexp(fraction, 53));
  exponent -= 53;
  const bool is_division = truthy(args[2]);
  Wide above = is_division ? total : total * mantissa;
  Wide below = is_division ? mantissa : 1;
  Wide& grows = (exponent >= 0) == is_division ? below : above;
  const int shift = std::abs(exponent);
  if (above == 0) {
    return days_and_rest(0);
  }
  if (bits_of(grows) + shift > 125) {
    if (&grows == &above) {
      fail_range();
    }
    return days_and_rest(0);  // the quotient is less than a half
  }
  grows <<= shift;
  return days_and_rest(rounded_quotient(above, below));
}

Value duration_product(Thread&, Value* args, int) {
  return days_and_rest(static_cast<Wide>(to_integer(args[0])) * to_integer(args[1]));
}

// (seconds, microseconds) / (seconds, microseconds) as the nearest float.
Value duration_quotient(Thread&, Value* args, int) {
  const auto total = [&](int at) {
    return static_cast<Wide>(to_integer(args[at])) * 1000000 + to_integer(args[at + 1]);
  };
  Wide above = total(0);
  const Wide below = total(2);
  const int shift = 124 - bits_of(above);
  above <<= shift;
  Wide quotient = above / below;
  if (above % below != 0) {
    quotient |= 1;  // the bits behind the quotient are not all zero
  }
  return Value::number(std::ldexp(static_cast<double>(quotient), -shift));
}

struct Zones {
  std::deque<TimeZone> all;
  std::unordered_map<std::string, int64_t> numbers;
};
Zones& zones() {
  static auto* const all = new Zones;  // never freed: threads that outlive main use it
  return *all;
}

std::string zone_file(const std::string& key) {
  const std::filesystem::path path(key);
  const bool is_inside = !key.empty() && path.is_relative() && path.lexically_normal() == path &&
                         key.find("..") == std::string::npos;
  if (!is_inside) {
    fail("ZoneInfo: keys must be names such as Europe/Berlin, got '" + key + "'");
  }
  for (const char* const folder : {"/usr/share/zoneinfo/", "/usr/lib/zoneinfo/", "/etc/zoneinfo/"}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder + key, ignored)) {
      return folder + key;
    }
  }
  fail("ZoneInfo: no time zone found with key '" + key + "'",
       "zones are files of /usr/share/zoneinfo, in Debian's package tzdata");
}

Value zone_open(Thread&, Value* args, int) {
  const std::string& key = expect_text(args[0], "ZoneInfo: the key");
  const auto known = zones().numbers.find(key);
  if (known != zones().numbers.end()) {
    return Value::integer(known->second);
  }
  std::ostringstream content;
  content << std::ifstream(zone_file(key), std::ios::binary).rdbuf();
  zones().all.emplace_back(key, content.str());
  const auto number = static_cast<int64_t>(zones().all.size()) - 1;
  zones().numbers[key] = number;
  return Value::integer(number);
}

const TimeZone& zone_of(Value number) {
  const int64_t at = to_integer(number);
  if (at < 0 || at >= static_cast<int64_t>(zones().all.size())) {
    fail("ZoneInfo: no such zone");
  }
  return zones().all[static_cast<size_t>(at)];
}

// (zone, seconds, year, fold): [offset, difference to standard time, name]
Value zone_at_local(Thread&, Value* args, int) {
  const ZoneOffset found =
      zone_of(args[0]).at_local(to_integer(args[1]), to_integer(args[2]), to_integer(args[3]) != 0);
  return make_array(
      {Value::integer(found.utc_offset), Value::integer(found.dst_offset), make_text(found.name)});
}

// (zone, seconds, year): [offset, fold]
Value zone_at_utc(Thread&, Value* args, int) {
  const auto [found, fold] = zone_of(args[0]).at_utc(to_integer(args[1]), to_integer(args[2]));
  return make_array({Value::integer(found.utc_offset), Value::boolean(fold)});
}

// (seconds since 1970): [offset, name] of the system's local time
Value local_offset(Thread&, Value* args, int) {
  const std::time_t seconds = to_integer(args[0]);
  std::tm parts{};
  tzset();
  if (localtime_r(&seconds, &parts) == nullptr) {
    fail("timestamp out of range for platform time_t");
  }
  return make_array({Value::integer(parts.tm_gmtoff), make_text(parts.tm_zone)});
}

constexpr NativeEntry kDatetimeExterns[] = {
    {"rt_duration_scaled", duration_scaled, 3, 3},     {"rt_duration_product", duration_product, 2, 2},
    {"rt_duration_quotient", duration_quotient, 4, 4}, {"rt_zone_open", zone_open, 1, 1},
    {"rt_zone_at_local", zone_at_local, 4, 4},         {"rt_zone_at_utc", zone_at_utc, 3, 3},
    {"rt_local_offset", local_offset, 1, 1},
};

}  // namespace

std::span<const NativeEntry> datetime_externs() { return kDatetimeExterns; }

}  // namespace spl
