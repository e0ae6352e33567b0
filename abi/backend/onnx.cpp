// Bodies of ONNX's files and ONNX Runtime's sessions. Values are passed flat: each value precedes its items.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/onnx/model_file.h"
#include "core_libtorch/onnxruntime/session.h"

namespace simple_torch::abi {

namespace ort = core::onnxruntime;
using SessionPointer = std::unique_ptr<ort::Session>;

template <>
struct HandleKindOf<SessionPointer> {
  static constexpr HandleKind value = HandleKind::kOnnxSession;
};

namespace {

constexpr int kMaxDepth = 100;

[[noreturn]] void reject_run(const std::string& why) {
  throw Error(ErrorKind::kInvalidArgument, "onnx_session_run: " + why);
}

/// A string in an array of Simple, or a number in it.
const std::string& string_in(const c10::IValue& value) {
  if (!value.isString()) {
    reject_run("the strings of a value must be strings, got " + value.tagKind());
  }
  return value.toStringRef();
}

int64_t number_in(const c10::IValue& value) {
  if (!value.isInt() || value.toInt() < 0) {
    reject_run("a size must be a non-negative integer");
  }
  return value.toInt();
}

/// Parses the flat form of values.
class OnnxValues {
 public:
  OnnxValues(const char* kinds, const SplArray* values)
      : kinds_(kinds), values_(values), count_(count_of_values(kinds, values)) {}

  std::vector<ort::Value> all() {
    std::vector<ort::Value> results;
    while (at_ < count_) {
      results.push_back(next(0));
    }
    return results;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): kMaxDepth
  ort::Value next(int depth) {
    if (at_ == count_ || depth > kMaxDepth) {
      reject_run(at_ == count_ ? "the values end inside a sequence or map" : "a value is nested too deeply");
    }
    const char letter = kinds_[at_];
    const SplValue& item = values_->items[at_++];
    ort::Value value;
    switch (letter) {
      case 'n':
        return value;
      case 't':
        value.kind = ort::ValueKind::kTensor;
        value.tensor = *tensor_argument(value_by_letter('v', item).toInt());
        return value;
      case 's':
        return strings(item);
      case 'q':
        value.kind = ort::ValueKind::kSequence;
        return with_items(std::move(value), number_in(value_by_letter('v', item)), depth);
      case 'm':
        value.kind = ort::ValueKind::kMap;
        return with_items(std::move(value), 2, depth);
      default:
        reject_run(std::string("unknown letter ") + letter + ", expected t, s, q, m or n");
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  ort::Value with_items(ort::Value value, int64_t count, int depth) {
    for (int64_t i = 0; i < count; ++i) {
      value.items.push_back(next(depth + 1));
    }
    return value;
  }

  static ort::Value strings(const SplValue& item) {
    const c10::IValue list = value_by_letter('v', item);
    if (!list.isList() || list.toListRef().empty()) {
      reject_run("strings must be an array with the number of sizes, the sizes and the strings");
    }
    const auto& parts = list.toListRef();
    const auto dimensions = static_cast<size_t>(number_in(parts[0]));
    if (dimensions >= parts.size()) {
      reject_run("an array of strings lacks sizes");
    }
    ort::Value value;
    value.kind = ort::ValueKind::kStrings;
    size_t count = 1;
    for (size_t i = 1; i <= dimensions; ++i) {
      value.sizes.push_back(number_in(parts[i]));
      count *= static_cast<size_t>(value.sizes.back());
    }
    for (size_t i = dimensions + 1; i < parts.size(); ++i) {
      value.strings.push_back(string_in(parts[i]));
    }
    if (value.strings.size() != count) {
      reject_run("expected " + std::to_string(count) + " strings, got " +
                 std::to_string(value.strings.size()));
    }
    return value;
  }

  const char* kinds_;
  const SplArray* values_;
  size_t count_;
  size_t at_ = 0;
};

/// Makes the flat form of values.
class FlatOnnxValues {
 public:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the type of the output
  void add(const ort::Value& value) {
    switch (value.kind) {
      case ort::ValueKind::kTensor:
        push('t', value.tensor);
        break;
      case ort::ValueKind::kStrings:
        push('s', strings(value));
        break;
      case ort::ValueKind::kSequence:
        push('q', static_cast<int64_t>(value.items.size()));
        break;
      case ort::ValueKind::kMap:
        push('m', c10::IValue());
        break;
      case ort::ValueKind::kNone:
        push('n', c10::IValue());
        break;
    }
    for (const ort::Value& item : value.items) {
      add(item);
    }
  }

  SplArray* take() { return Results(values_).take_array(letters_); }

 private:
  void push(char letter, c10::IValue value) {
    letters_ += letter;
    values_.push_back(std::move(value));
  }

  static c10::IValue strings(const ort::Value& value) {
    c10::impl::GenericList list(c10::AnyType::get());
    list.push_back(static_cast<int64_t>(value.sizes.size()));
    for (const int64_t size : value.sizes) {
      list.push_back(size);
    }
    for (const std::string& text : value.strings) {
      list.push_back(text);
    }
    return list;
  }

  std::string letters_;
  std::vector<c10::IValue> values_;
};

c10::IValue sizes_value(const ort::Type& type) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (size_t i = 0; i < type.sizes.size(); ++i) {
    if (type.sizes[i] >= 0) {
      list.push_back(type.sizes[i]);
    } else {
      list.push_back(type.symbols[i].empty() ? c10::IValue() : c10::IValue(type.symbols[i]));
    }
  }
  return list;
}

ort::Session& session_of(const HandleTable::Borrowed<SessionPointer>& session) { return **session; }

const std::vector<ort::Node>& nodes_of(const ort::Session& session, int64_t which) {
  switch (which) {
    case 0:
      return session.inputs();
    case 1:
      return session.outputs();
    case 2:
      return session.initializers();
    default:
      throw Error(ErrorKind::kInvalidArgument, "which must be 0, 1 or 2, got " + std::to_string(which));
  }
}

template <class Value>
std::vector<std::pair<std::string, Value>> pairs_of(std::vector<std::string> names, std::vector<Value> values,
                                                    const char* what) {
  if (names.size() != values.size()) {
    throw Error(ErrorKind::kInvalidArgument,
                std::to_string(names.size()) + " names for " + std::to_string(values.size()) + " " + what);
  }
  std::vector<std::pair<std::string, Value>> pairs;
  for (size_t i = 0; i < names.size(); ++i) {
    pairs.emplace_back(std::move(names[i]), std::move(values[i]));
  }
  return pairs;
}

}  // namespace

namespace body {

int32_t onnx_runtime_open(const char* folder, char** out) {
  return guarded([&] {
    require(out, "out");
    require(folder, "folder");
    *out = to_malloc_string(ort::open_library(folder).version);
  });
}

int32_t onnx_providers(char** out) {
  return guarded_result(out, [] {
    std::string lines;
    for (const std::string& name : ort::available_providers()) {
      lines += (lines.empty() ? "" : "\n") + name;
    }
    return to_malloc_string(lines);
  });
}

int32_t onnx_session_new(const char* path, int64_t model, const char* const* names, int64_t names_len,
                         const char* const* values, int64_t values_len, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    const ort::Options options = pairs_of(string_list(names, names_len, "names"),
                                          string_list(values, values_len, "values"), "options");
    const auto content = optional_tensor(model);
    *out = handles().insert(content ? std::make_unique<ort::Session>(*content, options)
                                    : std::make_unique<ort::Session>(path, options));
  });
}

int32_t onnx_session_nodes(int64_t session, int64_t which, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    const auto borrowed = handles().get<SessionPointer>(session);
    std::vector<c10::IValue> items;
    for (const ort::Node& node : nodes_of(session_of(borrowed), which)) {
      items.emplace_back(node.name);
      items.emplace_back(node.type.text());
      items.emplace_back(sizes_value(node.type));
    }
    *out = Results(items).take_array("");
  });
}

int32_t onnx_session_metadata(int64_t session, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    const auto borrowed = handles().get<SessionPointer>(session);
    const ort::Metadata& metadata = session_of(borrowed).metadata();
    std::vector<c10::IValue> items{metadata.producer,    metadata.graph_name,        metadata.domain,
                                   metadata.description, metadata.graph_description, metadata.version};
    for (const auto& [name, value] : metadata.custom) {
      items.emplace_back(name);
      items.emplace_back(value);
    }
    *out = Results(items).take_array("");
  });
}

int32_t onnx_session_run(int64_t session, const char* const* outputs, int64_t outputs_len,
                         const char* const* inputs, int64_t inputs_len, const char* kinds,
                         const SplArray* values, const char* const* bound_names, int64_t bound_names_len,
                         const int64_t* bound, int64_t bound_len, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(kinds, "kinds");
    const auto borrowed = handles().get<SessionPointer>(session);
    const std::vector<std::string> names = string_list(inputs, inputs_len, "inputs");
    const std::vector<ort::Value> feeds = OnnxValues(kinds, values).all();
    if (names.size() != feeds.size()) {
      reject_run(std::to_string(names.size()) + " names for " + std::to_string(feeds.size()) + " values");
    }
    const ort::NamedTensors written = pairs_of(string_list(bound_names, bound_names_len, "bound_names"),
                                               tensor_list(bound, bound_len), "tensors");
    core::with_error_context("run", core::kNoOperands, [&] {
      FlatOnnxValues flat;
      for (const ort::Value& value :
           session_of(borrowed).run(string_list(outputs, outputs_len, "outputs"), names, feeds, written)) {
        flat.add(value);
      }
      *out = flat.take();
    });
  });
}

int32_t onnx_session_end_profiling(int64_t session, char** out) {
  return guarded_result(out, [&] {
    const auto borrowed = handles().get<SessionPointer>(session);
    return to_malloc_string(session_of(borrowed).end_profiling());
  });
}

int32_t onnx_session_close(int64_t session) {
  return guarded([&] {
    const auto borrowed = handles().get<SessionPointer>(session);
    session_of(borrowed).close();
  });
}

int32_t onnx_session_end(int64_t session) {
  return guarded([&] { handles().release_if(session, HandleKind::kOnnxSession); });
}

int32_t onnx_initializers(const char* path, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(path, "path");
    std::vector<c10::IValue> items;
    for (core::onnx::NamedTensor& each : core::onnx::read_initializers(path)) {
      items.emplace_back(std::move(each.name));
      items.emplace_back(std::move(each.tensor));
    }
    *out = Results(items).take_array("");
  });
}

}  // namespace body
}  // namespace simple_torch::abi
