// Bodies of the TorchScript functions.
#include <memory>
#include <string>
#include <vector>

#include "abi/backend/flat_values.h"
#include "abi/backend/guarded.h"
#include "abi/backend/script_handles.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"

namespace simple_torch::abi {
namespace {

auto script_argument(int64_t module) { return handles().get<ScriptPointer>(module); }

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

const char* kind_name(core::ScriptMember::Kind kind) {
  switch (kind) {
    case core::ScriptMember::Kind::kParameter:
      return "parameter";
    case core::ScriptMember::Kind::kBuffer:
      return "buffer";
    case core::ScriptMember::Kind::kModule:
      return "module";
    case core::ScriptMember::Kind::kAttribute:
      break;
  }
  return "attribute";
}

/// For a function with one string argument and a string as its result.
template <class Make>
int32_t string_result(const char* method, char** out, Make&& make) {
  return guarded([&] {
    require(out, "out");
    require(method, "method");
    *out = to_malloc_string(make());
  });
}

}  // namespace

namespace body {

int32_t script_load(const char* path, const char* map_location, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    require(map_location, "map_location");
    const std::string location = map_location;
    *out =
        new_script(core::ScriptModule::load(path, location.empty() ? std::nullopt : std::optional(location)));
  });
}

int32_t script_save(int64_t module, const char* path) {
  return guarded([&] {
    require(path, "path");
    (*script_argument(module))->save(path);
  });
}

int32_t script_call(int64_t module, const char* method, const char* kinds, const SplArray* values,
                    const char* const* names, int64_t names_len, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(method, "method");
    const auto script = script_argument(module);
    *out = flat_of_values(
        {(*script)->call(method, values_of_flat(kinds, values), string_list(names, names_len, "names"))});
  });
}

int32_t script_methods(int64_t module, char** out) {
  return guarded([&] {
    require(out, "out");
    *out = to_malloc_string(lines_of((*script_argument(module))->methods()));
  });
}

int32_t script_members(int64_t module, char** out) {
  return guarded([&] {
    require(out, "out");
    std::vector<std::string> lines;
    for (const core::ScriptMember& member : (*script_argument(module))->members()) {
      lines.push_back(std::string(kind_name(member.kind)) + " " + std::to_string(member.identity) + " " +
                      member.name);
    }
    *out = to_malloc_string(lines_of(lines));
  });
}

int32_t script_submodule(int64_t module, const char* name, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    *out = new_script((*script_argument(module))->submodule(name));
  });
}

int32_t script_attribute(int64_t module, const char* name, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    *out = flat_of_values({(*script_argument(module))->attribute(name)});
  });
}

int32_t script_set_attribute(int64_t module, const char* name, const char* kinds, const SplArray* values) {
  return guarded([&] {
    require(name, "name");
    const std::vector<c10::IValue> found = values_of_flat(kinds, values);
    if (found.size() != 1) {
      throw Error(ErrorKind::kInvalidArgument, "expected one value, got " + std::to_string(found.size()));
    }
    (*script_argument(module))->set_attribute(name, found.front());
  });
}

int32_t script_name(int64_t module, char** out) {
  return guarded([&] {
    require(out, "out");
    *out = to_malloc_string((*script_argument(module))->original_name());
  });
}

int32_t script_train(int64_t module, bool mode) {
  return guarded([&] { (*script_argument(module))->train(mode); });
}

int32_t script_copy(int64_t module, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    *out = new_script((*script_argument(module))->copy());
  });
}

int32_t script_code(int64_t module, const char* method, char** out) {
  return string_result(method, out, [&] { return (*script_argument(module))->code(method); });
}

int32_t script_graph(int64_t module, const char* method, bool inlined, char** out) {
  return string_result(method, out, [&] { return (*script_argument(module))->graph(method, inlined); });
}

int32_t script_schema(int64_t module, const char* method, char** out) {
  return string_result(method, out, [&] { return (*script_argument(module))->schema(method); });
}

int32_t script_freeze(int64_t module, const char* const* preserved_attrs, int64_t preserved_attrs_len,
                      bool optimize_numerics, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const auto preserved = string_list(preserved_attrs, preserved_attrs_len, "preserved_attrs");
    *out = new_script((*script_argument(module))->freeze(preserved, optimize_numerics));
  });
}

int32_t script_optimize_for_inference(int64_t module, const char* const* other_methods,
                                      int64_t other_methods_len, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const auto methods = string_list(other_methods, other_methods_len, "other_methods");
    *out = new_script((*script_argument(module))->optimized_for_inference(methods));
  });
}

int32_t script_free(int64_t module) {
  return guarded([&] { handles().release_if(module, HandleKind::kScript); });
}

}  // namespace body
}  // namespace simple_torch::abi
