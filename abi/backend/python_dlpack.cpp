// Bodies of spt_py_*: conversions between tensors and Python objects.
#include <optional>
#include <string>
#include <utility>

#include "abi/backend/last_import.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/backend/with_python.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/dtypes.h"
#include "dlpack_interop/copies.h"
#include "dlpack_interop/interop.h"
#include "dlpack_interop/types.h"

namespace simple_torch::abi {
namespace {

using dlpack::CopyRule;

constexpr const char* kPathNames[] = {
    "a torch tensor",           "the NumPy array itself",      "the C exchange table of its type",
    "__dlpack__ with versions", "__dlpack__ without versions", "the buffer protocol"};

/// A tensor that was imported from a Python object.
struct FromPython {
  FromPython(const BridgeApi& api, int64_t object, const bridge::ImportOptions& options) {
    bridge::TensorResult result{.tensor = &tensor};
    status = is_tensor_handle(object) ? 0 : api.to_tensor(object_argument(object), &options, &result);
    managed = dlpack::Managed(result.versioned);
    shared = managed.get() == nullptr;
    path = kPathNames[static_cast<size_t>(result.path)];
  }

  /// A handle of the tensor in `managed`. The deleter of a rejected one has run when this throws. Sets
  /// `status` if Python code was interrupted meanwhile.
  int64_t imported(const BridgeApi& api, CopyRule rule) {
    try {
      dlpack::Imported imported_tensor = dlpack::import_by_rule(std::move(managed), rule);
      last_import() = {path, imported_tensor.why_copied};
      return new_handle(std::move(imported_tensor.tensor));
    } catch (...) {
      status = api.delete_rejected(managed.release());
      if (status != 0) {
        return 0;
      }
      throw;
    }
  }

  /// A handle of another tensor that shares the memory of the torch.Tensor.
  int64_t shared_by(CopyRule rule) {
    dlpack::Imported imported_tensor = dlpack::share_by_rule(tensor, rule);
    last_import() = {path, imported_tensor.why_copied};
    return new_handle(std::move(imported_tensor.tensor));
  }

  /// Whether the handle contains a tensor, so that Python is not needed.
  bool is_tensor_handle(int64_t object) {
    const auto held = handles().get<PythonRef>(object);
    if (!bridge::holds_tensor(held->get())) {
      return false;
    }
    tensor = bridge::tensor_in(held->get());
    return true;
  }

  at::Tensor tensor;
  dlpack::Managed managed;
  int32_t status = 0;
  bool shared = false;  // `tensor` is the tensor of a torch.Tensor
  const char* path = "";
};

CopyRule copy_rule(int64_t copy) {
  switch (copy) {
    case -1:
      return CopyRule::kIfNeeded;
    case 0:
      return CopyRule::kNever;
    case 1:
      return CopyRule::kAlways;
    default:
      throw Error(ErrorKind::kInvalidArgument,
                  "copy must be -1 (if needed), 0 (never) or 1 (always), got " + std::to_string(copy));
  }
}

constexpr int64_t kAnywhere = -2;

std::optional<c10::Device> required_device(int64_t code) {
  if (code == kAnywhere) {
    return std::nullopt;
  }
  return core::device_of_code(code);
}

void require_device(const FromPython& from, const std::optional<c10::Device>& device) {
  if (!from.shared || !device || from.tensor.device() == *device) {
    return;
  }
  ErrorFields fields;
  fields.expected = device->str();
  fields.got = from.tensor.device().str();
  throw Error(ErrorKind::kDeviceMismatch,
              "expected a tensor on " + fields.expected + ", got one on " + fields.got + "; move it first",
              fields);
}

}  // namespace

namespace body {

// Flattened, as the next function: the calls inside cost about as much as the work.
[[gnu::flatten]] int32_t py_from_tensor(int64_t a, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& /*api*/, bridge::Object** result) {
    *result = bridge::as_object(at::Tensor(*tensor_argument(a)));
    return 0;
  });
}

[[gnu::flatten]] int32_t py_to_tensor(int64_t a, int64_t* out) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    FromPython from(api, a, {});
    if (from.status == 0) {
      const int64_t handle =
          from.shared ? new_handle(std::move(from.tensor)) : from.imported(api, CopyRule::kIfNeeded);
      if (from.status == 0) {
        *out = handle;
      }
    }
    return from.status;
  });
}

int32_t py_to_generator(int64_t a, int64_t* out) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    at::Generator generator;
    const int32_t status = api.to_generator(object_argument(a), &generator);
    if (status == 0) {
      *out = handles().insert(std::move(generator));
    }
    return status;
  });
}

int32_t py_from_generator(int64_t generator, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    const auto held = handles().get<at::Generator>(generator);
    return api.from_generator(&*held, result);
  });
}

int32_t py_from_dlpack(int64_t a, int64_t device, int64_t copy, int64_t* out) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    const CopyRule rule = copy_rule(copy);
    const std::optional<c10::Device> expected = required_device(device);
    const DLDevice number = expected ? dlpack::dlpack_device(*expected) : DLDevice{};
    FromPython from(api, a, {.copy = rule, .device = expected ? &number : nullptr});
    if (from.status == 0) {
      require_device(from, expected);
      const int64_t handle = from.shared ? from.shared_by(rule) : from.imported(api, rule);
      if (from.status == 0) {
        *out = handle;
      }
    }
    return from.status;
  });
}

int32_t py_capsule_new(int64_t managed, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    dlpack::Managed owned = handles().take<dlpack::Managed>(managed);
    bridge::Value value{};
    value.type = bridge::Value::Type::kDlpack;
    value.dlpack = owned.receiver();
    return api.from_value(&value, result);
  });
}

int32_t py_capsule_take(int64_t capsule, int64_t* out) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    bridge::TensorResult result{.tensor = nullptr};
    const int32_t status = api.capsule_take(object_argument(capsule), &result);
    dlpack::Managed managed(result.versioned);
    if (status == 0) {
      *out = handles().insert(std::move(managed));
    }
    return status;
  });
}

}  // namespace body
}  // namespace simple_torch::abi
