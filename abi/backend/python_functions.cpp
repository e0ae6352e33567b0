// Bodies of spt_py_*: functions of the program that Python calls.
#include <exception>
#include <memory>
#include <utility>

#include "abi/backend/with_python.h"
#include "abi/generated/backend_table.h"

namespace simple_torch::abi {
namespace {

struct Callee {
  int64_t key;
  SptPyCall call;
  SptPyEnd end;
};

/// Runs `body`; an exception becomes a TypeError in Python and a NULL result.
template <class Body>
bridge::Object* raise_on_error(Body&& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    opened_python()->raise("builtins.TypeError", error.what(), "");
    return nullptr;
  }
}

/// Takes the object out of the handle. Throws Error(kInvalidHandle).
bridge::Object* take_object(int64_t handle) {
  return HandleTable::is_immortal(handle) ? handles().get<PythonRef>(handle)->get()
                                          : handles().take<PythonRef>(handle).release();
}

bridge::Object* run(void* context, bridge::Object* arguments) {
  return raise_on_error([&] {
    const auto& callee = *static_cast<const Callee*>(context);
    const int64_t result = callee.call(callee.key, handles().insert(PythonRef(arguments)));
    return result == 0 ? nullptr : take_object(result);
  });
}

void end(void* context) {
  const std::unique_ptr<const Callee> callee(static_cast<const Callee*>(context));
  callee->end(callee->key);
}

int32_t make(const char* name, const Callee& callee, bool is_instance, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** object) {
    require(name, "name");
    require(callee.call, "call");
    require(callee.end, "end");
    auto owned = std::make_unique<Callee>(callee);
    const bridge::SimpleFunction function{owned.get(), run, end};
    const int32_t status = api.make_function(name, &function, is_instance, object);
    if (*object != nullptr) {
      static_cast<void>(
          owned.release());  // owned by the Python callable, which an interrupt may destroy at once
    }
    return status;
  });
}

}  // namespace

namespace body {

int32_t py_function(const char* name, int64_t key, SptPyCall call, SptPyEnd ended, int64_t* out) {
  return make(name, Callee{key, call, ended}, false, out);
}

int32_t py_instance(const char* name, int64_t key, SptPyCall call, SptPyEnd ended, int64_t* out) {
  return make(name, Callee{key, call, ended}, true, out);
}

int32_t py_key(int64_t object, int64_t* out) {
  return value_with_python(out, [&](const BridgeApi& api, int64_t* key) {
    const bridge::SimpleFunction* function = api.function_of(handles().get<PythonRef>(object)->get());
    const bool is_ours = function != nullptr && function->run == run;
    *key = is_ours ? static_cast<const Callee*>(function->context)->key : 0;
    return 0;
  });
}

int32_t py_on_interrupt(SptPyInterrupt interrupt) {
  return with_python([&](const BridgeApi& api) { return api.on_interrupt(interrupt); });
}

int32_t py_on_signal(SptPyInterrupt request) {
  return with_python([&](const BridgeApi& api) { return api.on_signal(request); });
}

int32_t py_check_signals() {
  const BridgeApi* api = opened_python();
  return api == nullptr ? 0 : api->check_signals();
}

int32_t py_keep_exceptions(bool keep) {
  return with_python([&](const BridgeApi& api) { return api.keep_exceptions(keep); });
}

int32_t py_raise(const char* type, const char* message, const char* note) {
  return with_python([&](const BridgeApi& api) {
    require(type, "type");
    require(message, "message");
    return api.raise(type, message, note == nullptr ? "" : note);
  });
}

}  // namespace body
}  // namespace simple_torch::abi
