// Events as TensorBoard's messages, by libprotobuf. Source: torch.utils.tensorboard.summary.
#include <new>
#include <string>

#include "core_libtorch/events/encoder_api.h"
#include "core_libtorch/events/hparams_encoder.h"
#include "messages.pb.h"

namespace simple_torch::core::events {
namespace {

constexpr int kGraphVersion = 22;  // of GraphDef, which PyTorch writes

std::string string_of(Text text) { return {text.data, text.size}; }

Event event_at(Head head) {
  Event event;
  event.set_wall_time(head.wall_time);
  event.set_step(head.step);
  return event;
}

/// Runs `fill(event)` and passes the serialized event to the sink.
template <class Fill>
bool encoded(Head head, Sink sink, Fill&& fill) {
  try {
    Event event = event_at(head);
    fill(event);
    std::string bytes;
    if (!event.SerializeToString(&bytes)) {
      return false;
    }
    sink.take(sink.self, bytes.data(), bytes.size());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

template <class Fill>
bool encoded_value(Head head, Text tag, Sink sink, Fill&& fill) {
  return encoded(head, sink, [&](Event& event) {
    Summary::Value& value = *event.mutable_summary()->add_value();
    value.set_tag(string_of(tag));
    fill(value);
  });
}

void set_plugin(Summary::Value& value, const char* name, const std::string& content) {
  SummaryMetadata::PluginData& plugin = *value.mutable_metadata()->mutable_plugin_data();
  plugin.set_plugin_name(name);
  plugin.set_content(content);
}

bool version(Head head, Sink sink) {
  return encoded(head, sink, [](Event& event) {
    event.set_file_version("brain.Event:2");
    event.mutable_source_metadata()->set_writer("simple_torch");
  });
}

bool session_start(Head head, Sink sink) {
  return encoded(head, sink,
                 [](Event& event) { event.mutable_session_log()->set_status(SessionLog::START); });
}

bool scalar(Head head, Text tag, double number, ScalarStyle style, Sink sink) {
  return encoded_value(head, tag, sink, [&](Summary::Value& value) {
    if (style == ScalarStyle::kSimple) {
      value.set_simple_value(static_cast<float>(number));
      return;
    }
    set_plugin(value, "scalars", "");
    TensorProto& tensor = *value.mutable_tensor();
    if (style == ScalarStyle::kFloatTensor) {
      tensor.set_dtype(DT_FLOAT);
      tensor.add_float_val(static_cast<float>(number));
    } else {
      tensor.set_dtype(DT_DOUBLE);
      tensor.add_double_val(number);
    }
  });
}

bool histogram(Head head, Text tag, const Moments* moments, Items<double> limits, Items<double> counts,
               Sink sink) {
  return encoded_value(head, tag, sink, [&](Summary::Value& value) {
    HistogramProto& histogram = *value.mutable_histo();
    histogram.set_min(moments->min);
    histogram.set_max(moments->max);
    histogram.set_num(moments->num);
    histogram.set_sum(moments->sum);
    histogram.set_sum_squares(moments->sum_squares);
    histogram.mutable_bucket_limit()->Add(limits.begin(), limits.end());
    histogram.mutable_bucket()->Add(counts.begin(), counts.end());
  });
}

bool image(Head head, Text tag, int32_t height, int32_t width, int32_t channels, Text png, Sink sink) {
  return encoded_value(head, tag, sink, [&](Summary::Value& value) {
    Summary::Image& image = *value.mutable_image();
    image.set_height(height);
    image.set_width(width);
    image.set_colorspace(channels);
    image.set_encoded_image_string(png.data, png.size);
  });
}

bool text(Head head, Text tag, Text content, Sink sink) {
  return encoded_value(head, tag, sink, [&](Summary::Value& value) {
    set_plugin(value, "text", "");
    TensorProto& tensor = *value.mutable_tensor();
    tensor.set_dtype(DT_STRING);
    tensor.add_string_val(content.data, content.size);
    tensor.mutable_tensor_shape()->add_dim()->set_size(1);
  });
}

void fill_node(const GraphNode& source, NodeDef& node) {
  node.set_name(string_of(source.name));
  node.set_op(string_of(source.op));
  for (const Text input : source.inputs) {
    node.add_input(string_of(input));
  }
  for (size_t i = 0; i + 1 < source.attributes.size; i += 2) {
    (*node.mutable_attr())[string_of(source.attributes.data[i])].set_s(
        string_of(source.attributes.data[i + 1]));
  }
}

bool graph(Head head, Items<GraphNode> nodes, Sink sink) {
  return encoded(head, sink, [&](Event& event) {
    GraphDef graph;
    graph.mutable_versions()->set_producer(kGraphVersion);
    for (const GraphNode& node : nodes) {
      fill_node(node, *graph.add_node());
    }
    graph.SerializeToString(event.mutable_graph_def());
  });
}

bool hparams(Head head, HParamsPart part, const HParams* hparams, Sink sink) {
  return encoded_value(head, tag_of(part), sink, [&](Summary::Value& value) {
    set_plugin(value, "hparams", plugin_data(part, *hparams));
  });
}

}  // namespace
}  // namespace simple_torch::core::events

extern "C" __attribute__((visibility("default"))) int32_t simple_torch_events_open(
    int32_t version, simple_torch::core::events::EncoderApi* api) {
  namespace events = simple_torch::core::events;
  if (version != events::kEncoderVersion) {
    return 1;
  }
  *api = {events::version, events::session_start, events::scalar, events::histogram,
          events::image,   events::text,          events::graph,  events::hparams};
  return 0;
}
