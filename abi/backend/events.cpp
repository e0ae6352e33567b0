// Bodies of TensorBoard event files.
#include "core_libtorch/events/events.h"

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/events/event_writer.h"
#include "core_libtorch/images/encode.h"

namespace simple_torch::abi {

namespace events = core::events;
using WriterPointer = std::unique_ptr<events::EventWriter>;

template <>
struct HandleKindOf<WriterPointer> {
  static constexpr HandleKind value = HandleKind::kEventWriter;
};

namespace {

constexpr int64_t kPngLevel = 6;

[[noreturn]] void reject_event(const std::string& why) { throw Error(ErrorKind::kInvalidArgument, why); }

std::vector<double> numbers_of(const double* items, int64_t size, const char* name) {
  return list_argument(items, size, name).vec();
}

void require_same_size(size_t names, size_t values, const char* what) {
  if (names != values) {
    reject_event(std::to_string(names) + " " + what + " for " + std::to_string(values) + " values");
  }
}

/// Parses the flat form of graph nodes.
class Nodes {
 public:
  explicit Nodes(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  std::vector<events::Node> all() {
    std::vector<events::Node> nodes;
    while (at_ < texts_.size()) {
      events::Node node{next(), next(), {}, {}};
      node.inputs = next_strings(count());
      node.attributes = next_strings(2 * count());
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

 private:
  std::string next() {
    if (at_ == texts_.size()) {
      reject_event("the list of graph nodes ends inside a node");
    }
    return texts_[at_++];
  }

  size_t count() {
    const std::string text = next();
    size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number > texts_.size()) {
      reject_event("a graph node has \"" + text + "\", expected a count");
    }
    return number;
  }

  std::vector<std::string> next_strings(size_t count) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) {
      texts.push_back(next());
    }
    return texts;
  }

  std::vector<std::string> texts_;
  size_t at_ = 0;
};

events::Histogram histogram_of(const at::Tensor& values, std::vector<double> edges, int64_t bins,
                               int64_t max_bins) {
  if (bins < 0) {
    reject_event("bins must be non-negative, got " + std::to_string(bins));
  }
  if (edges.empty()) {
    edges = bins > 0 ? events::even_edges(values, bins) : events::default_edges();
  }
  return events::histogram_of(values, edges, max_bins);
}

}  // namespace

namespace body {

int32_t event_writer_new(const char* log_dir, int64_t max_queue, double flush_secs,
                         const char* filename_suffix, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(log_dir, "log_dir");
    require(filename_suffix, "filename_suffix");
    *out = handles().insert(
        std::make_unique<events::EventWriter>(log_dir, max_queue, flush_secs, filename_suffix));
  });
}

int32_t event_writer_path(int64_t writer, char** out) {
  return guarded_result(out,
                        [&] { return to_malloc_string((*handles().get<WriterPointer>(writer))->path()); });
}

int32_t event_writer_flush(int64_t writer) {
  return guarded([&] { (*handles().get<WriterPointer>(writer))->flush(); });
}

int32_t event_writer_close(int64_t writer) {
  return guarded([&] { (*handles().get<WriterPointer>(writer))->close(); });
}

int32_t event_writers_flush() {
  return guarded([] { events::EventWriter::flush_all(); });
}

int32_t event_session_start(int64_t writer, int64_t step, double wall_time) {
  return guarded([&] {
    const auto held = handles().get<WriterPointer>(writer);
    (*held)->add(events::session_start_event({wall_time, step}));
  });
}

int32_t event_scalar(int64_t writer, const char* tag, double value, int64_t style, int64_t step,
                     double wall_time) {
  return guarded([&] {
    require(tag, "tag");
    if (style < 0 || style > 2) {
      reject_event("scalar style must be 0, 1 or 2, got " + std::to_string(style));
    }
    const auto held = handles().get<WriterPointer>(writer);
    (*held)->add(
        events::scalar_event({wall_time, step}, tag, value, static_cast<events::ScalarStyle>(style)));
  });
}

int32_t event_histogram(int64_t writer, const char* tag, int64_t values, const double* edges,
                        int64_t edges_len, int64_t bins, int64_t max_bins, int64_t step, double wall_time) {
  return guarded([&] {
    require(tag, "tag");
    const auto held = handles().get<WriterPointer>(writer);
    const auto tensor = tensor_argument(values);
    const events::Histogram histogram = core::with_error_context("event_histogram", {&*tensor}, [&] {
      return histogram_of(*tensor, numbers_of(edges, edges_len, "edges"), bins, max_bins);
    });
    (*held)->add(events::histogram_event({wall_time, step}, tag, histogram));
  });
}

int32_t event_histogram_raw(int64_t writer, const char* tag, const double* moments, int64_t moments_len,
                            const double* limits, int64_t limits_len, const double* counts,
                            int64_t counts_len, int64_t step, double wall_time) {
  return guarded([&] {
    require(tag, "tag");
    const std::vector<double> parsed = numbers_of(moments, moments_len, "moments");
    if (parsed.size() != 5) {
      reject_event("a histogram must have 5 moments, got " + std::to_string(parsed.size()));
    }
    const events::Histogram histogram{{parsed[0], parsed[1], parsed[2], parsed[3], parsed[4]},
                                      numbers_of(limits, limits_len, "limits"),
                                      numbers_of(counts, counts_len, "counts")};
    require_same_size(histogram.limits.size(), histogram.counts.size(), "bucket limits");
    const auto held = handles().get<WriterPointer>(writer);
    (*held)->add(events::histogram_event({wall_time, step}, tag, histogram));
  });
}

int32_t event_image(int64_t writer, const char* tag, int64_t image, int64_t step, double wall_time) {
  return guarded([&] {
    require(tag, "tag");
    const auto held = handles().get<WriterPointer>(writer);
    const auto pixels = tensor_argument(image);
    const at::Tensor png = core::images::encode_png(*pixels, kPngLevel);
    (*held)->add(
        events::image_event({wall_time, step}, tag, pixels->size(1), pixels->size(2), pixels->size(0), png));
  });
}

int32_t event_text(int64_t writer, const char* tag, const char* content, int64_t step, double wall_time) {
  return guarded([&] {
    require(tag, "tag");
    require(content, "content");
    const auto held = handles().get<WriterPointer>(writer);
    (*held)->add(events::text_event({wall_time, step}, tag, content));
  });
}

int32_t event_graph(int64_t writer, const char* const* nodes, int64_t nodes_len, double wall_time) {
  return guarded([&] {
    const auto held = handles().get<WriterPointer>(writer);
    (*held)->add(events::graph_event({wall_time, 0}, Nodes(string_list(nodes, nodes_len, "nodes")).all()));
  });
}

int32_t event_hparams(int64_t writer, const char* const* number_names, int64_t number_names_len,
                      const double* numbers, int64_t numbers_len, const char* const* text_names,
                      int64_t text_names_len, const char* const* contents, int64_t contents_len,
                      const char* const* metrics, int64_t metrics_len, int64_t step, double wall_time) {
  return guarded([&] {
    const events::Hyperparameters parsed{
        string_list(number_names, number_names_len, "number_names"),
        numbers_of(numbers, numbers_len, "numbers"), string_list(text_names, text_names_len, "text_names"),
        string_list(contents, contents_len, "contents"), string_list(metrics, metrics_len, "metrics")};
    require_same_size(parsed.number_names.size(), parsed.numbers.size(), "number names");
    require_same_size(parsed.text_names.size(), parsed.texts.size(), "string names");
    const auto held = handles().get<WriterPointer>(writer);
    for (const std::string& event : events::hparams_events({wall_time, step}, parsed)) {
      (*held)->add(event);
    }
  });
}

}  // namespace body
}  // namespace simple_torch::abi
