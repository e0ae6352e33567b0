// Bodies of DLPack imports and exports.
#include "abi/backend/dlpack_handles.h"
#include "abi/backend/guarded.h"
#include "abi/backend/last_import.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/thread_object.h"
#include "dlpack_interop/copies.h"
#include "dlpack_interop/interop.h"

namespace simple_torch::abi {

LastImport& last_import() noexcept { return core::thread_object<LastImport, LastImport>(); }

namespace body {
namespace {

/// Imports the structure and returns a handle of its tensor.
int64_t import_managed(dlpack::Managed managed) {
  dlpack::Imported imported = dlpack::import_by_rule(std::move(managed), dlpack::CopyRule::kIfNeeded);
  last_import() = {"a DLPack structure", imported.why_copied};
  return new_handle(std::move(imported.tensor));
}

/// Exports the tensor and releases its handle. If the export fails, the handle stays live.
dlpack::Managed export_and_release(int64_t a) {
  dlpack::Managed exported = dlpack::export_tensor(*tensor_argument(a));
  {
    at::Tensor last = handles().take<at::Tensor>(a);
    HandleKindOf<at::Tensor>::release(last);
  }
  return dlpack::complete_move(std::move(exported));
}

/// Takes ownership of `managed` first, so that its deleter runs if a later step fails.
template <class Structure>
int32_t import_owned(Structure* managed, int64_t* out) {
  return guarded([&] {
    dlpack::Managed owned(managed);
    require(out, "out");
    *out = import_managed(std::move(owned));
  });
}

}  // namespace

int32_t to_dlpack(int64_t a, bool copy, DLManagedTensorVersioned** out) {
  return guarded_result(out, [&] { return dlpack::export_tensor(*tensor_argument(a), copy).release(); });
}

int32_t into_dlpack(int64_t a, DLManagedTensorVersioned** out) {
  return guarded_result(out, [&] { return export_and_release(a).release(); });
}

int32_t dlpack_view(int64_t a, void* view) {
  return guarded([&] {
    require(view, "view");
    dlpack::borrow_tensor(*tensor_argument(a), *static_cast<DLTensor*>(view));
  });
}

int32_t from_dlpack(DLManagedTensorVersioned* managed, int64_t* out) { return import_owned(managed, out); }

int32_t to_dlpack_legacy(int64_t a, DLManagedTensor** out) {
  return guarded_result(out, [&] { return dlpack::export_legacy(*tensor_argument(a)); });
}

int32_t from_dlpack_legacy(DLManagedTensor* managed, int64_t* out) { return import_owned(managed, out); }

int32_t dlpack_export(int64_t a, bool copy, int64_t* out) {
  return guarded_result(out,
                        [&] { return handles().insert(dlpack::export_tensor(*tensor_argument(a), copy)); });
}

int32_t dlpack_move(int64_t a, int64_t* out) {
  return guarded_result(out, [&] { return handles().insert(export_and_release(a)); });
}

int32_t dlpack_import(int64_t managed, int64_t* out) {
  return guarded_result(out, [&] { return import_managed(handles().take<dlpack::Managed>(managed)); });
}

int32_t dlpack_data_ptr(int64_t managed, void** out) {
  return guarded([&] {
    require(out, "out");
    const auto held = handles().get<dlpack::Managed>(managed);
    const DLTensor& tensor = (*held).get()->dl_tensor;
    *out = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset);
  });
}

int32_t dlpack_flags(int64_t managed, int64_t* out) {
  return guarded_result(
      out, [&] { return static_cast<int64_t>((*handles().get<dlpack::Managed>(managed)).get()->flags); });
}

int32_t dlpack_import_path(char** out) {
  return guarded_result(out, [&] { return to_malloc_string(last_import().path); });
}

int32_t dlpack_why_copied(char** out) {
  return guarded_result(out, [&] { return to_malloc_string(last_import().why_copied); });
}

int32_t dlpack_copied_bytes(int64_t* out) {
  return guarded_result(out, [&] { return dlpack::copied_bytes(); });
}

}  // namespace body
}  // namespace simple_torch::abi
