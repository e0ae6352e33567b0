// The contract of archives, safetensors files, streams and CUDA memory. The safetensors files are written
// byte by byte.
#include <array>
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

  /// Writes a safetensors file: length of the header, header, data.
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

TEST_F(Files, ATensorIsRestoredFromItsArchive) {
  const Handle a = parameter({1, 2, 3, 4}, {2, 2});
  ASSERT_EQ(spt_tensor_save(a, path("a.pt").c_str()), SPT_OK) << spt_last_error_message();
  const Handle back = create(spt_tensor_load, path("a.pt").c_str());
  EXPECT_THAT(values(back), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(shape(back), ElementsAre(2, 2));
  EXPECT_FALSE(fs::exists(path("a.pt.part")));
}

TEST_F(Files, OtherFilesAreNotArchives) {
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
  const Handle file = create(spt_safetensors_open, file_path.c_str());
  int64_t count = 0;
  ASSERT_EQ(spt_safetensors_num_tensors(file, &count), SPT_OK);
  EXPECT_EQ(count, 2);
  char* names = nullptr;
  ASSERT_EQ(spt_safetensors_list_names(file, &names), SPT_OK);
  EXPECT_EQ(take_string(names), "w\nflags");
  const Handle weight = create(spt_safetensors_get_tensor, int64_t{file}, "w");
  EXPECT_THAT(values(weight), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(shape(weight), ElementsAre(2, 2));
  const Handle flags = create(spt_safetensors_get_tensor, int64_t{file}, "flags");
  EXPECT_EQ(dtype(flags), "bool");
  EXPECT_THAT(values(flags), ElementsAre(1, 0));
}

TEST_F(Files, ItsTensorsOutliveASafetensorsFile) {
  const std::string file_path = made_file(kHeader, bytes_of({1, 2, 3, 4}) + std::string("\1\0", 2));
  int64_t file = 0;
  ASSERT_EQ(spt_safetensors_open(file_path.c_str(), &file), SPT_OK);
  const Handle weight = create(spt_safetensors_get_tensor, file, "w");
  EXPECT_EQ(spt_safetensors_close(file), SPT_OK);
  EXPECT_EQ(spt_safetensors_close(file), SPT_OK);  // ignored
  EXPECT_THAT(values(weight), ElementsAre(1, 2, 3, 4));
  int64_t count = kUntouched;
  EXPECT_EQ(spt_safetensors_num_tensors(file, &count), SPT_INVALID_HANDLE);
  EXPECT_EQ(count, kUntouched);
}

TEST_F(Files, BrokenSafetensorsFilesAreRejectedWithTheReason) {
  const auto one = [](const char* dtype, const char* shape, const char* offsets) {
    return std::string(R"({"w":{"dtype":")") + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
           offsets + "}}";
  };
  const std::string data = bytes_of({1, 2, 3, 4});
  const std::vector<std::pair<std::string, const char*>> faults = {
      {"no json", "the header is not a JSON object"},
      {"[1]", "the header is not a JSON object"},
      {R"({"w":{"dtype":"F32"}})", "data_offsets"},
      {one("F31", "[4]", "[0,16]"), "tensor w has unknown dtype F31"},
      {one("F32", "[-4]", "[0,16]"), "tensor w has an invalid size -4"},
      {one("F32", "[4611686018427387904,4]", "[0,16]"), "tensor w has an invalid size 4611686018427387904"},
      {one("F32", "[5]", "[0,20]"), "tensor w needs 20 bytes, got data_offsets [0, 20] in 16 bytes of data"},
      {one("F32", "[4]", "[0,12]"), "tensor w needs 16 bytes, got data_offsets [0, 12]"},
      {one("F32", "[4]", "[16,0]"), "tensor w needs 16 bytes, got data_offsets [16, 0]"},
      {one("F32", R"("4")", "[0,16]"), "type must be array"},
  };
  for (const auto& [header, why] : faults) {
    EXPECT_EQ(opened(header, data), SPT_IO) << header;
    EXPECT_THAT(spt_last_error_message(), HasSubstr("made.safetensors is not a valid safetensors file: "));
    EXPECT_THAT(spt_last_error_message(), HasSubstr(why)) << header;
  }
}

TEST_F(Files, ATooShortSafetensorsFileIsRejected) {
  int64_t out = kUntouched;
  std::ofstream(path("short")) << "abc";
  EXPECT_EQ(spt_safetensors_open(path("short").c_str(), &out), SPT_IO);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("the file has only 3 bytes"));
  std::ofstream(path("long")) << std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}", 10);
  EXPECT_EQ(spt_safetensors_open(path("long").c_str(), &out), SPT_IO);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("exceeds the file"));
  EXPECT_EQ(spt_safetensors_open(path("absent").c_str(), &out), SPT_IO);
  EXPECT_EQ(spt_safetensors_open(nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Files, SafetensorsAreWrittenWithTheirMetadata) {
  const Handle w = tensor({1, 2, 3, 4}, {2, 2});
  const Handle b = ones({3});
  const std::array<const char*, 2> names{"w", "b"};
  const std::array<int64_t, 2> tensors{w, b};
  const std::array<const char*, 1> keys{"by"}, texts{"a test"};
  const std::string file_path = path("written.safetensors");
  ASSERT_EQ(spt_safetensors_save(file_path.c_str(), names.data(), 2, tensors.data(), 2, keys.data(), 1,
                                 texts.data(), 1),
            SPT_OK)
      << spt_last_error_message();
  const Handle file = create(spt_safetensors_open, file_path.c_str());
  char* listed = nullptr;
  ASSERT_EQ(spt_safetensors_list_names(file, &listed), SPT_OK);
  EXPECT_EQ(take_string(listed), "b\nw");  // the format sorts tensors of one dtype by name
  EXPECT_THAT(values(create(spt_safetensors_get_tensor, int64_t{file}, "w")), ElementsAre(1, 2, 3, 4));
  SplArray* metadata = nullptr;
  ASSERT_EQ(spt_safetensors_metadata(file, &metadata), SPT_OK);
  ASSERT_EQ(spl_array_len(metadata), 4);
  EXPECT_STREQ(spl_array_get(metadata, 2).as_string, "by");
  EXPECT_STREQ(spl_array_get(metadata, 3).as_string, "a test");
  spl_array_free(metadata);
}

TEST_F(Files, SafetensorsThatCannotBeWrittenAreRejected) {
  const Handle w = ones({2});
  const std::array<const char*, 2> names{"w", "w"};
  const std::array<int64_t, 2> tensors{w, w};
  const std::string file_path = path("x.safetensors");
  const auto saved = [&](const char* where, int64_t names_len, int64_t tensors_len, int64_t texts_len) {
    return spt_safetensors_save(where, names.data(), names_len, tensors.data(), tensors_len, names.data(), 0,
                                names.data(), texts_len);
  };
  EXPECT_EQ(saved(nullptr, 1, 1, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(saved(file_path.c_str(), 2, 1, 0), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("2 names for 1 values"));
  EXPECT_EQ(saved(file_path.c_str(), 1, 1, 1), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(saved(file_path.c_str(), 2, 2, 0), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("the name 'w' is reserved or occurs twice"));
  const char* const invalid = "\xff";
  EXPECT_EQ(spt_safetensors_save(file_path.c_str(), &invalid, 1, tensors.data(), 1, nullptr, 0, nullptr, 0),
            SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("must be valid UTF-8"));
  EXPECT_EQ(saved(path("no/such/folder").c_str(), 1, 1, 0), SPT_IO);
  EXPECT_FALSE(fs::exists(file_path));
}

TEST_F(Files, AMissingTensorNameIsRejected) {
  const std::string file_path = made_file(kHeader, bytes_of({1, 2, 3, 4}) + std::string("\1\0", 2));
  const Handle file = create(spt_safetensors_open, file_path.c_str());
  int64_t out = kUntouched;
  EXPECT_EQ(spt_safetensors_get_tensor(file, "v", &out), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("has no tensor named 'v'"));
  EXPECT_EQ(spt_safetensors_get_tensor(file, nullptr, &out), SPT_INVALID_ARGUMENT);
  fs::resize_file(file_path, fs::file_size(file_path) - 10);
  EXPECT_EQ(spt_safetensors_get_tensor(file, "w", &out), SPT_IO);
  EXPECT_EQ(out, kUntouched);
}

TEST_F(Files, TheDynamicPathAcceptsAddresses) {
  const std::string file_path = made_file(kHeader, bytes_of({1, 2, 3, 4}) + std::string("\1\0", 2));
  const int64_t file = rt_torch_safetensors_open_dyn(reinterpret_cast<int64_t>(file_path.c_str()));
  ASSERT_NE(file, 0) << spt_last_error_message();
  const Handle weight(rt_torch_safetensors_get_tensor_dyn(file, reinterpret_cast<int64_t>("w")));
  EXPECT_THAT(values(weight), ElementsAre(1, 2, 3, 4));
  auto* names = reinterpret_cast<char*>(rt_torch_safetensors_list_names_dyn(file));
  EXPECT_EQ(take_string(names), "w\nflags");
  rt_torch_safetensors_close_dyn(file);
  EXPECT_EQ(rt_torch_safetensors_num_tensors_dyn(file), 0);
}

TEST_F(Files, StreamsOfMissingDevicesAreUnavailable) {
  int64_t out = kUntouched;
  EXPECT_EQ(spt_stream_create(99, &out), SPT_UNAVAILABLE);
  EXPECT_EQ(spt_stream_create(-1, &out), SPT_UNAVAILABLE);
  EXPECT_EQ(spt_stream_create(-2, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(out, kUntouched);
  EXPECT_EQ(spt_stream_synchronize(12345), SPT_INVALID_HANDLE);
  bool idle = false;
  EXPECT_EQ(spt_stream_query(12345, &idle), SPT_INVALID_HANDLE);
  EXPECT_EQ(spt_stream_free(12345), SPT_OK);        // ignored
  EXPECT_EQ(rt_torch_torchstream_query(12345), 1);  // as in stock Simple
  const Handle a = ones({1});
  EXPECT_EQ(spt_to_stream(a, 99, 0, &out), SPT_UNAVAILABLE);
}

TEST_F(Files, MissingDevicesHaveNoMemory) {
  int64_t bytes = kUntouched;
  ASSERT_EQ(spt_cuda_memory_allocated(99, &bytes), SPT_OK);
  EXPECT_EQ(bytes, 0);
  ASSERT_EQ(spt_cuda_max_memory_allocated(99, &bytes), SPT_OK);
  EXPECT_EQ(bytes, 0);
  EXPECT_EQ(spt_cuda_empty_cache(), SPT_OK);
}

/// An owned array of values for spt_values_save.
class Flat {
 public:
  Flat() : array_(spl_array_new()) {}
  ~Flat() { spl_array_free(array_); }
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;
  Flat& add(int64_t number) {
    spl_array_push_i64(array_, number);
    return *this;
  }
  const SplArray* get() const { return array_; }

 private:
  SplArray* array_;
};

TEST_F(Files, FlatValuesRoundTrip) {
  const Handle x = tensor({1, 2}, {2});
  const std::string file = path("value.pt");
  Flat flat;  // [x, (3,)]
  ASSERT_EQ(spt_values_save(file.c_str(), "ltuv", flat.add(2).add(x).add(1).add(3).get()), SPT_OK)
      << spt_last_error_message();
  SplArray* read = nullptr;
  ASSERT_EQ(spt_values_load(file.c_str(), "cpu", &read), SPT_OK) << spt_last_error_message();
  ASSERT_EQ(read->len, 6);
  EXPECT_STREQ(read->items[1].as_string, "ltuv");
  EXPECT_EQ(read->items[2].as_int, 2);
  EXPECT_THAT(values(Handle(read->items[3].as_int)), ElementsAre(1, 2));
  EXPECT_EQ(read->items[5].as_int, 3);
  spl_array_free(read);
}

TEST_F(Files, ValuesThatDoNotMatchTheirLettersAreRejected) {
  const std::string file = path("value.pt");
  const auto expect_error = [&](const char* kinds, const Flat& flat, const char* why) {
    EXPECT_EQ(spt_values_save(file.c_str(), kinds, flat.get()), SPT_INVALID_ARGUMENT) << kinds;
    EXPECT_THAT(spt_last_error_message(), HasSubstr(why));
  };
  expect_error("l", Flat().add(int64_t{1} << 60), "end inside a collection");
  expect_error("d", Flat().add(int64_t{1} << 62), "end inside a collection");
  expect_error("l", Flat().add(-1), "must be a non-negative integer");
  expect_error("vv", Flat().add(1).add(2), "expected one value, got more");
  expect_error("z", Flat().add(1), "");
  expect_error("vv", Flat().add(1), "");
  Flat deep;
  for (int i = 0; i < 300; ++i) {
    deep.add(1);
  }
  expect_error(std::string(300, 'l').c_str(), deep, "nested more than 200 levels deep");
  EXPECT_EQ(spt_values_save(file.c_str(), "t", Flat().add(12345).get()), SPT_INVALID_HANDLE);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(Files, LibTorchsArchivesAreDistinguishedFromPythons) {
  const Handle x = tensor({1, 2}, {2});
  const std::string file = path("archive.pt");
  bool is_libtorchs = false;
  ASSERT_EQ(spt_tensor_save(x, file.c_str()), SPT_OK);
  ASSERT_EQ(spt_file_is_libtorchs(file.c_str(), &is_libtorchs), SPT_OK);
  EXPECT_TRUE(is_libtorchs);
  Flat flat;
  ASSERT_EQ(spt_values_save(file.c_str(), "v", flat.add(1).get()), SPT_OK);
  ASSERT_EQ(spt_file_is_libtorchs(file.c_str(), &is_libtorchs), SPT_OK);
  EXPECT_FALSE(is_libtorchs);
}

}  // namespace
