// The services of the backend for the bridge: DLPack imports and exports, whose errors are returned as
// messages, and the classification of LibTorch's messages.
#include <cstdio>
#include <exception>
#include <string>

#include "abi/backend/guarded.h"
#include "abi/backend/python_arguments.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/error.h"
#include "core_libtorch/error_messages.h"
#include "dlpack_interop/copies.h"
#include "dlpack_interop/interop.h"

namespace simple_torch::abi {
namespace {

using bridge::ServiceError;

bridge::Object* object_of(bridge::ObjectHandle handle) { return handles().peek<PythonRef>(handle); }

bool tensor_of(bridge::ObjectHandle handle, at::Tensor& out) {
  const auto held = handles().get_if<PythonRef>(handle);
  if (!held || !bridge::holds_tensor((*held)->get())) {
    return false;
  }
  out = bridge::tensor_in((*held)->get());
  return true;
}

template <class Body>
bool report_errors(ServiceError& failure, Body&& body) noexcept {
  try {
    body();
    return true;
  } catch (const Error& error) {
    std::snprintf(failure.message, sizeof failure.message, "%s", error.what());
    return false;
  } catch (const std::exception& error) {
    opened_python()->restore_exception();
    const bool is_empty = *error.what() == '\0';  // LibTorch's exception for a Python exception
    std::snprintf(failure.message, sizeof failure.message, "%s",
                  is_empty ? "Python code of a mode or a tensor subclass failed" : error.what());
    return false;
  }
}

bool export_tensor(const at::Tensor& tensor, bool copy, DLManagedTensorVersioned** out,
                   ServiceError& failure) {
  return report_errors(failure, [&] { *out = dlpack::export_tensor(tensor, copy).release(); });
}

bool export_legacy(const at::Tensor& tensor, DLManagedTensor** out, ServiceError& failure) {
  return report_errors(failure, [&] { *out = dlpack::export_legacy(tensor); });
}

bool export_moved(at::Tensor& tensor, DLManagedTensorVersioned** out, ServiceError& failure) {
  return report_errors(failure, [&] {
    dlpack::Managed exported = dlpack::export_tensor(tensor);
    tensor.reset();
    *out = dlpack::complete_move(std::move(exported)).release();
  });
}

bool import_tensor(DLManagedTensorVersioned* managed, dlpack::CopyRule rule, at::Tensor& out,
                   ServiceError& failure) {
  return report_errors(failure, [&] { out = dlpack::import_by_rule(dlpack::Managed(managed), rule).tensor; });
}

bool import_memory(const DLTensor& described, void* owner, void (*release)(void*), at::Tensor& out,
                   ServiceError& failure) {
  return report_errors(failure, [&] { out = dlpack::import_memory(described, owner, release); });
}

bool share(const at::Tensor& tensor, dlpack::CopyRule rule, at::Tensor& out, ServiceError& failure) {
  return report_errors(failure, [&] { out = dlpack::share_by_rule(tensor, rule).tensor; });
}

void copy(const std::string& text, char (&out)[256]) { std::snprintf(out, sizeof out, "%s", text.c_str()); }

void classify_message(const char* message, bridge::MessageClass& out) noexcept {
  out = {static_cast<int32_t>(ErrorKind::kTorch), -1, -1, "", ""};
  try {
    const Error error = core::error_from_message(message);
    out.kind = static_cast<int32_t>(error.kind());
    out.requested_bytes = error.fields().requested_bytes;
    out.available_bytes = error.fields().available_bytes;
    copy(error.fields().expected, out.expected);
    copy(error.fields().got, out.got);
  } catch (const std::exception&) {
    return;  // out of memory: keep the default
  }
}

int held_locks() { return core::held_locks(); }

}  // namespace

const bridge::BackendServices kBackendServices{object_of,    tensor_of,     export_tensor, export_legacy,
                                               export_moved, import_tensor, import_memory, classify_message,
                                               share,        held_locks};

}  // namespace simple_torch::abi
