// Externs for texts that hold bytes: base64, hexadecimal digits, percent encoding, and random bytes.
#pragma once

#include <span>

#include "host/values/objects.h"

namespace spl {

std::span<const NativeEntry> byte_text_externs();

}  // namespace spl
