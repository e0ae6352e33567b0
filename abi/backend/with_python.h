// How each body of spt_py_* runs: Python started, handles looked up before the bridge takes the GIL.
#pragma once

#include <cstdlib>
#include <utility>

#include "abi/backend/guarded.h"
#include "abi/backend/python_arguments.h"
#include "abi/backend/python_library.h"
#include "core_libtorch/autograd/engine.h"

namespace simple_torch::abi {

using bridge::BridgeApi;

/// Runs `body(api)`, whose result is a status that the bridge has recorded already, with Python started.
/// Handles are looked up in it before the bridge takes the GIL.
template <class Body>
int32_t with_python(Body&& body) noexcept {
  int32_t status = 0;
  const int32_t thrown = guarded([&] {
    const BridgeApi* api = running_python();
    if (api == nullptr) [[unlikely]] {
      status = start_python(&api);
    }
    if (status == 0) {
      status = body(*api);
      if (!core::has_prepared_python.load(std::memory_order_relaxed)) {
        core::prepare_engine();  // it may have imported torch
      }
    }
  });
  return thrown != 0 ? thrown : status;
}

/// The same for a body that makes one object: `body(api, out)`.
template <class Body>
int32_t object_with_python(int64_t* out, Body&& body) noexcept {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    PythonRef made;
    const int32_t status = body(api, made.receive());
    if (status == 0) {
      *out = give(std::move(made));
    }
    return status;
  });
}

/// The same for a body that makes a malloc'ed text.
template <class Body>
int32_t text_with_python(char** out, Body&& body) noexcept {
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

/// The same for a body that gives a plain value.
template <class T, class Body>
int32_t value_with_python(T* out, Body&& body) noexcept {
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

/// The handle itself, which the bridge looks up under the GIL. Throws Error(kInvalidHandle).
inline bridge::ObjectHandle object_argument(int64_t handle) {
  if (!handles().holds(handle, HandleKind::kObject)) [[unlikely]] {
    handles().get<PythonRef>(handle);  // which says what is wrong with it
  }
  return handle;
}

}  // namespace simple_torch::abi
