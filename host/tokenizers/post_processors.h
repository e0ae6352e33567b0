// The post-processors of a tokenizer.json: they add special tokens and join the encodings of a pair.
#pragma once

#include <memory>
#include <vector>

#include "host/tokenizers/encoding.h"
#include "host/tokenizers/fields.h"

namespace spl::tokenizers {

class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  /// The number of special tokens of one text or of a pair.
  virtual size_t added_tokens(bool is_pair) const = 0;
  /// Whether it makes more encodings than there are texts.
  virtual bool divides() const { return false; }
  /// Changes the encodings of one text or of a pair, which are joined afterwards.
  virtual void apply(std::vector<Encoding>& encodings, bool adds_special_tokens) const = 0;
};

std::unique_ptr<const PostProcessor> read_post_processor(const Json& value, const std::string& place);

/// Joins the encodings after the post-processor; null for none.
Encoding post_process(const PostProcessor* processor, std::vector<Encoding> encodings,
                      bool adds_special_tokens);

}  // namespace spl::tokenizers
