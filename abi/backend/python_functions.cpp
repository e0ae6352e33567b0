// Bodies of spt_py_*: functions of the program that Python calls.
#include <c10/util/SmallVector.h>

#include <exception>
#include <memory>
#include <optional>
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

/// The arguments of a call in the form of SptPyCall. Each handle belongs to the program.
class PackedCall {
 public:
  explicit PackedCall(const bridge::ReceivedArguments& received) {
    for (size_t i = 0; i < received.count; ++i) {
      add(received.values[i], received.functions[i]);
    }
    for (size_t i = 0; i < received.name_count; ++i) {
      names_.push_back(text(received.names[i]));
    }
    kinds_.push_back('\0');
  }

  SplArray* run(const Callee& callee) {
    const SplArray values = array_over(items_), names = array_over(names_);
    return callee.call(callee.key, kinds_.data(), &values, &names);
  }

 private:
  using Items = c10::SmallVector<SplValue, 8>;

  static SplArray array_over(Items& items) {
    const auto count = static_cast<int64_t>(items.size());
    return {items.data(), count, count};
  }

  static SplValue integer(int64_t number) {
    SplValue out{};
    out.tag = SPL_INT;
    out.as_int = number;
    return out;
  }

  static SplValue text(const char* characters) {
    SplValue out{};
    out.tag = SPL_STRING;
    out.as_string = const_cast<char*>(characters);
    return out;
  }

  void put(char kind, const SplValue& value) {
    kinds_.push_back(kind);
    items_.push_back(value);
  }

  void add(const bridge::Value& value, const bridge::SimpleFunction* function) {
    if (function != nullptr) {
      put('f', integer(static_cast<const Callee*>(function->context)->key));
      return;
    }
    switch (value.type) {
      case bridge::Value::Type::kObject:
        put('o', integer(new_handle(PythonRef(value.object))));
        return;
      case bridge::Value::Type::kTensor:
        put('t', integer(new_handle(at::Tensor(*value.tensor))));
        return;
      default:
        put('v', plain(value));
    }
  }

  static SplValue plain(const bridge::Value& value) {
    SplValue out{};
    switch (value.type) {
      case bridge::Value::Type::kBool:
        out.tag = SPL_BOOL;
        out.as_bool = value.boolean;
        return out;
      case bridge::Value::Type::kInt:
        return integer(value.integer);
      case bridge::Value::Type::kFloat:
        out.tag = SPL_FLOAT;
        out.as_float = value.real;
        return out;
      case bridge::Value::Type::kText:
        return text(value.text);
      default:
        return out;
    }
  }

  c10::SmallVector<char, 16> kinds_;
  Items items_, names_;
};

/// What a function of the program returned, until the bridge has converted it.
class ReturnedValue {
 public:
  explicit ReturnedValue(SplArray* owned) : array_(owned) {}
  ~ReturnedValue() {
    converted_.reset();
    if (owns_handle_) {
      handles().release_if(array_->items[1].as_int, kind_);
    }
    services().host.array_free(array_);
  }
  ReturnedValue(const ReturnedValue&) = delete;
  ReturnedValue& operator=(const ReturnedValue&) = delete;

  /// False after a failure. Throws Error if the array is not a letter and a value.
  bool has_value() const { return !items_of(array_).empty(); }
  bridge::Value convert() {
    const auto items = items_of(array_);
    if (items.size() != 2 || items[0].tag != SPL_STRING) {
      throw Error(ErrorKind::kInvalidArgument, "a function must return an array of a letter and a value");
    }
    const SplArray value{array_->items + 1, 1, 1};
    converted_.emplace(string_of(items[0]), &value);
    owns_handle_ = *items[0].as_string == 'o' || *items[0].as_string == 't';
    kind_ = *items[0].as_string == 't' ? HandleKind::kTensor : HandleKind::kObject;
    return *converted_->exactly(1);
  }

 private:
  SplArray* array_;
  std::optional<PythonArguments> converted_;
  bool owns_handle_ = false;
  HandleKind kind_ = HandleKind::kObject;
};

bool run_program(const Callee& callee, const bridge::ReceivedArguments& arguments,
                 bridge::FunctionResult& out) {
  auto returned = std::make_unique<ReturnedValue>(PackedCall(arguments).run(callee));
  if (!returned->has_value()) {
    return false;
  }
  out.value = returned->convert();
  out.owner = returned.release();
  out.free = [](void* owner) { delete static_cast<ReturnedValue*>(owner); };
  return true;
}

/// An exception becomes a TypeError in Python.
bool run(void* context, const bridge::ReceivedArguments& arguments, bridge::FunctionResult& out) {
  try {
    return run_program(*static_cast<const Callee*>(context), arguments, out);
  } catch (const std::exception& error) {
    opened_python()->raise("builtins.TypeError", error.what(), "");
    return false;
  }
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
    const bridge::SimpleFunction function{owned.get(), run, end, reinterpret_cast<const void*>(callee.call)};
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

int32_t py_raise_object(int64_t a, const char* note) {
  return with_python([&](const BridgeApi& api) {
    return api.raise_object(object_argument(a), note == nullptr ? "" : note);
  });
}

int32_t py_take_exception(int64_t* out) {
  return object_with_python(
      out, [](const BridgeApi& api, bridge::Object** result) { return api.take_exception(result); });
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
