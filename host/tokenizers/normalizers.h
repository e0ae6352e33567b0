// The normalizers of a tokenizer.json.
#pragma once

#include <memory>

#include "host/tokenizers/aligned_text.h"
#include "host/tokenizers/fields.h"

namespace spl::tokenizers {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
  /// Changes ASCII text in place. False if that would move a character; the text is then of no use.
  virtual bool apply_in_place(std::string& ascii) const = 0;
};

std::unique_ptr<const Normalizer> read_normalizer(const Json& value, const std::string& place);
std::unique_ptr<const Normalizer> make_precompiled(Fields& fields);

/// A part of the input after the normalizer; null for none.
Buffer normalize(const Normalizer* normalizer, std::string_view part, uint32_t begin);

}  // namespace spl::tokenizers
