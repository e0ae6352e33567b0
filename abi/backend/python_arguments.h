// Handles of Python objects, and argument lists for the bridge.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "abi/backend/dlpack_handles.h"
#include "abi/backend/python_library.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/handles/handle_table.h"
#include "bridge/tensors/tensor_object.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// The value of an object handle: one reference. Its destruction never waits for the GIL; a thread that holds
/// the GIL drops the reference later.
class PythonRef {
 public:
  PythonRef() noexcept = default;
  explicit PythonRef(bridge::Object* owned) noexcept : object_(owned) {}
  PythonRef(PythonRef&& other) noexcept : object_(other.release()) {}
  PythonRef& operator=(PythonRef&&) = delete;
  ~PythonRef() {
    if (bridge::holds_tensor(object_)) {
      release_tensor();
    } else if (object_ != nullptr) {
      opened_python()->release(object_);
    }
  }

  bridge::Object* get() const noexcept { return object_; }
  /// As get(), for HandleTable::peek(); NULL if the object is a tensor.
  [[gnu::no_sanitize_thread]] bridge::Object* peek() const noexcept {
    bridge::Object* object = __atomic_load_n(&object_, __ATOMIC_ACQUIRE);
    return bridge::holds_tensor(object) ? nullptr : object;
  }
  bridge::Object* release() noexcept { return std::exchange(object_, nullptr); }
  bridge::Object** receive() noexcept { return &object_; }  // for functions of the bridge

 private:
  void release_tensor() noexcept;
  bridge::Object* object_ = nullptr;
};

template <>
struct HandleKindOf<PythonRef> {
  static constexpr HandleKind value = HandleKind::kObject;
};

/// A new handle, or the immortal handle of None, True or False.
inline int64_t new_handle(PythonRef object) {
  const int64_t immortal = immortal_handle(object.get());
  if (immortal != 0) {
    static_cast<void>(object.release());  // immortal objects have no reference
    return immortal;
  }
  return handles().insert(std::move(object));
}

/// The values of one call, converted from `kinds` and `values` (functions_python.toml). Keeps what they refer
/// to alive, and takes the tensors out of DLPack handles.
class PythonArguments {
 public:
  /// Throws Error: InvalidArgument if `kinds` and `values` do not match, InvalidHandle.
  PythonArguments(const char* kinds, const SplArray* values);
  PythonArguments(const PythonArguments&) = delete;
  PythonArguments& operator=(const PythonArguments&) = delete;

  /// The values; the last `names_len` are keyword arguments.
  bridge::Arguments with_names(const char* const* names, int64_t names_len) const;
  /// All values. Throws Error(kInvalidArgument) unless there are `count`.
  const bridge::Value* exactly(size_t count) const;
  const bridge::Value* data() const noexcept { return values_.data(); }
  size_t size() const noexcept { return values_.size(); }

 private:
  void convert(char kind, const SplValue& item, bridge::Value& out);
  void convert_plain(const SplValue& item, bridge::Value& out);
  void convert_dict(const SplValue& item, bridge::Value& out);
  [[gnu::noinline]] void convert_list(const SplArray* array, bridge::Value& out);

  c10::SmallVector<bridge::Value, 8> values_;
  c10::SmallVector<HandleTable::Borrowed<PythonRef>, 8> objects_;
  c10::SmallVector<HandleTable::Borrowed<at::Tensor>, 4> tensors_;
  std::list<dlpack::Managed> capsules_;  // a list, because the values point into it
};

}  // namespace simple_torch::abi
