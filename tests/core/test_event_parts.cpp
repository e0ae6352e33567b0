// The parts of event files: checksums, records, strings and histograms. The expected checksums are from
// RFC 3720 (B.4), that of "123456789", and TensorFlow's masked ones.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core_libtorch/error.h"
#include "core_libtorch/events/crc32c.h"
#include "core_libtorch/events/histogram.h"
#include "core_libtorch/events/record_file.h"
#include "core_libtorch/events/strict_utf8.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

namespace {

namespace fs = std::filesystem;
namespace events = simple_torch::core::events;
using simple_torch::Error;
using simple_torch::ErrorKind;
using ::testing::ElementsAre;

TEST(Crc32c, MatchesTheStandard) {
  EXPECT_EQ(events::crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(events::crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(events::crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(events::crc32c(""), 0U);
}

TEST(Crc32c, IsMaskedByARotationAndASum) {
  // 0xE3069283 rotated right by 15 bits is 0x2507C60D.
  EXPECT_EQ(events::masked_crc32c("123456789"), 0x2507C60DU + 0xA282EAD8U);
}

TEST(StrictUtf8, AcceptsWhatEveryReaderAccepts) {
  for (const char* text : {"", "plain", "\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(events::is_strict_utf8(text)) << text;
  }
  for (const char* text : {"\x80", "\xC3", "\xC3\x28", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                           "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "ok\xFF"}) {
    EXPECT_FALSE(events::is_strict_utf8(text)) << text;
  }
}

class RecordFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "records-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = (folder_ / "file").string();
  }
  void TearDown() override {
    // remove_all() is not used: libtorch.so of 2.11 exports one that calls NULL, and programs linked with it
    // would call that.
    for (const fs::directory_entry& file : fs::directory_iterator(folder_)) {
      fs::remove(file.path());
    }
    fs::remove(folder_);
  }

  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(path_, std::ios::binary).rdbuf();
    return all.str();
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(RecordFile, ARecordHasLengthAndBytesEachWithAChecksum) {
  const std::string record = events::record_of("123456789");
  ASSERT_EQ(record.size(), 8U + 4 + 9 + 4);
  EXPECT_EQ(record.substr(0, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(12, 9), "123456789");
  EXPECT_EQ(record.substr(21), "\xE5\xB0\x8A\xC7");  // 0xC78AB0E5, the lowest byte first
}

TEST_F(RecordFile, AppendsRecords) {
  events::RecordFile file(path_);
  file.append("one");
  file.append("two");
  file.sync();
  EXPECT_EQ(content(), "onetwo");
}

TEST_F(RecordFile, NeverOverwritesAnExistingFile) {
  std::ofstream(path_) << "there";
  try {
    events::RecordFile file(path_);
    FAIL() << "the existing file was overwritten";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_EQ(error.what(), path_ + " cannot be written: File exists");
  }
  EXPECT_EQ(content(), "there");
}

TEST_F(RecordFile, RemovesAPartialRecordAfterAFailedWrite) {
  events::RecordFile file(path_);
  file.append("1234567890");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{15, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(file.append("1234567890"), Error);
  const std::string after_failure = content();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_EQ(after_failure, "1234567890");
  file.append("abc");
  EXPECT_EQ(content(), "1234567890abc");
}

TEST(Histogram, OmitsEmptyBucketsAtBothEnds) {
  const at::Tensor values = at::tensor({1.0, 1.5, 3.0}, at::kDouble);
  const events::Histogram histogram = events::histogram_of(values, {-1, 0, 1, 2, 3, 4, 5}, 0);
  EXPECT_THAT(histogram.limits, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(histogram.counts, ElementsAre(0, 2, 0, 1));
  EXPECT_EQ(histogram.moments.min, 1);
  EXPECT_EQ(histogram.moments.max, 3);
  EXPECT_EQ(histogram.moments.num, 3);
  EXPECT_EQ(histogram.moments.sum, 5.5);
  EXPECT_EQ(histogram.moments.sum_squares, 1 + 2.25 + 9);
}

TEST(Histogram, TheLastEdgeBelongsToTheLastBucket) {
  const events::Histogram histogram = events::histogram_of(at::arange(3), {0, 1, 2}, 0);
  EXPECT_THAT(histogram.counts, ElementsAre(0, 1, 2));
}

TEST(Histogram, CountsAValueInTheLastOfEqualEdges) {
  const events::Histogram histogram = events::histogram_of(at::tensor({1.0}, at::kDouble), {0, 1, 1, 2}, 0);
  EXPECT_THAT(histogram.limits, ElementsAre(1, 2));
  EXPECT_THAT(histogram.counts, ElementsAre(0, 1));
}

TEST(Histogram, TensorBoardEdgesAreSymmetric) {
  const std::vector<double>& edges = events::default_edges();
  ASSERT_EQ(edges.size() % 2, 1U);
  EXPECT_EQ(edges[edges.size() / 2], 0);
  EXPECT_EQ(edges[edges.size() / 2 + 1], 1e-12);
  EXPECT_EQ(edges.front(), -edges.back());
  EXPECT_LT(edges.back(), 1e20);
  EXPECT_GE(edges.back() * 1.1, 1e20);
}

TEST(Histogram, EqualWidthEdgesEndAtTheMaximum) {
  EXPECT_THAT(events::even_edges(at::tensor({1.0, 3.0}, at::kDouble), 4), ElementsAre(1, 1.5, 2, 2.5, 3));
  EXPECT_THAT(events::even_edges(at::tensor({2.0}, at::kDouble), 2), ElementsAre(1.5, 2, 2.5));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(events::even_edges(at::tensor({1.0, infinity}, at::kDouble), 2), Error);
}

}  // namespace
