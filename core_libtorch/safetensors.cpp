#include "core_libtorch/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/safetensors_dtypes.h"
#include "core_libtorch/unreadable_file.h"

namespace simple_torch::core {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLeastMappedBytes = 1 << 20;    // smaller tensors are copied
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's own reader

uint64_t little_endian(const std::array<unsigned char, kLengthBytes>& bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    number = (number << 8) | bytes[i];
  }
  return number;
}

std::vector<std::pair<std::string, std::string>> pairs_of(const Json& texts) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, text] : texts.items()) {
    pairs.emplace_back(name, text.get<std::string>());
  }
  return pairs;
}

// Maps the first bytes of a file; writes stay in this process. Null if it cannot be mapped, or is shorter.
std::shared_ptr<std::byte> map_pages(const std::string& path, uint64_t size) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return nullptr;
  }
  struct stat status {};
  const bool is_whole = fstat(file, &status) == 0 && static_cast<uint64_t>(status.st_size) >= size;
  void* pages = is_whole ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0)
                         : MAP_FAILED;
  close(file);
  if (pages == MAP_FAILED) {
    return nullptr;
  }
  return {static_cast<std::byte*>(pages), [size](std::byte* begin) { munmap(begin, size); }};
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (const std::string reason = why_unreadable(path); !reason.empty()) {
    throw Error(ErrorKind::kIo, path + " cannot be read: " + reason);
  }
  file_.seekg(0, std::ios::end);
  const auto size = file_.tellg();
  if (!file_ || size < 0) {
    throw Error(ErrorKind::kIo, path + " cannot be read: " + std::strerror(errno));
  }
  file_size_ = static_cast<uint64_t>(size);
  read_header();
}

void SafetensorsFile::fail(const std::string& why) const {
  throw Error(ErrorKind::kIo, path_ + " is not a valid safetensors file: " + why);
}

void SafetensorsFile::read_header() {
  std::array<unsigned char, kLengthBytes> bytes{};
  file_.seekg(0);
  if (file_size_ < kLengthBytes || !file_.read(reinterpret_cast<char*>(bytes.data()), kLengthBytes)) {
    fail("the file has only " + std::to_string(file_size_) + " bytes");
  }
  const uint64_t length = little_endian(bytes);
  if (length > kMaxHeaderBytes || length > file_size_ - kLengthBytes) {
    fail("the header length " + std::to_string(length) + " exceeds the file");
  }
  std::string text(length, '\0');
  if (!file_.read(text.data(), static_cast<std::streamsize>(length))) {
    fail("the header cannot be read");
  }
  data_begin_ = kLengthBytes + length;
  const Json header = Json::parse(text, nullptr, false);
  if (!header.is_object()) {
    fail("the header is not a JSON object");
  }
  try {
    for (const auto& [name, about] : header.items()) {
      if (name == "__metadata__") {
        metadata_ = pairs_of(about);
      } else {
        const auto offsets = about.at("data_offsets").get<std::array<uint64_t, 2>>();
        entries_.push_back(entry(name, about.at("dtype").get<std::string>(),
                                 about.at("shape").get<std::vector<int64_t>>(), offsets[0], offsets[1]));
      }
    }
  } catch (const Json::exception& error) {
    fail(error.what());
  }
  require_complete();
}

// The tensors cover the data without overlap or gap, so that no byte has two meanings or none.
void SafetensorsFile::require_complete() const {
  std::vector<const Entry*> by_offset;
  for (const Entry& each : entries_) {
    by_offset.push_back(&each);
  }
  std::stable_sort(by_offset.begin(), by_offset.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t end = data_begin_;
  for (const Entry* each : by_offset) {
    if (each->begin != end) {
      fail("tensor " + each->name + (each->begin < end ? " overlaps another" : " follows a gap in the data"));
    }
    end = each->end;
  }
  if (end != file_size_) {
    fail("the data has " + std::to_string(file_size_ - end) + " bytes after its tensors");
  }
}

SafetensorsFile::Entry SafetensorsFile::entry(const std::string& name, const std::string& dtype,
                                              std::vector<int64_t> shape, uint64_t begin,
                                              uint64_t end) const {
  const auto* known = std::find_if(kSafetensorsDtypes.begin(), kSafetensorsDtypes.end(),
                                   [&](const SafetensorsDtype& each) { return each.name == dtype; });
  if (known == kSafetensorsDtypes.end()) {
    fail("tensor " + name + " has unknown dtype " + dtype);
  }
  uint64_t bytes = c10::elementSize(known->dtype);
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) {
      fail("tensor " + name + " has an invalid size " + std::to_string(size));
    }
  }
  if (begin > end || end > file_size_ - data_begin_ || end - begin != bytes) {
    fail("tensor " + name + " needs " + std::to_string(bytes) + " bytes, got data_offsets [" +
         std::to_string(begin) + ", " + std::to_string(end) + "] in " +
         std::to_string(file_size_ - data_begin_) + " bytes of data");
  }
  return {name, known->dtype, std::move(shape), data_begin_ + begin, data_begin_ + end};
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> all;
  all.reserve(entries_.size());
  for (const Entry& each : entries_) {
    all.push_back(each.name);
  }
  return all;
}

at::Tensor SafetensorsFile::tensor(const std::string& name) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.name == name; });
  if (found == entries_.end()) {
    throw Error(ErrorKind::kInvalidArgument, path_ + " has no tensor named '" + name + "'");
  }
  return with_error_context("safetensors", kNoOperands, [&] {
    const CountedLockGuard guard(reading_);
    const at::Tensor tensor = found->end - found->begin >= kLeastMappedBytes ? mapped(*found) : at::Tensor();
    return tensor.defined() ? tensor : copied(*found);
  });
}

at::Tensor SafetensorsFile::copied(const Entry& entry) {
  at::Tensor tensor = at::empty(entry.shape, entry.dtype);
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(entry.begin));
  if (!file_.read(static_cast<char*>(tensor.mutable_data_ptr()),
                  static_cast<std::streamsize>(tensor.nbytes())) &&
      tensor.nbytes() > 0) {
    throw Error(ErrorKind::kIo, path_ + " cannot be read: no data for tensor " + entry.name);
  }
  return tensor;
}

// Undefined where the file cannot be mapped, or the format's writer did not align the data.
at::Tensor SafetensorsFile::mapped(const Entry& entry) {
  if (!pages_) {
    pages_ = map_pages(path_, file_size_);
  }
  if (!pages_ || entry.begin % c10::elementSize(entry.dtype) != 0) {
    return {};
  }
  const auto release = [pages = pages_](void*) {};  // the tensor keeps the pages
  return at::from_blob(pages_.get() + entry.begin, entry.shape, release, at::TensorOptions(entry.dtype));
}

}  // namespace simple_torch::core
