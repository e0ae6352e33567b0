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

/// What the body gives, or NULL, of which Python hears then.
template <class Body>
bridge::Object* or_raised(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    opened_python()->raise("builtins.TypeError", error.what(), "");
    return nullptr;
  }
}

/// Ends the handle. Throws Error(kInvalidHandle).
bridge::Object* taken(int64_t handle) {
  return HandleTable::is_immortal(handle) ? handles().get<PythonRef>(handle)->get()
                                          : handles().take<PythonRef>(handle).give();
}

bridge::Object* run(void* context, bridge::Object* arguments) {
  return or_raised([&] {
    const auto& callee = *static_cast<const Callee*>(context);
    const int64_t given = callee.call(callee.key, handles().insert(PythonRef(arguments)));
    return given == 0 ? nullptr : taken(given);
  });
}

void end(void* context) {
  const std::unique_ptr<const Callee> callee(static_cast<const Callee*>(context));
  callee->end(callee->key);
}

int32_t make(const char* name, const Callee& callee, bool is_instance, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** made) {
    require(name, "name");
    require(callee.call, "call");
    require(callee.end, "end");
    auto kept = std::make_unique<Callee>(callee);
    const bridge::SimpleFunction function{kept.get(), run, end};
    const int32_t status = api.make_function(name, &function, is_instance, made);
    if (*made != nullptr) {
      static_cast<void>(kept.release());  // the Python callable has it, which Ctrl-C may drop at once
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

int32_t py_raise(const char* type, const char* message, const char* note) {
  return with_python([&](const BridgeApi& api) {
    require(type, "type");
    require(message, "message");
    return api.raise(type, message, note == nullptr ? "" : note);
  });
}

}  // namespace body
}  // namespace simple_torch::abi
