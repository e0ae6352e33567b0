// The contract of archives, safetensors files, streams and a CUDA device's memory. The safetensors files are
// made here, byte by byte.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "capi_test.h"
#include "simple_torch/simple_api.h"

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

class Files : public CApiTest {
 protected:
  void SetUp() override {
    CApiTest::SetUp();
    std::string name = (fs::temp_directory_path() / "abi-files-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    fs::remove_all(folder_);
    CApiTest::TearDown();
  }

  std::string path(const char* name) const { return (folder_ / name).string(); }

  /// A safetensors file: the header's length, the header, the data.
  std::string made_file(const std::string& header, const std::string& data) const {
    std::string file = path("made.safetensors");
    std::ofstream out(file, std::ios::binary);
    for (uint64_t length = header.size(), i = 0; i < 8; ++i, length >>= 8) {
      out.put(static_cast<char>(length & 0xFF));
    }
    out << header << data;
    return file;
  }

  static std::string bytes_of(const std::vector<float>& numbers) {
    std::string bytes(numbers.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
  }

  int32_t opened(const std::string& header, const std::string& data) const {
    int64_t file = kUntouched;
    const int32_t status = spt_safetensors_open(made_file(header, data).c_str(), &file);
    EXPECT_EQ(file, kUntouched) << header;
    return status;
  }

 private:
  fs::path folder_;
};

constexpr char kHeader[] =
    R"({"__metadata__":{"by":"a test"},)"
    R"("w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"flags":{"dtype":"BOOL","shape":[2],"data_offsets":[16,18]}})";

TEST_F(Files, ATensorComesBackFromItsArchive) {
  const Handle a = parameter({1, 2, 3, 4}, {2, 2});
  ASSERT_EQ(spt_tensor_save(a, path("a.pt").c_str()), SPT_OK) << spt_last_error_message();
  const Handle back = made(spt_tensor_load, path("a.pt").c_str());
  EXPECT_THAT(values(back), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(shape(back), ElementsAre(2, 2));
  EXPECT_FALSE(fs::exists(path("a.pt.part")));
}

TEST_F(Files, ArchivesRefuseWhatIsNoFileOfTheirs) {
  int64_t out = kUntouched;
  EXPECT_EQ(spt_tensor_load(path("absent.pt").c_str(), &out), SPT_IO);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("absent.pt cannot be read"));
  std::ofstream(path("text.pt")) << "no archive";
  EXPECT_EQ(spt_tensor_load(path("text.pt").c_str(), &out), SPT_IO);
  EXPECT_EQ(spt_tensor_load(nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_tensor_load(path("text.pt").c_str(), nullptr), SPT_INVALID_ARGUMENT);
  const Handle a = ones({1});
  EXPECT_EQ(spt_tensor_save(a, path("no/such/folder/a.pt").c_str()), SPT_IO);
  EXPECT_EQ(spt_tensor_save(a, nullptr), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_tensor_save(12345, path("a.pt").c_str()), SPT_INVALID_HANDLE);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Files, ASafetensorsFileIsRead) {
  const std::string file_path = made_file(kHeader, bytes_of({1, 2, 3, 4}) + std::string("\1\0", 2));
  const Handle file = made(spt_safetensors_open, file_path.c_str());
  int64_t count = 0;
  ASSERT_EQ(spt_safetensors_num_tensors(file, &count), SPT_OK);
  EXPECT_EQ(count, 2);
  char* names = nullptr;
  ASSERT_EQ(spt_safetensors_list_names(file, &names), SPT_OK);
  EXPECT_EQ(taken(names), "w\nflags");
  const Handle weight = made(spt_safetensors_get_tensor, int64_t{file}, "w");
  EXPECT_THAT(values(weight), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(shape(weight), ElementsAre(2, 2));
  const Handle flags = made(spt_safetensors_get_tensor, int64_t{file}, "flags");
  EXPECT_EQ(dtype(flags), "bool");
  EXPECT_THAT(values(flags), ElementsAre(1, 0));
}

TEST_F(Files, ItsTensorsOutliveASafetensorsFile) {
  const std::string file_path = made_file(kHeader, bytes_of({1, 2, 3, 4}) + std::string("\1\0", 2));
  int64_t file = 0;
  ASSERT_EQ(spt_safetensors_open(file_path.c_str(), &file), SPT_OK);
  const Handle weight = made(spt_safetensors_get_tensor, file, "w");
  EXPECT_EQ(spt_safetensors_close(file), SPT_OK);
  EXPECT_EQ(spt_safetensors_close(file), SPT_OK);  // passed over
  EXPECT_THAT(values(weight), ElementsAre(1, 2, 3, 4));
  int64_t count = kUntouched;
  EXPECT_EQ(spt_safetensors_num_tensors(file, &count), SPT_INVALID_HANDLE);
  EXPECT_EQ(count, kUntouched);
}

TEST_F(Files, BrokenSafetensorsFilesAreRefusedWithTheReason) {
  const auto one = [](const char* dtype, const char* shape, const char* offsets) {
    return std::string(R"({"w":{"dtype":")") + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  const std::string data = bytes_of({1, 2, 3, 4});
  const std::vector<std::pair<std::string, const char*>> faults = {
      {"no json", "its header is no JSON object"},
      {"[1]", "its header is no JSON object"},
      {R"({"w":{"dtype":"F32"}})", "data_offsets"},
      {one("F31", "[4]", "[0,16]"), "tensor w has the unknown dtype F31"},
      {one("F32", "[-4]", "[0,16]"), "tensor w has a size that cannot be"},
      {one("F32", "[4611686018427387904,4]", "[0,16]"), "tensor w has a size that cannot be"},
      {one("F32", "[5]", "[0,20]"), "tensor w takes 20 bytes"},
      {one("F32", "[4]", "[0,12]"), "tensor w takes 16 bytes"},
      {one("F32", "[4]", "[16,0]"), "tensor w takes 16 bytes"},
      {one("F32", R"("4")", "[0,16]"), "type must be array"},
  };
  for (const auto& [header, why] : faults) {
    EXPECT_EQ(opened(header, data), SPT_IO) << header;
    EXPECT_THAT(spt_last_error_message(), HasSubstr("made.safetensors is no valid safetensors file: "));
    EXPECT_THAT(spt_last_error_message(), HasSubstr(why)) << header;
  }
}

TEST_F(Files, WhatIsTooShortForASafetensorsFileIsRefused) {
  int64_t out = kUntouched;
  std::ofstream(path("short")) << "abc";
  EXPECT_EQ(spt_safetensors_open(path("short").c_str(), &out), SPT_IO);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("it is too short"));
  std::ofstream(path("long")) << std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}", 10);
  EXPECT_EQ(spt_safetensors_open(path("long").c_str(), &out), SPT_IO);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("is more than there is"));
  EXPECT_EQ(spt_safetensors_open(path("absent").c_str(), &out), SPT_IO);
  EXPECT_EQ(spt_safetensors_open(nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Files, ANameThatTheFileHasNotIsRefused) {
  const std::string file_path = made_file(kHeader, bytes_of({1, 2, 3, 4}) + std::string("\1\0", 2));
  const Handle file = made(spt_safetensors_open, file_path.c_str());
  int64_t out = kUntouched;
  EXPECT_EQ(spt_safetensors_get_tensor(file, "v", &out), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("has no tensor named 'v'"));
  EXPECT_EQ(spt_safetensors_get_tensor(file, nullptr, &out), SPT_INVALID_ARGUMENT);
  fs::resize_file(file_path, fs::file_size(file_path) - 10);
  EXPECT_EQ(spt_safetensors_get_tensor(file, "w", &out), SPT_IO);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Files, TheDynamicPathTakesAddresses) {
  const std::string file_path = made_file(kHeader, bytes_of({1, 2, 3, 4}) + std::string("\1\0", 2));
  const int64_t file = rt_torch_safetensors_open_dyn(reinterpret_cast<int64_t>(file_path.c_str()));
  ASSERT_NE(file, 0) << spt_last_error_message();
  const Handle weight(rt_torch_safetensors_get_tensor_dyn(file, reinterpret_cast<int64_t>("w")));
  EXPECT_THAT(values(weight), ElementsAre(1, 2, 3, 4));
  auto* names = reinterpret_cast<char*>(rt_torch_safetensors_list_names_dyn(file));
  EXPECT_EQ(taken(names), "w\nflags");
  rt_torch_safetensors_close_dyn(file);
  EXPECT_EQ(rt_torch_safetensors_num_tensors_dyn(file), 0);
}

TEST_F(Files, StreamsOfDevicesThatAreNotThereAreUnavailable) {
  int64_t out = kUntouched;
  EXPECT_EQ(spt_stream_create(99, &out), SPT_UNAVAILABLE);
  EXPECT_EQ(spt_stream_create(-1, &out), SPT_UNAVAILABLE);
  EXPECT_EQ(spt_stream_create(-2, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
  EXPECT_EQ(spt_stream_synchronize(12345), SPT_INVALID_HANDLE);
  bool idle = false;
  EXPECT_EQ(spt_stream_query(12345, &idle), SPT_INVALID_HANDLE);
  EXPECT_EQ(spt_stream_free(12345), SPT_OK);        // passed over
  EXPECT_EQ(rt_torch_torchstream_query(12345), 1);  // as stock Simple has it
  const Handle a = ones({1});
  EXPECT_EQ(spt_to_stream(a, 99, 0, &out), SPT_UNAVAILABLE);
}

TEST_F(Files, DevicesThatAreNotThereHoldNoMemory) {
  int64_t bytes = kUntouched;
  ASSERT_EQ(spt_cuda_memory_allocated(99, &bytes), SPT_OK);
  EXPECT_EQ(bytes, 0);
  ASSERT_EQ(spt_cuda_max_memory_allocated(99, &bytes), SPT_OK);
  EXPECT_EQ(bytes, 0);
  EXPECT_EQ(spt_cuda_empty_cache(), SPT_OK);
}

}  // namespace
