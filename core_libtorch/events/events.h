// Encodes TensorBoard's events. Each function throws Error(kInvalidArgument) for invalid UTF-8,
// Error(kUnavailable) without libprotobuf, and Error(kOutOfMemory) for an event above 2 GB.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core_libtorch/events/encoder_api.h"
#include "core_libtorch/events/histogram.h"

namespace simple_torch::core::events {

/// The first event of each file.
std::string version_event(Head head);

/// Invalidates the events of an earlier run from this step on.
std::string session_start_event(Head head);

std::string scalar_event(Head head, const std::string& tag, double value, ScalarStyle style);
std::string histogram_event(Head head, const std::string& tag, const Histogram& histogram);

/// `png` is a uint8 tensor [n], a PNG file of an image with these sizes.
std::string image_event(Head head, const std::string& tag, int64_t height, int64_t width, int64_t channels,
                        const at::Tensor& png);

/// A text for the text plugin, which renders Markdown.
std::string text_event(Head head, const std::string& tag, const std::string& text);

struct Node {
  std::string name, op;
  std::vector<std::string> inputs, attributes;  // attributes: alternating names and texts
};

std::string graph_event(Head head, const std::vector<Node>& nodes);

/// A run's hyperparameters and the tags of its metrics.
struct Hyperparameters {
  std::vector<std::string> number_names;
  std::vector<double> numbers;
  std::vector<std::string> text_names, texts, metrics;
};

std::vector<std::string> hparams_events(Head head, const Hyperparameters& hyperparameters);

}  // namespace simple_torch::core::events
