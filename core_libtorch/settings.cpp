#include "core_libtorch/settings.h"

#include <ATen/Context.h>
#include <c10/core/AutogradState.h>

#include <array>
#include <string_view>

#include "core_libtorch/error.h"

namespace simple_torch::core {
namespace {

struct Setting {
  std::string_view name;
  bool (*get)();
  void (*set)(bool);
};

at::Context& context() { return at::globalContext(); }

constexpr std::array kSettings = {
    Setting{"flash_sdp", [] { return context().userEnabledFlashSDP(); },
            [](bool on) { context().setSDPUseFlash(on); }},
    Setting{"mem_efficient_sdp", [] { return context().userEnabledMemEfficientSDP(); },
            [](bool on) { context().setSDPUseMemEfficient(on); }},
    Setting{"math_sdp", [] { return context().userEnabledMathSDP(); },
            [](bool on) { context().setSDPUseMath(on); }},
    Setting{"cudnn_sdp", [] { return context().userEnabledCuDNNSDP(); },
            [](bool on) { context().setSDPUseCuDNN(on); }},
    Setting{"overrideable_sdp", [] { return context().userEnabledOverrideableSDP(); },
            [](bool on) { context().setSDPUseOverrideable(on); }},
    Setting{"deterministic", [] { return context().deterministicAlgorithms(); },
            [](bool on) { context().setDeterministicAlgorithms(on, false); }},
    Setting{"deterministic_warn_only", [] { return context().deterministicAlgorithmsWarnOnly(); },
            [](bool on) { context().setDeterministicAlgorithms(context().deterministicAlgorithms(), on); }},
    Setting{"cudnn", [] { return context().userEnabledCuDNN(); },
            [](bool on) { context().setUserEnabledCuDNN(on); }},
    Setting{"cudnn_benchmark", [] { return context().benchmarkCuDNN(); },
            [](bool on) { context().setBenchmarkCuDNN(on); }},
    Setting{"cudnn_deterministic", [] { return context().deterministicCuDNN(); },
            [](bool on) { context().setDeterministicCuDNN(on); }},
    Setting{"autograd_multithreading",
            [] { return c10::AutogradState::get_tls_state().get_multithreading_enabled(); },
            [](bool on) { c10::AutogradState::get_tls_state().set_multithreading_enabled(on); }},
};

const Setting& setting_of(const std::string& name) {
  for (const Setting& one : kSettings) {
    if (one.name == name) {
      return one;
    }
  }
  throw Error(ErrorKind::kInvalidArgument, "no setting named '" + name + "'");
}

}  // namespace

std::string float32_matmul_precision() {
  switch (context().float32MatmulPrecision()) {
    case at::Float32MatmulPrecision::HIGHEST:
      return "highest";
    case at::Float32MatmulPrecision::HIGH:
      return "high";
    default:
      return "medium";
  }
}

void set_float32_matmul_precision(const std::string& precision) {
  if (precision != "highest" && precision != "high" && precision != "medium") {
    throw Error(ErrorKind::kInvalidArgument, precision +
                                                 " is not one of 'highest', 'high', or 'medium'; it is the "
                                                 "precision of float32 matrix products");
  }
  context().setFloat32MatmulPrecision(precision);
}

int64_t setting(const std::string& name) { return setting_of(name).get() ? 1 : 0; }

void set_setting(const std::string& name, bool value) { setting_of(name).set(value); }

}  // namespace simple_torch::core
