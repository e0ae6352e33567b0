#include "core_libtorch/events/hparams_encoder.h"

#include <string_view>

#include "hparams.pb.h"

namespace simple_torch::core::events {
namespace {

std::string string_of(Text text) { return {text.data, text.size}; }

void add_info(Experiment& experiment, Text name, HParamType type) {
  HParamInfo& info = *experiment.add_hparam_infos();
  info.set_name(string_of(name));
  info.set_type(type);
}

void fill(const HParams& hparams, Experiment& experiment) {
  for (const NamedNumber& number : hparams.numbers) {
    add_info(experiment, number.name, DATA_TYPE_FLOAT64);
  }
  for (const NamedText& text : hparams.texts) {
    add_info(experiment, text.name, DATA_TYPE_STRING);
  }
  for (const Text metric : hparams.metrics) {
    experiment.add_metric_infos()->mutable_name()->set_tag(string_of(metric));
  }
}

void fill(const HParams& hparams, SessionStartInfo& start) {
  auto& values = *start.mutable_hparams();
  for (const NamedNumber& number : hparams.numbers) {
    values[string_of(number.name)].set_number_value(number.value);
  }
  for (const NamedText& text : hparams.texts) {
    values[string_of(text.name)].set_string_value(string_of(text.value));
  }
}

}  // namespace

Text tag_of(HParamsPart part) {
  static constexpr std::string_view kTags[] = {"_hparams_/experiment", "_hparams_/session_start_info",
                                               "_hparams_/session_end_info"};
  const std::string_view tag = kTags[static_cast<size_t>(part)];
  return {tag.data(), tag.size()};
}

std::string plugin_data(HParamsPart part, const HParams& hparams) {
  HParamsPluginData data;
  switch (part) {
    case HParamsPart::kExperiment:
      fill(hparams, *data.mutable_experiment());
      break;
    case HParamsPart::kSessionStart:
      fill(hparams, *data.mutable_session_start_info());
      break;
    case HParamsPart::kSessionEnd:
      data.mutable_session_end_info()->set_status(STATUS_SUCCESS);
      break;
  }
  return data.SerializeAsString();
}

}  // namespace simple_torch::core::events
