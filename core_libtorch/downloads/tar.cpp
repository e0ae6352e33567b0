#include "core_libtorch/downloads/tar.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core_libtorch/atomic_file.h"
#include "core_libtorch/error.h"

namespace simple_torch::core::downloads {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 512;
constexpr uint64_t kMaxHeaderBytes = 1U << 20U;  // of a long name or of pax records
using Header = std::array<char, kBlock>;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

/// The decompressed bytes of the archive.
class Source {
 public:
  explicit Source(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) {
      fail(std::strerror(errno));
    }
    gzbuffer(file_.get(), 1U << 18U);
  }

  /// False at the end of the archive.
  bool read_or_end(char* into, size_t count) {
    const int got = gzread(file_.get(), into, static_cast<unsigned>(count));
    if (got == 0 && gzeof(file_.get()) != 0) {
      require_valid();
      return false;
    }
    if (got != static_cast<int>(count)) {
      require_valid();
      fail("this tar archive is truncated");
    }
    return true;
  }

  void read(char* into, size_t count) {
    if (!read_or_end(into, count)) {
      fail("this tar archive is truncated");
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::kIo, "'" + path_ + "' cannot be extracted: " + why);
  }

 private:
  void require_valid() const {
    int fault = Z_OK;
    const char* const message = gzerror(file_.get(), &fault);
    if (fault == Z_BUF_ERROR) {
      fail("this gzip file is truncated");
    }
    if (fault != Z_OK && fault != Z_STREAM_END) {
      fail(std::string("this gzip file is corrupt: ") + message);
    }
  }

  std::string path_;
  std::unique_ptr<gzFile_s, CloseGzip> file_;
};

std::string_view field(const Header& header, size_t begin, size_t size) {
  const std::string_view whole(header.data() + begin, size);
  return whole.substr(0, std::min(whole.find('\0'), size));
}

/// Octal digits between spaces, or GNU's binary form for large numbers.
uint64_t number_field(const Source& source, const Header& header, size_t begin, size_t size) {
  if ((header[begin] & '\x80') != 0) {
    uint64_t number = 0;
    for (size_t i = begin + size - 8; i < begin + size; ++i) {
      number = number << 8U | static_cast<unsigned char>(header[i]);
    }
    return number;
  }
  std::string_view digits = field(header, begin, size);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  uint64_t number = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  if (end.ec != std::errc()) {
    source.fail("it is not a tar archive, or it is corrupt");
  }
  return number;
}

void require_checksum(const Source& source, const Header& header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool is_of_sum = i >= 148 && i < 156;
    sum += is_of_sum ? ' ' : static_cast<unsigned char>(header[i]);
  }
  if (sum != number_field(source, header, 148, 8)) {
    source.fail("it is not a tar archive, or it is corrupt");
  }
}

/// The path of an entry. Absolute names and names with '..' raise an error.
fs::path target_path(const Source& source, const std::string& folder, const std::string& name) {
  const fs::path relative(name);
  const bool leads_out =
      relative.is_absolute() ||
      std::any_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
  if (leads_out || name.empty() || name.find('\0') != std::string::npos) {
    source.fail("entry '" + name + "' is outside of the folder");
  }
  return fs::path(folder) / relative;
}

class Unpacker {
 public:
  Unpacker(const std::string& path, const std::string& folder) : source_(path), folder_(folder) {}

  void run() {
    Header header;
    if (!source_.read_or_end(header.data(), kBlock)) {
      source_.fail("this tar archive is empty");
    }
    while (!is_end(header)) {
      require_checksum(source_, header);
      read_entry(header, number_field(source_, header, 124, 12));
      if (!source_.read_or_end(header.data(), kBlock)) {
        return;
      }
    }
  }

 private:
  static bool is_end(const Header& header) {
    return std::all_of(header.begin(), header.end(), [](char byte) { return byte == 0; });
  }

  void read_entry(const Header& header, uint64_t size) {
    switch (header[156]) {
      case 'L':
        long_name_ = text(size);
        long_name_.resize(std::min(long_name_.find('\0'), long_name_.size()));
        return;
      case 'x':
        read_records(text(size));
        return;
      case 'g':
        text(size);
        return;
      case '0':
      case '\0':
      case '7':
        write_file(take_name(header), size);
        return;
      case '5':
        make_folder(take_name(header));
        skip(size + padding(size));
        return;
      default:
        source_.fail("entry '" + take_name(header) + "' is neither a file nor a directory");
    }
  }

  std::string take_name(const Header& header) {
    std::string name = std::exchange(long_name_, "");
    if (name.empty()) {
      const bool is_ustar = field(header, 257, 5) == "ustar";
      const std::string_view prefix = is_ustar && header[263] == '0' ? field(header, 345, 155) : "";
      name = std::string(prefix) + (prefix.empty() ? "" : "/") + std::string(field(header, 0, 100));
    }
    return name;
  }

  // Records "27 path=folder/long name\n"; the number is the length of the whole record.
  void read_records(const std::string& records) {
    for (std::string_view rest = records; !rest.empty();) {
      size_t length = 0;
      const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), length);
      const auto begin = static_cast<size_t>(end.ptr - rest.data()) + 1;
      if (end.ec != std::errc() || length <= begin || length > rest.size()) {
        source_.fail("it is not a tar archive, or it is corrupt");
      }
      const std::string_view record = rest.substr(begin, length - begin - 1);
      if (record.starts_with("path=")) {
        long_name_ = record.substr(5);
      } else if (record.starts_with("size=")) {
        source_.fail("it contains a file of more than 8 GB");
      }
      rest.remove_prefix(length);
    }
  }

  std::string text(uint64_t size) {
    if (size > kMaxHeaderBytes) {
      source_.fail("it is not a tar archive, or it is corrupt");
    }
    std::string content(size, '\0');
    if (size > 0) {
      source_.read(content.data(), size);
    }
    skip(padding(size));
    return content;
  }

  void write_file(const std::string& name, uint64_t size) {
    const fs::path target = target_path(source_, folder_, name);
    make_folders(target.parent_path());
    AtomicFile file(target.string());
    std::vector<char> part(size_t{1} << 20U);
    for (uint64_t left = size; left > 0;) {
      const size_t count = std::min<uint64_t>(left, part.size());
      source_.read(part.data(), count);
      file.write(part.data(), count);
      left -= count;
    }
    file.commit();
    skip(padding(size));
  }

  void make_folder(const std::string& name) { make_folders(target_path(source_, folder_, name)); }

  void make_folders(const fs::path& folder) const {
    std::error_code fault;
    fs::create_directories(folder, fault);
    if (fault) {
      source_.fail("cannot create directory " + folder.string() + ": " + fault.message());
    }
  }

  static uint64_t padding(uint64_t size) { return (kBlock - size % kBlock) % kBlock; }

  void skip(uint64_t count) {
    Header passed;
    for (; count > 0; count -= std::min<uint64_t>(count, kBlock)) {
      source_.read(passed.data(), std::min<uint64_t>(count, kBlock));
    }
  }

  Source source_;
  std::string folder_;
  std::string long_name_;  // of the next entry
};

}  // namespace

void unpack_tar(const std::string& path, const std::string& folder) { Unpacker(path, folder).run(); }

}  // namespace simple_torch::core::downloads
