// The entry point of the backend, and the conversion of exceptions to error records.
#include <c10/util/Exception.h>

#include <cstring>
#include <exception>
#include <new>

#include "abi/backend/guarded.h"
#include "abi/backend/python_library.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_table.h"
#include "core_libtorch/small_blocks.h"
#include "core_libtorch/stack_traces.h"
#include "core_libtorch/threads.h"

namespace simple_torch::abi {

extern const BackendTable kBodies;

namespace {

const FrontServices* front = nullptr;

/// Created when the backend is loaded, so after LibTorch's static objects, and destroyed before them.
struct CloseAtExit {
  ~CloseAtExit() {
    if (front != nullptr) {
      front->close_backend();
    }
  }
} close_at_exit;

int32_t record(const Error& error) noexcept {
  const ErrorFields& fields = error.fields();
  const ErrorData data{static_cast<int32_t>(error.kind()),
                       error.what(),
                       fields.op.c_str(),
                       fields.expected.c_str(),
                       fields.got.c_str(),
                       fields.requested_bytes,
                       fields.available_bytes,
                       fields.type.c_str(),
                       fields.traceback.c_str()};
  front->record_error(&data);
  return data.kind;
}

int32_t record(ErrorKind kind, const char* message) noexcept {
  const ErrorData data{static_cast<int32_t>(kind), message, "", "", "", -1, -1, "", ""};
  front->record_error(&data);
  return data.kind;
}

}  // namespace

const FrontServices& services() { return *front; }

int32_t record_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return record(error);
  } catch (const c10::Error& error) {  // thrown outside with_error_context()
    return record(core::to_error("", {}, error));
  } catch (const std::bad_alloc&) {
    return record(ErrorKind::kOutOfMemory, "out of memory");
  } catch (const std::exception& error) {
    const bridge::BridgeApi* python = opened_python();
    const int32_t kind = python == nullptr ? 0 : python->report_exception();
    return kind != 0 ? kind : record(ErrorKind::kInternal, error.what());
  } catch (...) {
    return record(ErrorKind::kInternal, "unknown C++ exception");
  }
}

}  // namespace simple_torch::abi

extern "C" __attribute__((visibility("default"))) int32_t simple_torch_backend_open(
    const simple_torch::abi::FrontServices* services, const char* fingerprint,
    simple_torch::abi::BackendTable* table) {
  using namespace simple_torch::abi;  // NOLINT(google-build-using-namespace): a function's scope
  front = services;
  if (services->version != kFrontBackendVersion || std::strcmp(fingerprint, kTableFingerprint) != 0) {
    return record(simple_torch::ErrorKind::kUnavailable,
                  "the backend was built for another libspl_torch.so; rebuild both: bin/simple build");
  }
  simple_torch::core::use_small_blocks();
  simple_torch::core::use_one_thread_after_forks();
  simple_torch::core::omit_stack_traces();
  *table = kBodies;
  return 0;
}
