// A process without PyTorch: each function fails and reports the reason.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "simple_torch/simple_api.h"

namespace {

using ::testing::HasSubstr;

std::string why() {
  char* text = nullptr;
  EXPECT_EQ(spt_why_unavailable(&text), SPT_OK);
  std::string copy = text;
  spt_free(text);
  return copy;
}

class Stub : public ::testing::Test {
 protected:
  // Before the first call, because the front decides once per process. Each test is a process of its own.
  void SetUp() override { setenv("SIMPLE_TORCH", "off", 1); }
};

TEST_F(Stub, ReportsThatTorchIsMissing) {
  bool available = true;
  EXPECT_EQ(spt_available(&available), SPT_OK);
  EXPECT_FALSE(available);
  EXPECT_EQ(rt_torch_available(), 0);
  EXPECT_EQ(why(), "PyTorch is disabled by SIMPLE_TORCH=off");
}

TEST_F(Stub, FailsEachCallWithUnavailable) {
  int64_t out = -77;
  EXPECT_EQ(spt_zeros(nullptr, 0, &out), SPT_UNAVAILABLE);
  EXPECT_EQ(spt_release(1), SPT_UNAVAILABLE);
  EXPECT_EQ(out, -77);
  EXPECT_EQ(rt_torch_tensor_eye(3), 0);
  EXPECT_EQ(rt_torch_last_error_kind(), SPT_UNAVAILABLE);
  EXPECT_STREQ(spt_last_error_message(), "PyTorch is disabled by SIMPLE_TORCH=off");
}

TEST_F(Stub, ReturnsEmptyArraysAndStrings) {
  SplArray* shape = rt_torch_torchtensor_shape(5);
  EXPECT_EQ(spl_array_len(shape), 0);
  spl_array_free(shape);
  char* version = rt_torch_version();
  EXPECT_STREQ(version, "");
  free(version);
}

TEST(NoTorch, AFolderWithoutTorchIsNamed) {
  setenv("SIMPLE_TORCH", "/nonexistent/torch", 1);
  EXPECT_THAT(why(),
              HasSubstr("SIMPLE_TORCH: /nonexistent/torch is neither a torch package nor a LibTorch folder"));
}

TEST(NoTorch, APythonThatDoesNotExistIsNamed) {
  unsetenv("SIMPLE_TORCH");
  setenv("SIMPLE_PYTHON", "/nonexistent/bin/python3", 1);
  EXPECT_THAT(why(), HasSubstr("SIMPLE_PYTHON: /nonexistent/bin/python3 does not exist"));
}

/// A folder with the files of a torch of this version; removed by the destructor.
class FakeTorch {
 public:
  explicit FakeTorch(const std::string& version)
      : folder_(std::filesystem::temp_directory_path() / ("simple-fake-torch-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_ / "lib");
    std::ofstream(folder_ / "build-version") << version;
    std::ofstream(folder_ / "lib" / "libtorch_cpu.so");
  }
  ~FakeTorch() { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

TEST(NoTorch, AMissingBackendIsNamedWithTheCommandThatBuildsIt) {
  const FakeTorch torch("2.13.4");
  setenv("SIMPLE_TORCH", torch.folder().c_str(), 1);
  unsetenv("SIMPLE_PYTHON");
  EXPECT_THAT(why(), HasSubstr("PyTorch 2.13.4 was found in " + torch.folder().string()));
  EXPECT_THAT(why(), HasSubstr("libsimple_torch_backend-2.13.so"));
  EXPECT_THAT(why(),
              HasSubstr("SIMPLE_PYTHON=PYTHON bin/simple build, where PYTHON is a Python with torch 2.13"));
}

TEST(NoTorch, AMissingBackendOfANamedPythonIsBuiltWithThatPython) {
  const FakeTorch torch("2.13.4");
  setenv("SIMPLE_TORCH", torch.folder().c_str(), 1);
  setenv("SIMPLE_PYTHON", "/bin/sh", 1);
  EXPECT_THAT(why(), HasSubstr("SIMPLE_PYTHON=/bin/sh bin/simple build"));
}

#ifdef OTHER_LIBTORCH
// OTHER_LIBTORCH is an empty library named libtorch_cpu.so, OWN_MINOR a minor version that has a backend.
TEST(NoTorch, ASecondLibTorchIsRejectedWithBothPaths) {
  ASSERT_NE(dlopen(OTHER_LIBTORCH, RTLD_NOW), nullptr) << dlerror();
  const FakeTorch torch(OWN_MINOR ".0");
  setenv("SIMPLE_TORCH", torch.folder().c_str(), 1);
  EXPECT_THAT(why(), HasSubstr(OTHER_LIBTORCH));
  EXPECT_THAT(why(), HasSubstr((torch.folder() / "lib" / "libtorch_cpu.so").string()));
}
#endif

}  // namespace
