// Between the backend and the library that has libprotobuf: plain data in, the bytes of one event out. The
// library is one of its own, so that its libprotobuf meets no other of the process (encoder_library.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace simple_torch::core::events {

inline constexpr int32_t kEncoderVersion = 1;

/// UTF-8, or any bytes where that is said.
struct Text {
  const char* data;
  size_t size;
};

template <class T>
struct Items {
  const T* data;
  size_t size;

  const T* begin() const { return data; }
  const T* end() const { return data + size; }
};

/// When an event is: seconds since 1970, and the step of the program's own count.
struct Head {
  double wall_time;
  int64_t step;
};

/// Takes the bytes of an event, once; does not throw.
struct Sink {
  void* self;
  void (*take)(void* self, const char* bytes, size_t size);
};

/// A number as `simple_value`, or as a tensor of its own.
enum class ScalarStyle : int32_t { kSimple = 0, kFloatTensor = 1, kDoubleTensor = 2 };

struct Moments {
  double min, max, num, sum, sum_squares;
};

struct GraphNode {
  Text name;
  Text op;
  Items<Text> inputs;
  Items<Text> attributes;  // a name and its text in turn
};

struct NamedNumber {
  Text name;
  double value;
};

struct NamedText {
  Text name;
  Text value;
};

struct HParams {
  Items<NamedNumber> numbers;
  Items<NamedText> texts;
  Items<Text> metrics;
};

/// The three events that describe a run to the hparams plugin.
enum class HParamsPart : int32_t { kExperiment = 0, kSessionStart = 1, kSessionEnd = 2 };

/// Each gives whether there was memory for it and the event is not above 2 GB; else nothing was taken.
struct EncoderApi {
  bool (*version)(Head head, Sink sink);
  bool (*session_start)(Head head, Sink sink);
  bool (*scalar)(Head head, Text tag, double value, ScalarStyle style, Sink sink);
  bool (*histogram)(Head head, Text tag, const Moments* moments, Items<double> limits, Items<double> counts,
                    Sink sink);
  bool (*image)(Head head, Text tag, int32_t height, int32_t width, int32_t channels, Text png, Sink sink);
  bool (*text)(Head head, Text tag, Text text, Sink sink);
  bool (*graph)(Head head, Items<GraphNode> nodes, Sink sink);
  bool (*hparams)(Head head, HParamsPart part, const HParams* hparams, Sink sink);
};

}  // namespace simple_torch::core::events

/// The one symbol of that library. Fills `api` and gives 0; another version gives 1.
extern "C" int32_t simple_torch_events_open(int32_t version, simple_torch::core::events::EncoderApi* api);
