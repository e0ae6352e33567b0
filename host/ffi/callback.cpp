// Callbacks: acquires the host lock, converts the arguments, runs the Simple function.
#include "host/ffi/callback.h"

#include <array>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "abi/forced_unwind.h"
#include "host/ffi/libraries.h"
#include "host/interrupts/scopes.h"
#include "host/values/error.h"
#include "host/vm/coroutine_stacks.h"
#include "host/vm/lock.h"
#include "host/vm/lost_errors.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

namespace {

struct Callback {
  Value function;  // owned
  std::shared_ptr<Signature> signature;
  void* address = nullptr;
};

constexpr const char* kOnNativeThread = "a callback on a native thread";

thread_local std::exception_ptr pending;

/// Counts the nested callbacks on this thread.
class CallbackDepth {
 public:
  CallbackDepth() : outer_(depth()++) {}
  ~CallbackDepth() { --depth(); }
  CallbackDepth(const CallbackDepth&) = delete;
  CallbackDepth& operator=(const CallbackDepth&) = delete;
  bool is_outermost() const { return outer_ == 0; }

 private:
  static int& depth() {
    static thread_local int calls = 0;
    return calls;
  }
  int outer_;
};

/// Holds the host lock, which the caller acquired, and releases it.
class LockedScope {
 public:
  LockedScope() = default;
  ~LockedScope() { host_lock().release(); }
  LockedScope(const LockedScope&) = delete;
  LockedScope& operator=(const LockedScope&) = delete;
};

/// The arguments of a call. Few of them need no allocation.
class Arguments {
 public:
  // Delegates, so that the destructor releases the values before one that fails.
  Arguments(const Signature& signature, void** natives) : Arguments(signature.parameters.size()) {
    for (const auto& parameter : signature.parameters) {
      values_[count_] = borrowed_from_native(parameter, natives[count_]);
      ++count_;
    }
  }
  ~Arguments() {
    for (size_t i = 0; i < count_; ++i) {
      release(values_[i]);
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  const Value* values() const { return values_; }
  int count() const { return static_cast<int>(count_); }

 private:
  explicit Arguments(size_t capacity) : many_(capacity > few_.size() ? capacity : 0) {
    values_ = many_.empty() ? few_.data() : many_.data();
  }

  std::array<Value, 4> few_;
  std::vector<Value> many_;
  Value* values_ = nullptr;
  size_t count_ = 0;
};

void run(const Callback& callback, uint64_t coroutine, void** arguments, NativeResult& result) {
  const CallbackDepth calls;
  bool is_native = false;
  Thread& base = attached_thread(is_native);
  const bool is_foreign = is_native && calls.is_outermost();  // no Simple caller can receive an error
  std::optional<ActiveThread> active;
  if (is_foreign) {
    active.emplace();
  }
  try {
    const CoroutineScope stack(base, coroutine);
    const Arguments taken(*callback.signature, arguments);
    const Ref returned = Ref::owned(stack.thread().call(callback.function, taken.values(), taken.count()));
    to_native_result(callback.signature->result, returned.get(), result);
  } catch (const SimpleError& error) {
    if (is_foreign) {
      report_lost(error, kOnNativeThread);
      return;
    }
    pending = std::current_exception();
    callback_failed() = true;
  } catch (const ExitRequest& request) {
    if (is_foreign) {
      report_lost_exit(request, kOnNativeThread);
      return;
    }
    pending = std::current_exception();  // the program exits after the native function returns
    callback_failed() = true;
  } catch (...) {
    if (simple_torch::is_forced_unwind()) {
      throw;  // the native thread ends
    }
    pending = std::current_exception();
    callback_failed() = !is_foreign;
  }
}

void entry(ffi_cif*, void* result, void** arguments, void* data) {
  auto* const out = static_cast<NativeResult*>(result);
  const auto& callback = *static_cast<const Callback*>(data);
  if (callback.signature->result != NativeType::kVoid) {
    *out = NativeResult{};
  }
  if (callback_failed()) {
    return;  // an error is already propagating through the native function
  }
  const uint64_t coroutine = current_coroutine();  // may wait for the GIL, so before the lock
  if (!host_lock().acquire_unless_closed()) {
    return;  // the process is exiting; do not wait, because the caller may hold the GIL
  }
  NativeResult returned{};
  {
    const LockedScope until_the_end;  // also if the native thread ends in the callback
    run(callback, coroutine, arguments, returned);
  }
  if (callback.signature->result != NativeType::kVoid) {
    *out = returned;
  }
}

Callback* make_callback(Value function, const std::shared_ptr<Signature>& signature) {
  find_coroutines();
  auto* callback = new Callback{retained(function), signature};
  ffi_cif* interface = call_interface(*signature);
  void* closure = ffi_closure_alloc(sizeof(ffi_closure), &callback->address);
  if (interface == nullptr || closure == nullptr ||
      ffi_prep_closure_loc(static_cast<ffi_closure*>(closure), interface, entry, callback,
                           callback->address) != FFI_OK) {
    fail("libffi cannot create a closure for this function");
  }
  return callback;
}

}  // namespace

Thread& attached_thread(bool& is_native) {
  static thread_local std::unique_ptr<Thread> own;
  if (own == nullptr && first_thread_here() != nullptr) {
    return *first_thread_here();
  }
  is_native = true;
  if (own == nullptr) {
    own = std::make_unique<Thread>();
  }
  return *own;
}

void* callback_of(Value function, const std::shared_ptr<Signature>& signature) {
  // Native code may now request the lock at any time, so extern calls must release it.
  if (!host_lock().shared()) {
    host_lock().become_shared();
  }
  static std::map<std::pair<const Object*, const Signature*>, Callback*> known;
  Callback*& callback = known[{function.as_object, signature.get()}];
  if (callback == nullptr) {
    callback = make_callback(function, signature);
  }
  return callback->address;
}

void raise_callback_failure() {
  callback_failed() = false;
  std::rethrow_exception(std::exchange(pending, nullptr));
}

}  // namespace spl
