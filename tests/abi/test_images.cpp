// The contract of raw files, images and thread generators.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "capi_test.h"

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

namespace {

namespace fs = std::filesystem;

class Images : public CApiTest {
 protected:
  void SetUp() override {
    CApiTest::SetUp();
    std::string name = (fs::temp_directory_path() / "abi-images-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    fs::remove_all(folder_);
    CApiTest::TearDown();
  }

  std::string path(const char* name) const { return (folder_ / name).string(); }

  static Handle bytes(const std::vector<int64_t>& numbers, const std::vector<int64_t>& dims) {
    return create(spt_to_dtype, int64_t{integers(numbers, dims)}, int64_t{0});
  }

 private:
  fs::path folder_;
};

constexpr int64_t kAsItIs = 0;

TEST_F(Images, AFileIsReadAsBytes) {
  const Handle written = bytes({0, 7, 255}, {3});
  ASSERT_EQ(spt_file_write(path("a").c_str(), written), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(fs::file_size(path("a")), 3U);
  const Handle read = create(spt_file_read, path("a").c_str(), true);  // not a gzip file: unchanged
  EXPECT_THAT(values(read), ElementsAre(0, 7, 255));

  int64_t out = kUntouched;
  EXPECT_EQ(spt_file_read(path("absent").c_str(), false, &out), SPT_IO);
  EXPECT_EQ(spt_file_read(nullptr, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_file_write(path("no/such/folder").c_str(), written), SPT_IO);
  EXPECT_EQ(spt_file_write(path("b").c_str(), ones({2})), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Images, APngPreservesThePixels) {
  const std::vector<int64_t> pixels{0, 50, 100, 150, 200, 255};
  const Handle image = bytes(pixels, {1, 2, 3});
  const Handle file = create(spt_image_encode_png, int64_t{image}, int64_t{6});
  const Handle back = create(spt_image_decode, int64_t{file}, "png", kAsItIs, false);
  EXPECT_THAT(shape(back), ElementsAre(1, 2, 3));
  EXPECT_THAT(values(back), ElementsAreArray(pixels));

  int64_t out = kUntouched;
  EXPECT_EQ(spt_image_decode(file, "jpeg", kAsItIs, false, &out), SPT_IO);
  EXPECT_EQ(spt_image_decode(file, "", 9, false, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_image_encode_png(image, 99, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Images, AJpegPreservesAUniformGray) {
  const Handle image = bytes(std::vector<int64_t>(64, 128), {1, 8, 8});
  const Handle file = create(spt_image_encode_jpeg, int64_t{image}, int64_t{75});
  const Handle back = create(spt_image_decode, int64_t{file}, "", kAsItIs, true);
  EXPECT_THAT(shape(back), ElementsAre(1, 8, 8));
  EXPECT_THAT(values(back), Each(128));  // the middle of JPEG's range, which every quality preserves

  int64_t out = kUntouched;
  EXPECT_EQ(spt_image_encode_jpeg(image, 101, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Images, AreAdjusted) {
  const Handle image = bytes({200, 10, 100, 10, 0, 10}, {3, 1, 2});  // (200, 100, 0) and a gray of 10
  const auto adjusted = [&](const char* aspect, double factor) {
    return values(create(spt_image_adjust, int64_t{image}, aspect, factor));
  };
  EXPECT_THAT(adjusted("brightness", 1.5), ElementsAre(255, 15, 150, 15, 0, 15));
  EXPECT_THAT(adjusted("saturation", 1.0), ElementsAre(200, 10, 100, 10, 0, 10));
  EXPECT_THAT(adjusted("hue", 1.0 / 3), ElementsAre(0, 10, 200, 10, 100, 10))
      << "red becomes green, green blue";
  // Gray is 0.2989 r + 0.587 g + 0.114 b: 118.48 and 9.999, truncated to 118 and 9; their mean is 63.5.
  EXPECT_THAT(adjusted("contrast", 0.0), Each(63));
  EXPECT_THAT(adjusted("saturation", 0.0), ElementsAre(118, 9, 118, 9, 118, 9));

  int64_t out = kUntouched;
  EXPECT_EQ(spt_image_adjust(image, "warmth", 1.0, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_image_adjust(image, nullptr, 1.0, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_image_adjust(ones({2, 4, 4}), "hue", 0.1, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_image_adjust(ones({4}), "hue", 0.1, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Images, AThreadDrawsFromItsGenerator) {
  const std::vector<int64_t> dims{4};
  const auto drawn = [&] { return values(create(spt_randn, dims.data(), int64_t{1})); };
  ASSERT_EQ(spt_manual_seed(3), SPT_OK);
  const std::vector<double> first = drawn();
  const Handle generator = create(spt_generator_new, "cpu");
  ASSERT_EQ(spt_generator_manual_seed(generator, 3), SPT_OK);
  ASSERT_EQ(spt_generator_use(generator), SPT_OK);
  EXPECT_EQ(drawn(), first);
  ASSERT_EQ(spt_generator_use(0), SPT_OK);
  EXPECT_NE(drawn(), first) << "the default generator continued after its first draw";
  EXPECT_EQ(spt_generator_use(12345), SPT_INVALID_HANDLE);
}

}  // namespace
