// The private door between the front (libspl_torch.so) and a backend: plain data and function pointers,
// so that no C++ type of either side's standard library or of LibTorch crosses it.
#pragma once

#include <cstdint>

#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// Grows with every change of a struct in this file; front and backend must agree exactly.
inline constexpr int32_t kFrontBackendVersion = 2;

/// Where PyTorch and Python are. Never NULL; "" where nothing was found. Lives as long as the process.
struct Environment {
  const char* python;         // the environment's python executable
  const char* python_minor;   // "3.11"
  const char* torch_dir;      // the package's folder, which holds lib/
  const char* torch_version;  // "2.15.0+cu132"
  const char* torch_minor;    // "2.15"
  const char* library_dir;    // the folder of libspl_torch.so, its backends and bridges
};

/// One failure, as data. The strings live only for the call; NULL means empty.
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

/// The Simple runtime's helpers as the front found them: the executable's, or its own weak ones.
struct HostHelpers {
  SplArray* (*array_new)();
  void (*array_push)(SplArray*, SplValue);
  void (*array_free)(SplArray*);
  char* (*str_new)(const char*);
  int32_t (*threads_at_work)();
};

/// What the front gives to a backend. Valid until the process ends.
struct FrontServices {
  int32_t version;                         // kFrontBackendVersion
  void (*record_error)(const ErrorData*);  // into the calling thread's record
  const Environment* environment;
  HostHelpers host;
};

struct BackendTable;  // generated/backend_table.h: one slot for each function of the table

}  // namespace simple_torch::abi

/// The only symbol that a backend exports. Fills `table` and returns 0, or returns the kind of the error
/// that it recorded. `fingerprint` is that of the front's table; a backend made from another one refuses.
extern "C" int32_t simple_torch_backend_open(const simple_torch::abi::FrontServices* services,
                                             const char* fingerprint, simple_torch::abi::BackendTable* table);
