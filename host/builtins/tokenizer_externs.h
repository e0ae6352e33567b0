// Externs of text.tokenizers. Tokenizers and encodings stay here; programs have their numbers.
#pragma once

#include <span>

#include "host/builtins/builtins.h"

namespace spl {

/// Each of these externs returns [nil, result], or the kind of an error and its message.
std::span<const NativeEntry> tokenizer_externs();

}  // namespace spl
