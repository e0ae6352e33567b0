// The decoders of a tokenizer.json: they turn tokens back into text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/tokenizers/fields.h"

namespace spl::tokenizers {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Changes the tokens, whose concatenation is the text.
  virtual void apply(std::vector<std::string>& tokens) const = 0;
};

std::unique_ptr<const Decoder> read_decoder(const Json& value, const std::string& place);

}  // namespace spl::tokenizers
