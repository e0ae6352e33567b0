// The bytes of TensorBoard's events. Each throws Error(kInvalidArgument) for texts that are no UTF-8,
// Error(kUnavailable) where there is no libprotobuf, and Error(kOutOfMemory) for an event above 2 GB.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core_libtorch/events/encoder_api.h"
#include "core_libtorch/events/histogram.h"

namespace simple_torch::core::events {

/// The first of each file.
std::string version_event(Head head);

/// What a run that went before logged from this step on does not count.
std::string session_start_event(Head head);

std::string scalar_event(Head head, const std::string& tag, double value, ScalarStyle style);
std::string histogram_event(Head head, const std::string& tag, const Histogram& histogram);

/// `png` is a uint8 tensor [n], the bytes of a PNG file of a picture of those sizes.
std::string image_event(Head head, const std::string& tag, int64_t height, int64_t width, int64_t channels,
                        const at::Tensor& png);

/// A text of the plugin for texts, which shows it as Markdown.
std::string text_event(Head head, const std::string& tag, const std::string& text);

struct Node {
  std::string name, op;
  std::vector<std::string> inputs, attributes;  // attributes: a name and its text in turn
};

std::string graph_event(Head head, const std::vector<Node>& nodes);

/// A run's hyperparameters, and the tags of the scalars that it is judged by.
struct Hyperparameters {
  std::vector<std::string> number_names;
  std::vector<double> numbers;
  std::vector<std::string> text_names, texts, metrics;
};

std::vector<std::string> hparams_events(Head head, const Hyperparameters& given);

}  // namespace simple_torch::core::events
