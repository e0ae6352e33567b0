// The interface between the backend and the library with libprotobuf: plain data in, the bytes of one event
// out. The library is separate, so that its libprotobuf does not mix with another of the process
// (encoder_library.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace simple_torch::core::events {

inline constexpr int32_t kEncoderVersion = 1;

/// UTF-8, or any bytes where documented.
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

/// The time of an event: seconds since 1970, and the program's step.
struct Head {
  double wall_time;
  int64_t step;
};

/// Receives the bytes of an event, once; must not throw.
struct Sink {
  void* self;
  void (*take)(void* self, const char* bytes, size_t size);
};

/// A scalar as `simple_value` or as a tensor.
enum class ScalarStyle : int32_t { kSimple = 0, kFloatTensor = 1, kDoubleTensor = 2 };

struct Moments {
  double min, max, num, sum, sum_squares;
};

struct GraphNode {
  Text name;
  Text op;
  Items<Text> inputs;
  Items<Text> attributes;  // alternating names and texts
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

/// Each returns false, and does not call the sink, without memory or for an event above 2 GB.
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

/// The only symbol of the library. Fills `api` and returns 0; returns 1 for another version.
extern "C" int32_t simple_torch_events_open(int32_t version, simple_torch::core::events::EncoderApi* api);
