// The private door between a backend and its bridge: plain data and function pointers, so that errors
// cross as data and no C++ exception or standard-library type does. Backend and bridge are built for the
// same torch minor, so at::Tensor itself may cross by pointer.
#pragma once

#include <ATen/dlpack.h>

#include <cstddef>
#include <cstdint>

#include "abi/front_backend.h"
#include "dlpack_interop/copy_rule.h"

namespace at {
class Tensor;
struct Generator;
}  // namespace at

namespace simple_torch::bridge {

/// Grows with every change of a struct in this file; backend and bridge must agree exactly.
inline constexpr int32_t kBridgeVersion = 13;

/// One Python object. A pointer to it that a function gives out stands for an owned reference; any thread
/// may hold it and drop it by BridgeApi::release. Never dereferenced outside the bridge. Two kinds hold no
/// reference to an object of Python's: None, True and False, which are never freed (`lasting`), and a tensor
/// of ours (`tensor_object.h`), which can be had without the GIL.
struct Object;

/// What BackendServices::object_of knows a Python object by.
using ObjectHandle = int64_t;

/// What a Python value is, as a program tells them apart. 0..4 and 6 are those of SplTag. Append only.
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

/// One argument on its way to Python. What it points to stays the caller's and need only live for the call.
/// A DLPack tensor is taken over by setting the caller's pointer to NULL.
struct Value {
  enum class Type : int32_t { kNil, kBool, kInt, kFloat, kText, kList, kObject, kTensor, kDlpack };
  struct Items {
    const Value* first;
    size_t count;
  };
  Type type;
  union {
    bool boolean;
    int64_t integer;
    double real;
    const char* text;  // UTF-8
    Items list;
    Object* object;
    const at::Tensor* tensor;
    DLManagedTensorVersioned** dlpack;
  };
};

/// The arguments of a call: positional ones, then one value for each name.
struct Arguments {
  const Value* values;
  size_t count;
  const char* const* names;
  size_t name_count;  // at most count
};

/// By which way a tensor came out of Python.
enum class WayIn : int32_t { kSameTensor, kNumpyArray, kExchangeTable, kCapsule, kLegacyCapsule, kBuffer };

using dlpack::CopyRule;

/// How a foreign tensor is wanted.
struct Wanted {
  CopyRule copy = CopyRule::kIfNeeded;
  const DLDevice* device = nullptr;  // NULL: wherever it is
};

/// A tensor that came out of Python: ready, or a DLPack tensor that the caller now owns.
struct TensorResult {
  at::Tensor* tensor;  // assigned of a torch.Tensor, which it is, and of a NumPy array
  DLManagedTensorVersioned* versioned = nullptr;
  WayIn way = WayIn::kSameTensor;
};

/// A function of the Simple program, as a Python callable keeps it.
struct SimpleFunction {
  void* context;
  /// Runs it without the GIL, on any thread. Takes over `arguments`, a tuple of the positional ones and a
  /// dict of the named ones; gives an owned reference, or NULL for a failure, which `raise` was told of.
  Object* (*run)(void* context, Object* arguments);
  void (*end)(void* context);  // the callable is gone; under the GIL
};

/// Why something was refused, in words.
struct Refusal {
  char message[512];
};

/// What a message of LibTorch's tells: the kind (kTorch where it is none that is known) and the fields.
struct Explained {
  int32_t kind;
  int64_t requested_bytes;
  int64_t available_bytes;
  char expected[256];
  char got[256];
};

/// What the backend gives to its bridge: objects, what messages mean, DLPack out and in. What returns false
/// has filled the refusal.
struct BackendServices {
  /// The object of a live handle, without a reference: who has the GIL is safe, as whatever reference is let
  /// go of is dropped under it. NULL where the handle was released, and where it holds a tensor.
  Object* (*object_of)(ObjectHandle handle);
  bool (*tensor_of)(ObjectHandle handle, at::Tensor& out);  // which is then to be had by this

  /// The receiver calls the structure's deleter.
  bool (*lend)(const at::Tensor& tensor, bool copy, DLManagedTensorVersioned** out, Refusal& refusal);
  bool (*lend_legacy)(const at::Tensor& tensor, DLManagedTensor** out, Refusal& refusal);
  /// As lend without a copy, and the tensor goes with its memory: it is undefined then. One that is refused
  /// stays.
  bool (*hand_over)(at::Tensor& tensor, DLManagedTensorVersioned** out, Refusal& refusal);
  /// Takes the structure over also when it refuses.
  bool (*take)(DLManagedTensorVersioned* managed, CopyRule rule, at::Tensor& out, Refusal& refusal);
  /// Of memory that can be written, and whose owner needs no structure: `release(owner)` runs where a deleter
  /// would, also when it is refused.
  bool (*take_memory)(const DLTensor& described, void* owner, void (*release)(void*), at::Tensor& out,
                      Refusal& refusal);
  void (*explain)(const char* message, Explained& out);  // without memory left: all as unknown
  /// A tensor of its own on the same memory, or on that of a copy.
  bool (*share)(const at::Tensor& tensor, CopyRule rule, at::Tensor& out, Refusal& refusal);
  int (*held_locks)();           // of the backend's, by the calling thread; counted in debug builds
  int32_t (*threads_at_work)();  // of Simple, in Python or not, but for those that wait for another; in a
                                 // signal handler
};

/// What the bridge gives to its backend. A function that returns int32_t returns 0, or the number of the
/// error's kind after it put the error into the calling thread's record. On failure an out parameter may
/// have been filled all the same: what it then holds is the caller's to release.
/// Every function but `release` and `defer_memory` may wait for the GIL. Call none while holding a lock.
struct BridgeApi {
  void (*use)(const BackendServices* services);  // called first; they live as long as the process
  Object* lasting[3];                            // None, True and False

  // --- the interpreter
  int32_t (*start)();  // starts Python, or attaches to the one that runs; a second call changes nothing
  bool (*is_started)();
  int32_t (*version_text)(char** out);
  int32_t (*shutdown)();  // Python's own exit work (threads, atexit, flush); later calls are refused

  // --- exceptions of Python code below LibTorch, in the handler that has caught one; others are left alone
  void (*restore_exception)();  // it pends again; the calling thread has the GIL
  /// Before autograd's engine may run functions of Python's: with a thread state that is made for each of
  /// them alone, what they raise is lost.
  void (*make_thread_known)();
  int32_t (*report_exception)();  // it goes into the record; the number of its kind, or 0 for others

  // --- references, from any thread, with or without the GIL, also while the process exits; never wait
  void (*release)(Object* object);
  void (*defer_memory)(void (*run)(void*), void* what);  // runs it soon, on a thread that holds the GIL

  // --- objects; the first is known by its handle, which was live when the call began
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

  // --- values; texts are malloc'ed and become the caller's
  int32_t (*kind_of)(ObjectHandle object, int32_t* out);
  int32_t (*type_name)(ObjectHandle object, char** out);
  int32_t (*str)(ObjectHandle object, char** out);
  int32_t (*repr)(ObjectHandle object, char** out);
  int32_t (*to_bool)(ObjectHandle object, bool* out);
  int32_t (*to_int)(ObjectHandle object, int64_t* out);
  int32_t (*to_float)(ObjectHandle object, double* out);
  int32_t (*to_text)(ObjectHandle object, char** out);
  int32_t (*to_list)(ObjectHandle iterable, Object*** out, size_t* count);  // *out is malloc'ed
  int32_t (*from_value)(const Value* value, Object** out);
  int32_t (*make_list)(const Value* values, size_t count, Object** out);
  int32_t (*make_tuple)(const Value* values, size_t count, Object** out);
  int32_t (*make_dict)(const Value* keys_and_values, size_t count, Object** out);  // key, value, key, …
  int32_t (*eval)(const char* code, const Arguments* variables, Object** out);
  int32_t (*exec)(const char* code, const Arguments* variables);

  // --- Simple's functions
  /// An instance is a Python object whose attributes and operators are calls of the function.
  int32_t (*make_function)(const char* name, const SimpleFunction* function, bool is_instance, Object** out);
  const SimpleFunction* (*function_of)(Object* object);  // NULL for others; waits for nothing
  int32_t (*on_interrupt)(void (*interrupt)());
  /// What the function that runs on this thread is to raise when it has returned NULL: an exception of that
  /// full name, else a RuntimeError, with a note.
  int32_t (*raise)(const char* type, const char* message, const char* note);

  // --- tensors
  int32_t (*to_tensor)(ObjectHandle object, const Wanted* wanted,
                       TensorResult* out);                           // `wanted` is for foreign ones
  int32_t (*capsule_take)(ObjectHandle capsule, TensorResult* out);  // never sets `tensor`

  // --- random number generators: the very same, on both sides
  int32_t (*to_generator)(ObjectHandle object, at::Generator* out);
  int32_t (*from_generator)(const at::Generator* generator, Object** out);
};

}  // namespace simple_torch::bridge

/// The only symbol that a bridge exports; called once. Python's symbols must be global before the bridge is
/// loaded. Fills `api` and returns 0, or returns 1 and fills nothing when `version` is not its own
/// kBridgeVersion. `services` lives as long as the process.
extern "C" int32_t simple_torch_bridge_open(const simple_torch::abi::FrontServices* services, int32_t version,
                                            simple_torch::bridge::BridgeApi* api);
