// The input between normalization and the model: pieces of buffers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "host/tokenizers/aligned_text.h"

namespace spl::tokenizers {

/// The bytes [begin, end) of a buffer.
struct Piece {
  uint32_t buffer = 0, begin = 0, end = 0;
  int32_t added = -1;     // the added token that this piece is
  bool is_bytes = false;  // the model receives the characters of the piece's bytes
};

class Pieces {
 public:
  std::vector<Piece> pieces;

  std::string_view text(const Piece& piece) const {
    return buffers_[piece.buffer].text().substr(piece.begin, piece.end - piece.begin);
  }
  const Buffer& buffer(const Piece& piece) const { return buffers_[piece.buffer]; }
  /// Adds a buffer and returns the piece that is all of it.
  Piece add(Buffer buffer) {
    const Piece whole{static_cast<uint32_t>(buffers_.size()), 0, static_cast<uint32_t>(buffer.text().size())};
    buffers_.push_back(std::move(buffer));
    return whole;
  }
  /// The piece as a text to change.
  AlignedText aligned(const Piece& piece) const { return buffer(piece).part(piece.begin, piece.end); }

 private:
  std::deque<Buffer> buffers_;
};

}  // namespace spl::tokenizers
