#include "host/builtins/zlib_externs.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>

#include "host/builtins/builtins.h"
#include "host/builtins/system_library.h"
#include "host/values/error.h"
#include "host/vm/lock.h"

namespace spl {
namespace {

struct ZlibLibrary {
  decltype(&::crc32) checksum;
  decltype(&::adler32) adler;
  decltype(&::deflateInit2_) deflate_init;
  decltype(&::deflate) deflate_some;
  decltype(&::deflateEnd) deflate_end;
  decltype(&::inflateInit2_) inflate_init;
  decltype(&::inflate) inflate_some;
  decltype(&::inflateEnd) inflate_end;
};

ZlibLibrary opened_zlib() {
  const SystemLibrary library("std.zlib", "zlib (libz.so.1; Debian package zlib1g)", {"libz.so.1"});
  ZlibLibrary made{};
  library.find(made.checksum, "crc32");
  library.find(made.adler, "adler32");
  library.find(made.deflate_init, "deflateInit2_");
  library.find(made.deflate_some, "deflate");
  library.find(made.deflate_end, "deflateEnd");
  library.find(made.inflate_init, "inflateInit2_");
  library.find(made.inflate_some, "inflate");
  library.find(made.inflate_end, "inflateEnd");
  return made;
}
const ZlibLibrary& zlib() {
  static const ZlibLibrary library = opened_zlib();
  return library;
}

constexpr size_t kChunk = size_t{256} * 1024;

// zlib counts input by 32 bits.
void feed(z_stream& stream, const std::string& content, size_t& at) {
  if (stream.avail_in == 0 && at < content.size()) {
    const size_t count = std::min<size_t>(content.size() - at, std::numeric_limits<uInt>::max() / 2);
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(content.data() + at));
    stream.avail_in = static_cast<uInt>(count);
    at += count;
  }
}

void grow_output(z_stream& stream, std::string& out) {
  constexpr size_t kMost = std::numeric_limits<uInt>::max() / 2;
  const size_t size = out.size(), more = std::min(std::max(kChunk, size / 2), kMost);
  out.resize(size + more);
  stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
  stream.avail_out = static_cast<uInt>(more);
}

// (content, level, window bits)
Value zlib_compress(Thread&, Value* args, int) {
  const Ref kept = Ref::shared(args[0]);
  const std::string& content = expect_text(args[0], "compress: the content");
  const int64_t level = to_integer(args[1]);
  z_stream stream{};
  if (zlib().deflate_init(&stream, static_cast<int>(level), Z_DEFLATED, static_cast<int>(to_integer(args[2])),
                          8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof(z_stream)) != Z_OK) {
    fail("compress: the level must be from -1 to 9, got " + std::to_string(level));
  }
  std::string out;
  size_t at = 0;
  {
    const Unlocked unlocked;
    for (int result = Z_OK; result != Z_STREAM_END;) {
      feed(stream, content, at);
      grow_output(stream, out);
      result = zlib().deflate_some(&stream, at == content.size() ? Z_FINISH : Z_NO_FLUSH);
      out.resize(out.size() - stream.avail_out);
    }
  }
  zlib().deflate_end(&stream);
  return make_text(std::move(out));
}

/// What a decompression ended with.
struct Inflated {
  std::string content;
  size_t used = 0;  // bytes of the input
  bool is_complete = false;
  std::string fault;
};

Inflated inflated(const std::string& content, size_t begin, int window_bits) {
  Inflated made;
  z_stream stream{};
  if (zlib().inflate_init(&stream, window_bits, ZLIB_VERSION, sizeof(z_stream)) != Z_OK) {
    made.fault = "invalid window bits " + std::to_string(window_bits);
    return made;
  }
  size_t at = begin;
  int result = Z_OK;
  while (result == Z_OK) {
    feed(stream, content, at);
    grow_output(stream, made.content);
    result = zlib().inflate_some(&stream, Z_NO_FLUSH);
    made.content.resize(made.content.size() - stream.avail_out);
  }
  made.is_complete = result == Z_STREAM_END;
  made.used = at - stream.avail_in - begin;
  if (result != Z_STREAM_END && result != Z_BUF_ERROR) {
    made.fault = stream.msg != nullptr ? stream.msg : "zlib reports error " + std::to_string(result);
  }
  zlib().inflate_end(&stream);
  return made;
}

// (content, first byte, window bits): [the content, the number of bytes read, whether it is complete]
Value zlib_decompress(Thread&, Value* args, int) {
  const Ref kept = Ref::shared(args[0]);
  const std::string& content = expect_text(args[0], "decompress: the content");
  const auto begin = static_cast<size_t>(to_integer(args[1]));
  Inflated made;
  {
    const Unlocked unlocked;
    made = inflated(content, std::min(begin, content.size()), static_cast<int>(to_integer(args[2])));
  }
  if (!made.fault.empty()) {
    fail("decompress: " + made.fault);
  }
  return make_array({make_text(std::move(made.content)), Value::integer(static_cast<int64_t>(made.used)),
                     Value::boolean(made.is_complete)});
}

template <class Function>
Value checksum_with(Function function, Value* args) {
  const std::string& content = expect_text(args[0], "checksum: the content");
  auto value = static_cast<uLong>(to_integer(args[1]));
  for (size_t at = 0; at < content.size();) {
    const size_t count = std::min<size_t>(content.size() - at, std::numeric_limits<uInt>::max() / 2);
    value = function(value, reinterpret_cast<const Bytef*>(content.data() + at), static_cast<uInt>(count));
    at += count;
  }
  return Value::integer(static_cast<int64_t>(value));
}
Value zlib_crc32(Thread&, Value* args, int) { return checksum_with(zlib().checksum, args); }
Value zlib_adler32(Thread&, Value* args, int) { return checksum_with(zlib().adler, args); }

constexpr NativeEntry kZlibExterns[] = {
    {"rt_zlib_compress", zlib_compress, 3, 3},
    {"rt_zlib_decompress", zlib_decompress, 3, 3},
    {"rt_zlib_crc32", zlib_crc32, 2, 2},
    {"rt_zlib_adler32", zlib_adler32, 2, 2},
};

}  // namespace

std::span<const NativeEntry> zlib_externs() { return kZlibExterns; }

}  // namespace spl
