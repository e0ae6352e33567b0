// The contract of downloads, checksums, archives and plain pickles without a server. Tests with a server are
// in tests/vision/test_downloads.py.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "capi_test.h"
#include "simple_torch/simple_api.h"

using ::testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

class Downloads : public CApiTest {
 protected:
  void SetUp() override {
    CApiTest::SetUp();
    std::string name = (fs::temp_directory_path() / "abi-downloads-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    setenv("no_proxy", "127.0.0.1", 1);  // libcurl uses a configured proxy
  }
  void TearDown() override {
    fs::remove_all(folder_);
    CApiTest::TearDown();
  }

  std::string path(const char* name) const { return (folder_ / name).string(); }

  std::string file_of(const std::string& content) const {
    std::ofstream(path("file"), std::ios::binary) << content;
    return path("file");
  }

 private:
  fs::path folder_;
};

constexpr const char* kClosed = "http://127.0.0.1:9/x";

TEST_F(Downloads, AnUnreachableServerIsUnavailableAndKeepsThePartialFile) {
  int64_t download = 0;
  ASSERT_EQ(spt_download_begin(kClosed, file_of("begun").c_str(), true, 5, 3, &download), SPT_OK);
  int32_t status = SPT_OK;
  for (int k = 0; k < 100 && status == SPT_OK; ++k) {
    int64_t* numbers = nullptr;
    int64_t count = 0;
    status = spt_download_step(download, 100, &numbers, &count);
    if (status == SPT_OK) {
      EXPECT_EQ(count, 3);
      EXPECT_EQ(numbers[0], 0);
      EXPECT_EQ(numbers[1], 5);
      EXPECT_EQ(numbers[2], -1);
      spt_free(numbers);
    }
  }
  EXPECT_EQ(status, SPT_UNAVAILABLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("connect"));
  // Guards the stored failure: a further step waited for the connection that no longer exists.
  constexpr int64_t kLongest = 60'000;
  const auto began = std::chrono::steady_clock::now();
  int64_t* numbers = nullptr;
  int64_t count = 0;
  EXPECT_EQ(spt_download_step(download, kLongest, &numbers, &count), SPT_UNAVAILABLE);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("connect"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
  EXPECT_EQ(fs::file_size(path("file")), 5U);
  EXPECT_EQ(spt_download_end(download), SPT_OK);
  EXPECT_EQ(spt_download_end(download), SPT_OK) << "an ended download is ignored";
}

TEST_F(Downloads, InvalidLimitsAreRejectedBeforeTheFileIsTouched) {
  const std::string file = file_of("kept");
  int64_t download = kUntouched;
  EXPECT_EQ(spt_download_begin(kClosed, file.c_str(), false, 0, 3, &download), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_download_begin(kClosed, file.c_str(), false, INT64_MAX, 3, &download), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_download_begin(kClosed, file.c_str(), false, 5, -1, &download), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_download_begin(nullptr, file.c_str(), false, 5, 3, &download), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_download_begin(kClosed, path("none/x").c_str(), false, 5, 3, &download), SPT_IO);
  EXPECT_EQ(download, kUntouched);
  EXPECT_EQ(fs::file_size(file), 4U);
}

TEST_F(Downloads, AFileHasOneDownloadAtATime) {
  int64_t first = 0;
  int64_t second = kUntouched;
  ASSERT_EQ(spt_download_begin(kClosed, path("x").c_str(), true, 5, 3, &first), SPT_OK);
  EXPECT_EQ(spt_download_begin(kClosed, path("x").c_str(), true, 5, 3, &second), SPT_IO);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("another download"));
  spt_download_end(first);
  EXPECT_EQ(spt_download_begin(kClosed, path("x").c_str(), true, 5, 3, &second), SPT_OK);
  spt_download_end(second);
}

TEST_F(Downloads, ChecksumsMatchTheStandards) {
  char* digits = nullptr;
  ASSERT_EQ(spt_file_checksum(file_of("abc").c_str(), "md5", &digits), SPT_OK);
  EXPECT_STREQ(digits, "900150983cd24fb0d6963f7d28e17f72");  // RFC 1321, A.5
  spt_free(digits);
  ASSERT_EQ(spt_file_checksum(path("file").c_str(), "sha256", &digits), SPT_OK);
  EXPECT_STREQ(digits,
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-2, B.1
  spt_free(digits);
  EXPECT_EQ(spt_file_checksum(path("file").c_str(), "crc", &digits), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_file_checksum(path("none").c_str(), "md5", &digits), SPT_IO);
}

TEST_F(Downloads, AFileThatIsNotAnArchiveIsRejectedAndExtractsNothing) {
  EXPECT_EQ(spt_tar_unpack(file_of(std::string(600, 'x')).c_str(), path("here").c_str()), SPT_IO);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("not a tar archive"));
  EXPECT_EQ(spt_tar_unpack(path("none").c_str(), path("here").c_str()), SPT_IO);
  EXPECT_FALSE(fs::exists(path("here")));
}

TEST_F(Downloads, APlainPickleIsReadAsLettersAndValues) {
  SplArray* values = nullptr;
  ASSERT_EQ(spt_pickle_load(file_of("\x80\x02]K\x07"
                                    "aU\x02hi\x86.")
                                .c_str(),
                            &values),
            SPT_OK);
  ASSERT_EQ(values->len, 6);  // runtime letters, kinds, the tuple, the list, 7, "hi"
  EXPECT_STREQ(values->items[1].as_string, "ulvv");
  EXPECT_EQ(values->items[2].as_int, 2);
  EXPECT_EQ(values->items[4].as_int, 7);
  EXPECT_STREQ(values->items[5].as_string, "hi");
  spl_array_free(values);
  EXPECT_EQ(spt_pickle_load(file_of("\x80\x02]").c_str(), &values), SPT_IO);
  EXPECT_EQ(spt_pickle_load(path("none").c_str(), &values), SPT_IO);
  EXPECT_EQ(spt_pickle_load(nullptr, &values), SPT_INVALID_ARGUMENT);
}

}  // namespace
