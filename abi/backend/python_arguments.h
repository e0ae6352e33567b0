// Python objects and argument lists on their way between handles and the bridge.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "abi/backend/dlpack_handles.h"
#include "abi/backend/python_library.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/handles/handle_table.h"
#include "bridge/tensors/tensor_object.h"
#include "simple_torch/spl_runtime.h"

namespace simple_torch::abi {

/// What a handle to a Python object holds: one reference. Dropping it never waits for the GIL; the bridge
/// gives the reference back when a thread holds it next.
class PythonRef {
 public:
  PythonRef() noexcept = default;
  explicit PythonRef(bridge::Object* owned) noexcept : object_(owned) {}
  PythonRef(PythonRef&& other) noexcept : object_(other.give()) {}
  PythonRef& operator=(PythonRef&&) = delete;
  ~PythonRef() {
    if (bridge::holds_tensor(object_)) {
      let_go_of_tensor();
    } else if (object_ != nullptr) {
      opened_python()->release(object_);
    }
  }

  bridge::Object* get() const noexcept { return object_; }
  /// The same, of which nothing is said once this is gone; NULL where it is a tensor.
  [[gnu::no_sanitize_thread]] bridge::Object* glance() const noexcept {
    bridge::Object* object = __atomic_load_n(&object_, __ATOMIC_ACQUIRE);
    return bridge::holds_tensor(object) ? nullptr : object;
  }
  bridge::Object* give() noexcept { return std::exchange(object_, nullptr); }
  bridge::Object** receive() noexcept { return &object_; }  // for a function of the bridge to fill

 private:
  void let_go_of_tensor() noexcept;
  bridge::Object* object_ = nullptr;
};

template <>
struct HandleKindOf<PythonRef> {
  static constexpr HandleKind value = HandleKind::kObject;
};

/// A new handle, or the one that stands for None, True or False.
inline int64_t give(PythonRef object) {
  const int64_t lasting = lasting_handle(object.get());
  if (lasting != 0) {
    object.give();  // it holds no reference
    return lasting;
  }
  return handles().insert(std::move(object));
}

/// The values of one call, converted from `kinds` and `values` (see functions_python.toml). What they refer
/// to is kept alive until this dies; a DLPack handle among them has ended by then.
class PythonArguments {
 public:
  /// Throws Error: InvalidArgument where kinds and values do not fit, InvalidHandle.
  PythonArguments(const char* kinds, const SplArray* values);
  PythonArguments(const PythonArguments&) = delete;
  PythonArguments& operator=(const PythonArguments&) = delete;

  /// The values, of which the last `names_len` are named.
  bridge::Arguments with_names(const char* const* names, int64_t names_len) const;
  /// All of them, when there are as many as that. Throws Error(kInvalidArgument).
  const bridge::Value* exactly(size_t count) const;
  const bridge::Value* data() const noexcept { return values_.data(); }
  size_t size() const noexcept { return values_.size(); }

 private:
  void convert(char kind, const SplValue& item, bridge::Value& out);
  void convert_plain(const SplValue& item, bridge::Value& out);
  void convert_list(const SplArray* array, bridge::Value& out);

  c10::SmallVector<bridge::Value, 8> values_;
  c10::SmallVector<HandleTable::Borrowed<PythonRef>, 8> objects_;
  c10::SmallVector<HandleTable::Borrowed<at::Tensor>, 4> tensors_;
  std::list<dlpack::Managed> capsules_;  // which costs nothing while empty; the values point into it
  std::vector<std::unique_ptr<bridge::Value[]>> lists_;
};

}  // namespace simple_torch::abi
