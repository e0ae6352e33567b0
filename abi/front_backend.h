// The private interface between the front (libspl_torch.so) and a backend. It consists of plain data and
// function pointers, so that no C++ type of a standard library or of LibTorch crosses it.
#pragma once

#include <cstdint>

#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// Incremented with every change of a struct in this file. Front and backend must have the same version.
inline constexpr int32_t kFrontBackendVersion = 6;

/// The PyTorch and the Python in use. Strings are never NULL, "" if nothing was found, and live as long as
/// the process.
struct Environment {
  const char* python;         // the environment's python executable
  const char* python_minor;   // "3.11"
  const char* torch_dir;      // the package's folder, which holds lib/
  const char* torch_version;  // "2.15.0+cu132"
  const char* torch_minor;    // "2.15"
  const char* library_dir;    // the folder of libspl_torch.so, its backends and bridges
};

/// One error. The strings are valid during the call; NULL means empty.
struct ErrorData {
  int32_t kind;  // ErrorKind's number
  const char* message;
  const char* op;
  const char* expected;
  const char* got;
  int64_t requested_bytes;  // -1: does not apply
  int64_t available_bytes;
  const char* type;
  const char* traceback;
};

/// The Simple runtime's helpers: those of the executable, or the weak ones of the front.
struct HostHelpers {
  SplArray* (*array_new)();
  void (*array_push)(SplArray*, SplValue);
  void (*array_free)(SplArray*);
  char* (*str_new)(const char*);
  const SplInterruptService* interrupts;  // NULL in a process without the host
};

/// The functions and data of the front that a backend uses. Valid until the process ends.
struct FrontServices {
  int32_t version;                         // kFrontBackendVersion
  void (*record_error)(const ErrorData*);  // into the calling thread's record
  const Environment* environment;
  HostHelpers host;
  void (*close_backend)();                                        // every later call fails with Unavailable
  void (*set_coroutine_function)(uint64_t (*)());                 // what spl_current_coroutine calls
  void (*set_output_writer)(int stream, SplOutputWriter writer);  // what spl_output_writer returns
};

struct BackendTable;  // generated/backend_table.h: one slot for each function of the table

}  // namespace simple_torch::abi

/// The only symbol that a backend exports. Fills `table` and returns 0, or records an error and returns its
/// kind. Fails if `fingerprint`, that of the front's table, differs from the backend's.
extern "C" int32_t simple_torch_backend_open(const simple_torch::abi::FrontServices* services,
                                             const char* fingerprint, simple_torch::abi::BackendTable* table);
