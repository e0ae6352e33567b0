#include "core_libtorch/events/events.h"

#include <new>

#include "core_libtorch/error.h"
#include "core_libtorch/events/encoder_library.h"
#include "core_libtorch/events/strict_utf8.h"

namespace simple_torch::core::events {
namespace {

Text checked(const std::string& text, const char* what) {
  if (!is_strict_utf8(text)) {
    throw Error(ErrorKind::kInvalidArgument, std::string(what) + " must be valid UTF-8");
  }
  return {text.data(), text.size()};
}

std::vector<Text> checked(const std::vector<std::string>& texts, const char* what) {
  std::vector<Text> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) {
    result.push_back(checked(text, what));
  }
  return result;
}

template <class T>
Items<T> items(const std::vector<T>& values) {
  return {values.data(), values.size()};
}

/// The bytes that the encoder's function `encode(sink)` produces.
template <class Encode>
std::string encoded(Encode&& encode) {
  std::string bytes;
  bool has_memory = true;
  struct Target {
    std::string& bytes;
    bool& has_memory;
  } target{bytes, has_memory};
  const Sink sink{&target, [](void* self, const char* data, size_t size) {
                    auto& into = *static_cast<Target*>(self);
                    try {
                      into.bytes.assign(data, size);
                    } catch (const std::bad_alloc&) {
                      into.has_memory = false;
                    }
                  }};
  if (!encode(sink) || !has_memory) {
    throw Error(ErrorKind::kOutOfMemory, "SummaryWriter: an event exceeds 2 GB or the available memory");
  }
  return bytes;
}

}  // namespace

std::string version_event(Head head) {
  return encoded([&](Sink sink) { return encoder().version(head, sink); });
}

std::string session_start_event(Head head) {
  return encoded([&](Sink sink) { return encoder().session_start(head, sink); });
}

std::string scalar_event(Head head, const std::string& tag, double value, ScalarStyle style) {
  const Text name = checked(tag, "tag");
  return encoded([&](Sink sink) { return encoder().scalar(head, name, value, style, sink); });
}

std::string histogram_event(Head head, const std::string& tag, const Histogram& histogram) {
  const Text name = checked(tag, "tag");
  return encoded([&](Sink sink) {
    return encoder().histogram(head, name, &histogram.moments, items(histogram.limits),
                               items(histogram.counts), sink);
  });
}

std::string image_event(Head head, const std::string& tag, int64_t height, int64_t width, int64_t channels,
                        const at::Tensor& png) {
  if (!png.is_cpu() || png.scalar_type() != at::kByte || png.dim() != 1) {
    throw Error(ErrorKind::kInvalidArgument, "add_image: png must be a 1-D uint8 tensor on the CPU");
  }
  const Text name = checked(tag, "tag");
  const at::Tensor bytes = png.contiguous();
  const Text content{static_cast<const char*>(bytes.const_data_ptr()), static_cast<size_t>(bytes.numel())};
  return encoded([&](Sink sink) {
    return encoder().image(head, name, static_cast<int32_t>(height), static_cast<int32_t>(width),
                           static_cast<int32_t>(channels), content, sink);
  });
}

std::string text_event(Head head, const std::string& tag, const std::string& text) {
  const Text name = checked(tag, "tag"), content = checked(text, "text");
  return encoded([&](Sink sink) { return encoder().text(head, name, content, sink); });
}

std::string graph_event(Head head, const std::vector<Node>& nodes) {
  std::vector<std::vector<Text>> inputs, attributes;  // `encoded_nodes` points into them
  std::vector<GraphNode> encoded_nodes;
  for (const Node& node : nodes) {
    inputs.push_back(checked(node.inputs, "a graph input"));
    attributes.push_back(checked(node.attributes, "a graph attribute"));
    encoded_nodes.push_back({checked(node.name, "a graph node's name"),
                             checked(node.op, "a graph node's class"), items(inputs.back()),
                             items(attributes.back())});
  }
  return encoded([&](Sink sink) { return encoder().graph(head, items(encoded_nodes), sink); });
}

std::vector<std::string> hparams_events(Head head, const Hyperparameters& hyperparameters) {
  std::vector<NamedNumber> numbers;
  for (size_t i = 0; i < hyperparameters.numbers.size(); ++i) {
    numbers.push_back(
        {checked(hyperparameters.number_names[i], "a hyperparameter's name"), hyperparameters.numbers[i]});
  }
  std::vector<NamedText> texts;
  for (size_t i = 0; i < hyperparameters.texts.size(); ++i) {
    texts.push_back({checked(hyperparameters.text_names[i], "a hyperparameter's name"),
                     checked(hyperparameters.texts[i], "a hyperparameter's text")});
  }
  const std::vector<Text> metrics = checked(hyperparameters.metrics, "a metric's tag");
  const HParams hparams{items(numbers), items(texts), items(metrics)};
  std::vector<std::string> events;
  for (const HParamsPart part :
       {HParamsPart::kExperiment, HParamsPart::kSessionStart, HParamsPart::kSessionEnd}) {
    events.push_back(encoded([&](Sink sink) { return encoder().hparams(head, part, &hparams, sink); }));
  }
  return events;
}

}  // namespace simple_torch::core::events
