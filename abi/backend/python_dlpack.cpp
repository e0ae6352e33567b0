// Bodies of spt_py_*: tensors to Python's and back.
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

constexpr const char* kWays[] = {
    "a torch tensor",         "the NumPy array itself",        "the C exchange table of its type",
    "__dlpack__ of DLPack 1", "__dlpack__ of before DLPack 1", "the buffer protocol"};

/// A tensor on its way out of Python.
struct FromPython {
  FromPython(const BridgeApi& api, int64_t object, const bridge::ImportOptions& wanted) {
    bridge::TensorResult result{.tensor = &tensor};
    status = is_known(object) ? 0 : api.to_tensor(object_argument(object), &wanted, &result);
    managed = dlpack::Managed(result.versioned);
    shared = managed.get() == nullptr;
    way = kWays[static_cast<size_t>(result.path)];
  }

  /// A handle of the tensor that `managed` holds.
  int64_t imported(CopyRule rule) {
    dlpack::Imported taken = dlpack::import_by_rule(std::move(managed), rule);
    last_import() = {way, taken.why_copied};
    return give(std::move(taken.tensor));
  }

  /// A handle of another tensor on the torch.Tensor's memory.
  int64_t shared_by(CopyRule rule) {
    dlpack::Imported taken = dlpack::share_by_rule(tensor, rule);
    last_import() = {way, taken.why_copied};
    return give(std::move(taken.tensor));
  }

  /// Whether the handle holds the tensor itself, which has no need of Python then.
  bool is_known(int64_t object) {
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
  bool shared = false;  // a torch.Tensor: `tensor` is the very same
  const char* way = "";
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
                  "copy is " + std::to_string(copy) + "; it is -1 (where needed), 0 (never) or 1 (always)");
  }
}

constexpr int64_t kAnywhere = -2;

std::optional<c10::Device> wanted_device(int64_t code) {
  if (code == kAnywhere) {
    return std::nullopt;
  }
  return core::device_of_code(code);
}

void require_place(const FromPython& from, const std::optional<c10::Device>& place) {
  if (!from.shared || !place || from.tensor.device() == *place) {
    return;
  }
  ErrorFields fields;
  fields.expected = place->str();
  fields.got = from.tensor.device().str();
  throw Error(
      ErrorKind::kDeviceMismatch,
      "the tensor is on " + fields.got + ", and wanted is " + fields.expected + "; move it there before",
      fields);
}

}  // namespace

namespace body {

// Flat, as the next: they take hardly longer than calling what they consist of.
[[gnu::flatten]] int32_t py_from_tensor(int64_t a, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& /*api*/, bridge::Object** made) {
    *made = bridge::as_object(at::Tensor(*tensor_argument(a)));
    return 0;
  });
}

[[gnu::flatten]] int32_t py_to_tensor(int64_t a, int64_t* out) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    FromPython from(api, a, {});
    if (from.status == 0) {
      *out = from.shared ? give(std::move(from.tensor)) : from.imported(CopyRule::kIfNeeded);
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
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** made) {
    const auto held = handles().get<at::Generator>(generator);
    return api.from_generator(&*held, made);
  });
}

int32_t py_from_dlpack(int64_t a, int64_t device, int64_t copy, int64_t* out) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    const CopyRule rule = copy_rule(copy);
    const std::optional<c10::Device> place = wanted_device(device);
    const DLDevice number = place ? dlpack::dlpack_device(*place) : DLDevice{};
    FromPython from(api, a, {.copy = rule, .device = place ? &number : nullptr});
    if (from.status == 0) {
      require_place(from, place);
      *out = from.shared ? from.shared_by(rule) : from.imported(rule);
    }
    return from.status;
  });
}

int32_t py_capsule_new(int64_t managed, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** made) {
    dlpack::Managed taken = handles().take<dlpack::Managed>(managed);
    bridge::Value value{};
    value.type = bridge::Value::Type::kDlpack;
    value.dlpack = taken.receiver();
    return api.from_value(&value, made);
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
