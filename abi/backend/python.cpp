// Bodies of spt_py_*. They convert handles and lists; the bridge works on objects and values.
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "abi/backend/with_python.h"
#include "abi/generated/backend_table.h"

namespace simple_torch::abi::body {

int32_t py_start() {
  return with_python([](const BridgeApi& api) { return api.start(); });
}

int32_t py_is_started(bool* out) {
  return guarded_result(out, [&] { return opened_python() != nullptr && opened_python()->is_started(); });
}

int32_t py_version(char** out) {
  return text_with_python(out, [](const BridgeApi& api, char** text) { return api.version_text(text); });
}

int32_t py_library(char** out) {
  return text_with_python(out, [](const BridgeApi&, char** text) {
    *text = strdup(opened_libpython().c_str());
    return 0;
  });
}

int32_t py_shutdown() {
  const int32_t status = opened_python() != nullptr ? opened_python()->shutdown() : 0;
  forget_running_python();  // again, because code that ran meanwhile may have looked it up
  return status;
}

int32_t py_import(const char* name, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    require(name, "name");
    return api.import_module(name, result);
  });
}

int32_t py_getattr(int64_t a, const char* name, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    require(name, "name");
    return api.get_attribute(object_argument(a), name, result);
  });
}

int32_t py_setattr(int64_t a, const char* name, const char* kinds, const SplArray* values) {
  return with_python([&](const BridgeApi& api) {
    require(name, "name");
    const bridge::ObjectHandle object = object_argument(a);
    const PythonArguments arguments(kinds, values);
    return api.set_attribute(object, name, arguments.exactly(1));
  });
}

int32_t py_hasattr(int64_t a, const char* name, bool* out) {
  return value_with_python(out, [&](const BridgeApi& api, bool* found) {
    require(name, "name");
    return api.has_attribute(object_argument(a), name, found);
  });
}

// Flattened, as others below: they are called most often and consist of many short functions.
[[gnu::flatten]] int32_t py_call(int64_t callable, const char* kinds, const SplArray* values,
                                 const char* const* names, int64_t names_len, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    const bridge::ObjectHandle object = object_argument(callable);
    const PythonArguments arguments(kinds, values);
    const bridge::Arguments named = arguments.with_names(names, names_len);
    return api.call(object, &named, result);
  });
}

[[gnu::flatten]] int32_t py_call_method(int64_t a, const char* name, const char* kinds,
                                        const SplArray* values, const char* const* names, int64_t names_len,
                                        int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    require(name, "name");
    const bridge::ObjectHandle object = object_argument(a);
    const PythonArguments arguments(kinds, values);
    const bridge::Arguments named = arguments.with_names(names, names_len);
    return api.call_method(object, name, &named, result);
  });
}

int32_t py_get_item(int64_t a, const char* kinds, const SplArray* values, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    const bridge::ObjectHandle object = object_argument(a);
    const PythonArguments arguments(kinds, values);
    return api.get_item(object, arguments.exactly(1), result);
  });
}

int32_t py_set_item(int64_t a, const char* kinds, const SplArray* values) {
  return with_python([&](const BridgeApi& api) {
    const bridge::ObjectHandle object = object_argument(a);
    const PythonArguments arguments(kinds, values);
    const bridge::Value* pair = arguments.exactly(2);
    return api.set_item(object, &pair[0], &pair[1]);
  });
}

int32_t py_delete_item(int64_t a, const char* kinds, const SplArray* values) {
  return with_python([&](const BridgeApi& api) {
    const bridge::ObjectHandle object = object_argument(a);
    const PythonArguments arguments(kinds, values);
    return api.delete_item(object, arguments.exactly(1));
  });
}

int32_t py_contains(int64_t a, const char* kinds, const SplArray* values, bool* out) {
  return value_with_python(out, [&](const BridgeApi& api, bool* found) {
    const bridge::ObjectHandle object = object_argument(a);
    const PythonArguments arguments(kinds, values);
    return api.contains(object, arguments.exactly(1), found);
  });
}

int32_t py_length(int64_t a, int64_t* out) {
  return value_with_python(
      out, [&](const BridgeApi& api, int64_t* length) { return api.length(object_argument(a), length); });
}

int32_t py_iter(int64_t a, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    return api.iterate(object_argument(a), result);
  });
}

int32_t py_next(int64_t iterator, int64_t* out) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    PythonRef item;
    const int32_t status = api.next(object_argument(iterator), item.receive());
    if (status == 0) {
      *out = item.get() != nullptr ? new_handle(std::move(item)) : 0;
    }
    return status;
  });
}

int32_t py_compare(int64_t a, const char* op, const char* kinds, const SplArray* values, bool* out) {
  return value_with_python(out, [&](const BridgeApi& api, bool* truth) {
    require(op, "op");
    const bridge::ObjectHandle object = object_argument(a);
    const PythonArguments arguments(kinds, values);
    return api.compare(object, op, arguments.exactly(1), truth);
  });
}

int32_t py_operate(const char* op, const char* kinds, const SplArray* values, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    require(op, "op");
    const PythonArguments arguments(kinds, values);
    const bridge::Value* pair = arguments.exactly(2);
    return api.operate(&pair[0], op, &pair[1], result);
  });
}

int32_t py_is_instance(int64_t a, int64_t type, bool* out) {
  return value_with_python(out, [&](const BridgeApi& api, bool* truth) {
    const bridge::ObjectHandle object = object_argument(a);
    return api.is_instance(object, object_argument(type), truth);
  });
}

int32_t py_eval(const char* code, const char* kinds, const SplArray* values, const char* const* names,
                int64_t names_len, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    require(code, "code");
    const PythonArguments arguments(kinds, values);
    const bridge::Arguments variables = arguments.with_names(names, names_len);
    return api.eval(code, &variables, result);
  });
}

int32_t py_exec(const char* code, const char* kinds, const SplArray* values, const char* const* names,
                int64_t names_len) {
  return with_python([&](const BridgeApi& api) {
    require(code, "code");
    const PythonArguments arguments(kinds, values);
    const bridge::Arguments variables = arguments.with_names(names, names_len);
    return api.exec(code, &variables);
  });
}

int32_t py_kind(int64_t a, int32_t* out) {
  return value_with_python(
      out, [&](const BridgeApi& api, int32_t* kind) { return api.kind_of(object_argument(a), kind); });
}

int32_t py_is_none(int64_t a, bool* out) {
  return value_with_python(out, [&](const BridgeApi& api, bool* none) {
    int32_t kind = 0;
    const int32_t status = api.kind_of(object_argument(a), &kind);
    *none = kind == static_cast<int32_t>(bridge::ValueKind::kNil);
    return status;
  });
}

int32_t py_type_name(int64_t a, char** out) {
  return text_with_python(
      out, [&](const BridgeApi& api, char** text) { return api.type_name(object_argument(a), text); });
}

int32_t py_str(int64_t a, char** out) {
  return text_with_python(
      out, [&](const BridgeApi& api, char** text) { return api.str(object_argument(a), text); });
}

int32_t py_repr(int64_t a, char** out) {
  return text_with_python(
      out, [&](const BridgeApi& api, char** text) { return api.repr(object_argument(a), text); });
}

int32_t py_to_bool(int64_t a, bool* out) {
  return value_with_python(
      out, [&](const BridgeApi& api, bool* truth) { return api.to_bool(object_argument(a), truth); });
}

int32_t py_to_int(int64_t a, int64_t* out) {
  return value_with_python(
      out, [&](const BridgeApi& api, int64_t* number) { return api.to_int(object_argument(a), number); });
}

int32_t py_to_float(int64_t a, double* out) {
  return value_with_python(
      out, [&](const BridgeApi& api, double* number) { return api.to_float(object_argument(a), number); });
}

int32_t py_to_text(int64_t a, char** out) {
  return text_with_python(
      out, [&](const BridgeApi& api, char** text) { return api.to_text(object_argument(a), text); });
}

int32_t py_to_plain(int64_t a, SplArray** out) {
  return value_with_python(
      out, [&](const BridgeApi& api, SplArray** array) { return api.to_plain(object_argument(a), array); });
}

int32_t py_new_bytes(int64_t length, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    if (length < 0) {
      throw Error(ErrorKind::kInvalidArgument, "length must be non-negative, got " + std::to_string(length));
    }
    return api.new_bytes(length, result);
  });
}

int32_t py_bytes_data(int64_t a, int64_t** out, int64_t* out_len) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    require(out_len, "out_len");
    char* data = nullptr;
    int64_t length = 0;
    const int32_t status = api.bytes_data(object_argument(a), &data, &length);
    if (status == 0) {
      auto* list = allocate<int64_t>(2);
      list[0] = reinterpret_cast<int64_t>(data);
      list[1] = length;
      *out = list;
      *out_len = 2;
    }
    return status;
  });
}

int32_t py_to_list(int64_t a, int64_t** out, int64_t* out_len) {
  return with_python([&](const BridgeApi& api) {
    require(out, "out");
    require(out_len, "out_len");
    bridge::Object** items = nullptr;
    size_t count = 0;
    const int32_t status = api.to_list(object_argument(a), &items, &count);
    std::vector<PythonRef> references;
    references.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      references.emplace_back(items[i]);
    }
    std::free(items);
    if (status == 0) {
      auto* list = allocate<int64_t>(count);
      for (size_t i = 0; i < count; ++i) {
        list[i] = new_handle(std::move(references[i]));
      }
      *out = list;
      *out_len = static_cast<int64_t>(count);
    }
    return status;
  });
}

int32_t py_from_value(const char* kinds, const SplArray* values, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    const PythonArguments arguments(kinds, values);
    return api.from_value(arguments.exactly(1), result);
  });
}

int32_t py_list(const char* kinds, const SplArray* values, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    const PythonArguments arguments(kinds, values);
    return api.make_list(arguments.data(), arguments.size(), result);
  });
}

int32_t py_tuple(const char* kinds, const SplArray* values, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    const PythonArguments arguments(kinds, values);
    return api.make_tuple(arguments.data(), arguments.size(), result);
  });
}

int32_t py_dict(const char* kinds, const SplArray* values, int64_t* out) {
  return object_with_python(out, [&](const BridgeApi& api, bridge::Object** result) {
    const PythonArguments arguments(kinds, values);
    if (arguments.size() % 2 != 0) {
      throw Error(ErrorKind::kInvalidArgument, "a dict needs alternating keys and values, got " +
                                                   std::to_string(arguments.size()) + " values");
    }
    return api.make_dict(arguments.data(), arguments.size(), result);
  });
}

}  // namespace simple_torch::abi::body
