// Runs the bodies of spt_py_*.
#pragma once

#include <pthread.h>

#include <cstdlib>
#include <utility>

#include "abi/backend/guarded.h"
#include "abi/backend/python_arguments.h"
#include "abi/backend/python_library.h"
#include "core_libtorch/autograd/engine.h"

namespace simple_torch::abi {

using bridge::BridgeApi;

/// Starts Python and runs `body(api)`, which returns a status; the bridge has recorded the error. `body`
/// looks up handles before the bridge acquires the GIL.
template <class Body>
int32_t with_python(Body&& body) {
  pthread_testcancel();  // for a request that waited for the previous call; here no result is lost
  int32_t status = 0;
  const int32_t thrown = guarded([&] {
    const BridgeApi* api = running_python();
    if (api == nullptr) [[unlikely]] {
      status = start_python(&api);
    }
    if (status == 0) {
      status = body(*api);
      if (!core::has_prepared_python.load(std::memory_order_relaxed)) {
        core::prepare_engine();  // the start may have imported torch
      }
    }
  });
  return thrown != 0 ? thrown : status;
}

/// The same for a body that creates one object: `body(api, out)`.
template <class Body>
int32_t object_with_python(int64_t* out, Body&& body) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    PythonRef object;
    const int32_t status = body(api, object.receive());
    if (status == 0) {
      *out = new_handle(std::move(object));
    }
    return status;
  });
}

/// The same for a body that creates a malloc'ed string.
template <class Body>
int32_t text_with_python(char** out, Body&& body) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    char* text = nullptr;
    const int32_t status = body(api, &text);
    if (status == 0) {
      *out = text;
    } else {
      std::free(text);
    }
    return status;
  });
}

/// The same for a body that returns a plain value.
template <class T, class Body>
int32_t value_with_python(T* out, Body&& body) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    T value{};
    const int32_t status = body(api, &value);
    if (status == 0) {
      *out = value;
    }
    return status;
  });
}

/// Validates the handle, which the bridge looks up under the GIL. Throws Error(kInvalidHandle).
inline bridge::ObjectHandle object_argument(int64_t handle) {
  if (!handles().holds(handle, HandleKind::kObject)) [[unlikely]] {
    handles().get<PythonRef>(handle);  // throws the error
  }
  return handle;
}

}  // namespace simple_torch::abi
