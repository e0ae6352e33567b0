// Externs of std.http: libcurl, which is opened at the first request.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> http_externs();

}  // namespace spl
