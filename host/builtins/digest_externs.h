// Externs of std.hash: digests of OpenSSL's libcrypto, which is opened at the first one.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> digest_externs();

}  // namespace spl
