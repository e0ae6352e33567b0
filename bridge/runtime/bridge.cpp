// The bridge's one exported function.
#include "bridge/bridge_api.h"
#include "bridge/objects/objects.h"
#include "bridge/objects/plain_values.h"
#include "bridge/objects/simple_functions.h"
#include "bridge/runtime/backend.h"
#include "bridge/runtime/entry.h"
#include "bridge/runtime/greenlets.h"
#include "bridge/tensors/tensors.h"

namespace simple_torch::bridge {
namespace {

int32_t version_text(char** out) {
  return text_from_python(out, [] { return PyUnicode_FromString(Py_GetVersion()); });
}

}  // namespace
}  // namespace simple_torch::bridge

extern "C" __attribute__((visibility("default"))) int32_t simple_torch_bridge_open(
    const simple_torch::abi::FrontServices* services, int32_t version, simple_torch::bridge::BridgeApi* api) {
  using namespace simple_torch::bridge;  // NOLINT(google-build-using-namespace): the function is C's
  if (version != kBridgeVersion) {
    return 1;
  }
  set_services(services);
  detect_running_python();
  api->use = set_backend_services;
  api->immortals[0] = as_object(Py_None);
  api->immortals[1] = as_object(Py_True);
  api->immortals[2] = as_object(Py_False);
  api->start = start_python;
  api->is_started = python_is_started;
  api->version_text = version_text;
  api->shutdown = shut_python_down;
  api->current_greenlet = current_greenlet;
  api->restore_exception = restore_python_exception;
  api->register_thread = register_thread;
  api->report_exception = report_python_exception;
  add_object_functions(*api);
  add_value_functions(*api);
  add_plain_value_functions(*api);
  add_simple_function_entries(*api);
  return 0;
}
