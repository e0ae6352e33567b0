// Bodies of spt_py_*: functions of the program that Python calls.
#include <exception>
#include <memory>
#include <utility>

#include "abi/generated/backend_table.h"
#include "abi/with_python.h"

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

bridge::Object* run(void* context, bridge::Object* arguments) {
  return or_raised([&] {
    const auto& callee = *static_cast<const Callee*>(context);
    const int64_t given = callee.call(callee.key, handles().insert(PythonRef(arguments)));
    return given == 0 ? nullptr : handles().take<PythonRef>(given).give();
  });
}

void end(void* context) {
  const std::unique_ptr<const Callee> callee(static_cast<const Callee*>(context));
  callee->end(callee->key);
}

}  // namespace

namespace body {

int32_t py_function(const char* name, int64_t key, SptPyCall call, SptPyEnd ended, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** made) {
    require(name, "name");
    require(call, "call");
    require(ended, "end");
    auto callee = std::make_unique<Callee>(Callee{key, call, ended});
    const bridge::SimpleFunction function{callee.get(), run, end};
    const int32_t status = api.make_function(name, &function, made);
    if (status == 0) {
      static_cast<void>(callee.release());  // the Python callable has it now
    }
    return status;
  });
}

int32_t py_raise(const char* type, const char* message, const char* note) {
  return with_python([&](const BridgeApi& api) {
    require(type, "type");
    require(message, "message");
    require(note, "note");
    return api.raise(type, message, note);
  });
}

}  // namespace body
}  // namespace simple_torch::abi
