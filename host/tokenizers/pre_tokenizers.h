// The pre-tokenizers of a tokenizer.json: they cut text into the pieces that the model encodes one by one.
#pragma once

#include <memory>

#include "host/tokenizers/fields.h"
#include "host/tokenizers/pieces.h"

namespace spl::tokenizers {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Splits each piece that is not an added token.
  virtual void apply(Pieces& pieces) const = 0;
};

std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const Json& value, const std::string& place);

/// How Metaspace treats the start of a piece.
enum class PrependScheme { kFirst, kNever, kAlways };
PrependScheme prepend_scheme(Fields& fields);

}  // namespace spl::tokenizers
