// The private interface between a backend and its bridge: plain data and function pointers. Errors cross as
// data; no C++ exception and no standard-library type crosses. Backend and bridge are built for the same
// torch minor, so at::Tensor may cross by pointer.
#pragma once

#include <ATen/dlpack.h>

#include <cstddef>
#include <cstdint>

#include "abi/front_backend.h"
#include "dlpack_interop/copy_rule.h"
#include "simple_torch/spl_runtime.h"

namespace at {
class Tensor;
struct Generator;
}  // namespace at

namespace simple_torch::bridge {

/// Increment on every change of a struct in this file. Backend and bridge must agree exactly.
inline constexpr int32_t kBridgeVersion = 17;

/// One Python object. A pointer that a function returns is an owned reference. Any thread may hold it and
/// drop it with BridgeApi::release. It is never dereferenced outside the bridge. Two kinds hold no reference
/// to a Python object: the immortal None, True and False (`immortals`), and a tensor of this
/// library (`tensor_object.h`), which is accessible without the GIL.
struct Object;

/// The handle of a Python object; BackendServices::object_of resolves it.
using ObjectHandle = int64_t;

/// The kind of a Python value as a program sees it. 0..4 and 6 equal SplTag. Append only.
enum class ValueKind : int32_t {
  kNil = 0,
  kBool = 1,
  kInt = 2,
  kFloat = 3,
  kText = 4,
  kList = 5,
  kDict = 6,
  kTensor = 7,
  kTuple = 8,
  kOther = 9,
};

/// One argument of a Python call. The caller keeps ownership of what it points to, which must live for the
/// call. A DLPack tensor is consumed: the caller's pointer is set to NULL.
struct Value {
  enum class Type : int32_t { kNil, kBool, kInt, kFloat, kText, kList, kDict, kObject, kTensor, kDlpack };
  Type type;
  union {
    bool boolean;
    int64_t integer;
    double real;
    const char* text;      // UTF-8
    const SplArray* list;  // of plain values, validated; of a dict: key, value, key, value, …
    Object* object;
    const at::Tensor* tensor;
    DLManagedTensorVersioned** dlpack;
  };
};

/// The arguments of a call: positional values, then one value for each name.
struct Arguments {
  const Value* values;
  size_t count;
  const char* const* names;
  size_t name_count;  // at most count
};

/// The protocol by which a tensor was imported from Python.
enum class ImportPath : int32_t {
  kSameTensor,
  kNumpyArray,
  kExchangeTable,
  kCapsule,
  kLegacyCapsule,
  kBuffer
};

using dlpack::CopyRule;

/// How to import a foreign tensor.
struct ImportOptions {
  CopyRule copy = CopyRule::kIfNeeded;
  const DLDevice* device = nullptr;  // NULL: any device
};

/// An imported tensor: an at::Tensor, or a DLPack tensor that the caller owns.
struct TensorResult {
  at::Tensor* tensor;  // assigned for a torch.Tensor (the same tensor) and for a NumPy array
  DLManagedTensorVersioned* versioned = nullptr;
  ImportPath path = ImportPath::kSameTensor;
};

struct SimpleFunction;

/// The arguments that Python passes to a Simple function; the last `name_count` are keyword arguments. What
/// they refer to lives until the function returns, except objects: these are owned references, which the
/// function takes.
struct ReceivedArguments {
  const Value* values;
  const SimpleFunction* const* functions;  // of a value that stands for one, which is then nil; else NULL
  size_t count;
  const char* const* names;
  size_t name_count;
};

/// The result of a Simple function. `free` is NULL, or is called with `owner`, which keeps what the value
/// refers to, under the GIL after the conversion.
struct FunctionResult {
  Value value;
  void* owner;
  void (*free)(void* owner);
};

/// A function of the Simple program that a Python callable holds.
struct SimpleFunction {
  void* context;
  /// Called without the GIL, on any thread. Returns false for a failure that was passed to `raise`; `out` is
  /// then not filled.
  bool (*run)(void* context, const ReceivedArguments& arguments, FunctionResult& out);
  void (*end)(void* context);  // the callable was destroyed; called without the GIL
  const void* program;         // equal for the functions of one program
};

/// The message of a failed BackendServices call.
struct ServiceError {
  char message[512];
};

/// The error kind of a LibTorch message (kTorch when unknown) and the fields parsed from it.
struct MessageClass {
  int32_t kind;
  int64_t requested_bytes;
  int64_t available_bytes;
  char expected[256];
  char got[256];
};

/// Services that the backend provides to its bridge: handle lookup, message classification, DLPack export and
/// import. A function that returns false has filled `error`.
struct BackendServices {
  /// The object of a live handle, borrowed. The caller holds the GIL, which keeps the object alive:
  /// references are dropped under the GIL only. NULL when the handle was released or holds a tensor.
  Object* (*object_of)(ObjectHandle handle);
  bool (*tensor_of)(ObjectHandle handle, at::Tensor& out);  // for a handle that holds a tensor

  /// The receiver calls the deleter of *out.
  bool (*export_tensor)(const at::Tensor& tensor, bool copy, DLManagedTensorVersioned** out,
                        ServiceError& error);
  bool (*export_legacy)(const at::Tensor& tensor, DLManagedTensor** out, ServiceError& error);
  /// Like export_tensor without a copy, but moves the tensor: it is undefined afterwards, unchanged on error.
  bool (*export_moved)(at::Tensor& tensor, DLManagedTensorVersioned** out, ServiceError& error);
  /// Consumes `managed`, also on error.
  bool (*import_tensor)(DLManagedTensorVersioned* managed, CopyRule rule, at::Tensor& out,
                        ServiceError& error);
  /// Imports writable memory whose owner needs no DLPack struct. `release(owner)` takes the deleter's place
  /// and is called on error, too.
  bool (*import_memory)(const DLTensor& described, void* owner, void (*release)(void*), at::Tensor& out,
                        ServiceError& error);
  void (*classify_message)(const char* message, MessageClass& out);  // out of memory: kTorch, empty fields
  /// A new tensor on the same memory, or on a copy of it.
  bool (*share)(const at::Tensor& tensor, CopyRule rule, at::Tensor& out, ServiceError& error);
  int (*held_locks)();  // backend locks held by the calling thread; counted in debug builds
};

/// The functions of the bridge. A function that returns int32_t returns 0, or the number of an error kind
/// after it filled the calling thread's error record. On failure an out parameter may still be filled; the
/// caller then releases it. Every function except `release` and `queue_memory_release` may wait for the GIL.
/// Call none while holding a lock.
struct BridgeApi {
  void (*use)(const BackendServices* services);  // called first; `services` lives as long as the process
  Object* immortals[3];                          // None, True and False

  // --- the interpreter
  int32_t (*start)();  // starts Python or attaches to the running one; idempotent
  bool (*is_started)();
  int32_t (*version_text)(char** out);
  int32_t (*shutdown)();  // joins threads, runs atexit, flushes; later calls fail
  /// Identifies the greenlet that the calling thread runs; 0 outside greenlets.
  uint64_t (*current_greenlet)();

  // --- Python exceptions that passed through LibTorch; call in a catch block. Other exceptions are ignored.
  void (*restore_exception)();  // sets it as the Python error again; the calling thread holds the GIL
  /// Creates the calling thread's persistent thread state. Without one, autograd's engine creates a state for
  /// each Python function, and the exceptions of those functions are lost.
  void (*register_thread)();
  int32_t (*report_exception)();  // records it; returns its kind's number, or 0 for other exceptions

  // --- references: from any thread, with or without the GIL, also at process exit; never blocks
  void (*release)(Object* object);
  void (*queue_memory_release)(void (*run)(void*), void* what);  // runs soon, on a thread that holds the GIL

  /// Calls the deleter of a rejected DLPack tensor under the GIL, so that it has run on return; NULL is
  /// ignored.
  int32_t (*delete_rejected)(DLManagedTensorVersioned* managed);

  // --- objects; the receiver is a handle that was live when the call began
  int32_t (*import_module)(const char* name, Object** out);
  int32_t (*get_attribute)(ObjectHandle object, const char* name, Object** out);
  int32_t (*set_attribute)(ObjectHandle object, const char* name, const Value* value);
  int32_t (*has_attribute)(ObjectHandle object, const char* name, bool* out);
  int32_t (*call)(ObjectHandle callable, const Arguments* arguments, Object** out);
  int32_t (*call_method)(ObjectHandle object, const char* name, const Arguments* arguments, Object** out);
  int32_t (*get_item)(ObjectHandle object, const Value* key, Object** out);
  int32_t (*set_item)(ObjectHandle object, const Value* key, const Value* value);
  int32_t (*delete_item)(ObjectHandle object, const Value* key);
  int32_t (*contains)(ObjectHandle object, const Value* value, bool* out);
  int32_t (*length)(ObjectHandle object, int64_t* out);
  int32_t (*iterate)(ObjectHandle object, Object** out);
  int32_t (*next)(ObjectHandle iterator, Object** out);  // *out is NULL at the end
  int32_t (*compare)(ObjectHandle left, const char* op, const Value* right, bool* out);
  int32_t (*operate)(const Value* left, const char* op, const Value* right, Object** out);
  int32_t (*is_instance)(ObjectHandle object, ObjectHandle type, bool* out);

  // --- values; strings are malloc'ed and owned by the caller
  int32_t (*kind_of)(ObjectHandle object, int32_t* out);
  int32_t (*type_name)(ObjectHandle object, char** out);
  int32_t (*str)(ObjectHandle object, char** out);
  int32_t (*repr)(ObjectHandle object, char** out);
  int32_t (*to_bool)(ObjectHandle object, bool* out);
  int32_t (*to_int)(ObjectHandle object, int64_t* out);
  int32_t (*to_float)(ObjectHandle object, double* out);
  int32_t (*to_text)(ObjectHandle object, char** out);
  int32_t (*to_list)(ObjectHandle iterable, Object*** out, size_t* count);  // *out is malloc'ed
  /// A new array of a letter and a value: v, a plain value or nested lists and tuples of those; m, a dict as
  /// an array of key, value, key, value and so on. Empty for other objects.
  int32_t (*to_plain)(ObjectHandle object, SplArray** out);
  int32_t (*new_bytes)(int64_t length, Object** out);                       // of zeros
  int32_t (*bytes_data)(ObjectHandle bytes, char** data, int64_t* length);  // valid as long as the object
  int32_t (*from_value)(const Value* value, Object** out);
  int32_t (*make_list)(const Value* values, size_t count, Object** out);
  int32_t (*make_tuple)(const Value* values, size_t count, Object** out);
  int32_t (*make_dict)(const Value* keys_and_values, size_t count, Object** out);  // key, value, key, …
  int32_t (*eval)(const char* code, const Arguments* variables, Object** out);
  int32_t (*exec)(const char* code, const Arguments* variables);

  // --- functions of the Simple program
  /// An instance is a Python object whose attributes and operators call the function.
  int32_t (*make_function)(const char* name, const SimpleFunction* function, bool is_instance, Object** out);
  const SimpleFunction* (*function_of)(Object* object);  // NULL for other objects
  int32_t (*on_interrupt)(void (*interrupt)());
  int32_t (*on_signal)(void (*request)());
  int32_t (*check_signals)();
  /// Sets the exception that the function running on this thread raises when it returns NULL. `type` is a
  /// full name; an unknown type becomes a RuntimeError. `note` is added to the exception.
  int32_t (*raise)(const char* type, const char* message, const char* note);
  int32_t (*raise_object)(ObjectHandle exception, const char* note);

  /// The exception of this thread's last failed call, which no call of Python followed; None if there is
  /// none.
  int32_t (*take_exception)(Object** out);

  /// Starts or ends keeping the last exceptions of this thread, which raise() then finds.
  int32_t (*keep_exceptions)(bool keep);

  // --- tensors
  int32_t (*to_tensor)(ObjectHandle object, const ImportOptions* wanted,
                       TensorResult* out);                           // `wanted` applies to foreign tensors
  int32_t (*capsule_take)(ObjectHandle capsule, TensorResult* out);  // never sets `tensor`

  // --- random number generators; both sides share the same generator
  int32_t (*to_generator)(ObjectHandle object, at::Generator* out);
  int32_t (*from_generator)(const at::Generator* generator, Object** out);
};

}  // namespace simple_torch::bridge

/// The only symbol that a bridge exports; called once. Python's symbols must be global before the bridge is
/// loaded. Fills `api` and returns 0, or returns 1 without filling it when `version` differs from
/// kBridgeVersion. `services` lives as long as the process.
extern "C" int32_t simple_torch_bridge_open(const simple_torch::abi::FrontServices* services, int32_t version,
                                            simple_torch::bridge::BridgeApi* api);
