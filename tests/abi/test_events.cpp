// The contract of event files. tests/training/test_tensorboard.py reads them with TensorBoard.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "capi_test.h"

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace {

namespace fs = std::filesystem;

class Events : public CApiTest {
 protected:
  void SetUp() override {
    CApiTest::SetUp();
    std::string name = (fs::temp_directory_path() / "abi-events-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override {
    fs::remove_all(folder_);
    CApiTest::TearDown();
  }

  Handle writer(int64_t max_queue = 1) const {
    return create(spt_event_writer_new, folder_.c_str(), max_queue, 120.0, "");
  }

  static fs::path path_of(int64_t writer) {
    char* path = nullptr;
    EXPECT_EQ(spt_event_writer_path(writer, &path), SPT_OK);
    return take_string(path);
  }

  /// The number of records of the file; -1 if the last one is incomplete.
  static int records(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const auto size = static_cast<std::streamoff>(fs::file_size(path));
    std::streamoff at = 0;
    int count = 0;
    for (uint64_t length = 0; at < size; ++count) {
      file.seekg(at);
      file.read(reinterpret_cast<char*>(&length), sizeof(length));
      at += static_cast<std::streamoff>(length) + 16;
    }
    return at == size ? count : -1;
  }

  fs::path folder_;
};

TEST_F(Events, AFileHasTheNameThatTensorBoardExpects) {
  const Handle first = create(spt_event_writer_new, (folder_ / "a/b").c_str(), int64_t{1}, 120.0, ".mine");
  EXPECT_EQ(path_of(first).parent_path(), folder_ / "a/b");
  EXPECT_THAT(path_of(first).filename(), MatchesRegex("events\\.out\\.tfevents\\.[0-9]{10}\\..*\\.mine"));
  EXPECT_GT(fs::file_size(path_of(first)), 0U);
  const Handle second = create(spt_event_writer_new, (folder_ / "a/b").c_str(), int64_t{1}, 120.0, ".mine");
  EXPECT_NE(path_of(first), path_of(second));
}

TEST_F(Events, EventsAreBufferedUntilAFlush) {
  const Handle held = writer(100);
  const auto size_before = fs::file_size(path_of(held));
  ASSERT_EQ(spt_event_scalar(held, "loss", 0.5, 0, 1, 2.0), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(fs::file_size(path_of(held)), size_before);
  ASSERT_EQ(spt_event_writer_flush(held), SPT_OK);
  // wall_time 9, step 2, summary 2 + value 2 + tag 6 + number 5: 26 bytes, plus 16 bytes of framing.
  EXPECT_EQ(fs::file_size(path_of(held)), size_before + 26 + 16);
}

TEST_F(Events, ReleaseWritesBufferedEvents) {
  Handle held = writer(100);
  const fs::path path = path_of(held);
  const auto size_before = fs::file_size(path);
  ASSERT_EQ(spt_event_scalar(held, "loss", 0.5, 0, 1, 2.0), SPT_OK);
  held = Handle();
  EXPECT_EQ(fs::file_size(path), size_before + 42);
}

TEST_F(Events, AllWritersAreFlushedAtOnce) {
  const Handle one = writer(100), other = writer(100);
  const auto size_before = fs::file_size(path_of(other));
  ASSERT_EQ(spt_event_scalar(other, "loss", 0.5, 0, 1, 2.0), SPT_OK);
  ASSERT_EQ(spt_event_writers_flush(), SPT_OK);
  EXPECT_EQ(fs::file_size(path_of(other)), size_before + 42);
  EXPECT_EQ(fs::file_size(path_of(one)), size_before);
}

TEST_F(Events, AClosedWriterRejectsEvents) {
  const Handle held = writer();
  ASSERT_EQ(spt_event_writer_close(held), SPT_OK);
  EXPECT_EQ(spt_event_scalar(held, "loss", 0.5, 0, 1, 2.0), SPT_INVALID_ARGUMENT);
  EXPECT_THAT(spt_last_error_message(), HasSubstr("is closed"));
  EXPECT_EQ(spt_event_writer_flush(held), SPT_OK);
  EXPECT_EQ(spt_event_writer_close(held), SPT_OK);
}

TEST_F(Events, EachKindAddsItsEvents) {
  const Handle held = writer();
  const fs::path path = path_of(held);
  const Handle numbers = tensor({1, 2, 2}, {3});
  const Handle image = create(spt_to_dtype, int64_t{zeros({3, 2, 2})}, int64_t{0});
  const std::vector<double> five{0, 1, 2, 3, 4}, two{1, 2};
  const char* const node[] = {"group/name", "Linear", "1", "input", "1", "shape", "[2]"};
  const char* const name[] = {"lr"};
  ASSERT_EQ(records(path), 1);
  EXPECT_EQ(spt_event_session_start(held, 7, 2.0), SPT_OK);
  EXPECT_EQ(spt_event_scalar(held, "a", 1, 2, 0, 0), SPT_OK);
  EXPECT_EQ(spt_event_histogram(held, "a", numbers, nullptr, 0, 0, 0, 0, 0), SPT_OK);
  EXPECT_EQ(spt_event_histogram_raw(held, "a", five.data(), 5, two.data(), 2, two.data(), 2, 0, 0), SPT_OK);
  EXPECT_EQ(spt_event_image(held, "a", image, 0, 0), SPT_OK);
  EXPECT_EQ(spt_event_text(held, "a", "text", 0, 0), SPT_OK);
  EXPECT_EQ(spt_event_graph(held, node, 7, 0), SPT_OK);
  EXPECT_EQ(records(path), 8);
  EXPECT_EQ(spt_event_hparams(held, name, 1, two.data(), 1, nullptr, 0, nullptr, 0, nullptr, 0, 0, 0),
            SPT_OK);
  EXPECT_EQ(records(path), 11);
}

TEST_F(Events, SeveralThreadsMayWrite) {
  const Handle held = writer(7);
  const auto size_before = fs::file_size(path_of(held));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int64_t step = 1; step <= 100; ++step) {
        spt_event_scalar(held, "loss", 0.5, 0, step, 2.0);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_EQ(spt_event_writer_close(held), SPT_OK);
  EXPECT_EQ(fs::file_size(path_of(held)), size_before + size_t{4} * 100 * 42);
}

TEST_F(Events, InvalidArgumentsAreRejected) {
  const Handle held = writer();
  const Handle numbers = tensor({1, 2}, {2});
  const std::vector<double> five{0, 1, 2, 3, 4}, two{1, 2}, one{1};
  const auto size_before = fs::file_size(path_of(held));
  const char* const no_utf8 = "\xFF";
  const char* const names[] = {"a", "b"};
  const char* const half[] = {"name", "op", "2", "input"};
  const char* const no_count[] = {"name", "op", "many", "0"};
  int64_t out = kUntouched;

  EXPECT_EQ(spt_event_writer_new(nullptr, 1, 120, "", &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_writer_new(folder_.c_str(), 1, 120, nullptr, &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_writer_new(folder_.c_str(), 1, 120, "a/b", &out), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_writer_new("/proc/no-folder-here", 1, 120, "", &out), SPT_IO);
  EXPECT_EQ(out, kUntouched);

  EXPECT_EQ(spt_event_scalar(numbers, "a", 1, 0, 0, 0), SPT_INVALID_HANDLE);
  EXPECT_EQ(spt_event_scalar(held, nullptr, 1, 0, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_scalar(held, no_utf8, 1, 0, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_scalar(held, "a", 1, 3, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_text(held, "a", no_utf8, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_text(held, "a", nullptr, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_histogram(held, "a", numbers, nullptr, 0, -1, 0, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_histogram(held, "a", numbers, one.data(), 1, 0, 0, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_histogram_raw(held, "a", two.data(), 2, two.data(), 2, two.data(), 2, 0, 0),
            SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_histogram_raw(held, "a", five.data(), 5, two.data(), 2, one.data(), 1, 0, 0),
            SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_image(held, "a", numbers, 0, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_graph(held, half, 4, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_graph(held, no_count, 4, 0), SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_hparams(held, names, 2, one.data(), 1, nullptr, 0, nullptr, 0, nullptr, 0, 0, 0),
            SPT_INVALID_ARGUMENT);
  EXPECT_EQ(spt_event_hparams(held, nullptr, 0, nullptr, 0, names, 2, names, 1, nullptr, 0, 0, 0),
            SPT_INVALID_ARGUMENT);
  EXPECT_EQ(fs::file_size(path_of(held)), size_before) << "a rejected call wrote to the file";
}

}  // namespace
