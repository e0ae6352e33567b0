#include "core_libtorch/onnxruntime/session.h"

#include <unistd.h>

#include <algorithm>

#include "core_libtorch/onnxruntime/session_options.h"
#include "core_libtorch/unreadable_file.h"

namespace simple_torch::core::onnxruntime {
namespace {

using MetadataPtr =
    std::unique_ptr<OrtModelMetadata, Releaser<OrtModelMetadata, &OrtFunctions::release_metadata>>;

[[noreturn]] void reject(const std::string& why) { throw Error(ErrorKind::kInvalidArgument, why); }

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return "[" + text + "]";
}

std::vector<std::string> names_of(const std::vector<Node>& nodes) {
  std::vector<std::string> names;
  for (const Node& node : nodes) {
    names.push_back(node.name);
  }
  return names;
}

const Node* find(const std::vector<Node>& nodes, const std::string& name) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

std::vector<const char*> pointers_of(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
  }
  return pointers;
}

// In a child after a fork the session stays: to release it is to wait for threads of the parent.
std::shared_ptr<OrtSession> shared(OrtSession* session) {
  return {session, [process = getpid()](OrtSession* each) {
            if (getpid() == process) {
              functions().release_session(each);
            }
          }};
}

using CountOf = OrtStatus* (*)(const OrtSession*, size_t*);
using NameOf = OrtStatus* (*)(const OrtSession*, size_t, OrtAllocator*, char**);
using TypeOf = OrtStatus* (*)(const OrtSession*, size_t, OrtTypeInfo**);

std::vector<Node> nodes_of(const OrtSession* session, CountOf count_of, NameOf name_of, TypeOf type_of) {
  size_t count = 0;
  check(count_of(session, &count));
  std::vector<Node> nodes;
  for (size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    check(name_of(session, i, library().allocator, &name));
    Node node{taken(name), {}};
    OrtTypeInfo* info = nullptr;
    check(type_of(session, i, &info));
    node.type = read_type(*TypePtr(info));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

using TextOf = OrtStatus* (*)(const OrtModelMetadata*, OrtAllocator*, char**);

std::string text_of(const OrtModelMetadata* metadata, TextOf text_of) {
  char* text = nullptr;
  check(text_of(metadata, library().allocator, &text));
  return taken(text);
}

std::vector<std::string> custom_keys(const OrtModelMetadata* metadata) {
  char** keys = nullptr;
  int64_t count = 0;
  check(functions().metadata_keys(metadata, library().allocator, &keys, &count));
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) {
    names.push_back(taken(keys[i]));
  }
  if (keys != nullptr) {
    check(functions().allocator_free(library().allocator, keys));
  }
  return names;
}

Metadata metadata_of(const OrtSession* session) {
  OrtModelMetadata* made = nullptr;
  check(functions().get_metadata(session, &made));
  const MetadataPtr owned(made);
  Metadata metadata;
  metadata.producer = text_of(made, functions().metadata_producer);
  metadata.graph_name = text_of(made, functions().metadata_graph_name);
  metadata.domain = text_of(made, functions().metadata_domain);
  metadata.description = text_of(made, functions().metadata_description);
  metadata.graph_description = text_of(made, functions().metadata_graph_description);
  check(functions().metadata_version(made, &metadata.version));
  for (const std::string& key : custom_keys(made)) {
    char* value = nullptr;
    check(functions().metadata_lookup(made, library().allocator, key.c_str(), &value));
    metadata.custom.emplace_back(key, taken(value));
  }
  return metadata;
}

const at::Tensor* bound_tensor(const NamedTensors& bound, const std::string& name) {
  const auto found =
      std::find_if(bound.begin(), bound.end(), [&](const auto& pair) { return pair.first == name; });
  return found == bound.end() ? nullptr : &found->second;
}

// The library wrote to the tensor.
Value written(const at::Tensor& tensor) {
  tensor.unsafeGetTensorImpl()->bump_version();
  Value value;
  value.kind = ValueKind::kTensor;
  value.tensor = tensor;
  return value;
}

}  // namespace

Session::Session(const std::string& path, const Options& options) : process_(getpid()) {
  const std::string why = why_unreadable(path);
  if (!why.empty()) {
    throw Error(ErrorKind::kIo, "InferenceSession: cannot read '" + path + "': " + why);
  }
  OrtSession* made = nullptr;
  const OptionsPtr session_options = make_options(options);
  check(functions().create_session(library().env, path.c_str(), session_options.get(), &made), Stage::kLoad);
  session_ = shared(made);
  read_model();
}

Session::Session(const at::Tensor& model, const Options& options) : process_(getpid()) {
  if (!model.is_cpu() || model.scalar_type() != at::kByte || model.dim() != 1) {
    reject("InferenceSession: the content of a model must be a 1-D uint8 tensor on the CPU");
  }
  OrtSession* made = nullptr;
  const OptionsPtr session_options = make_options(options);
  const at::Tensor bytes = model.contiguous();
  check(functions().create_session_from_array(library().env, bytes.const_data_ptr(), bytes.nbytes(),
                                              session_options.get(), &made),
        Stage::kLoad);
  session_ = shared(made);
  read_model();
}

void Session::read_model() {
  const OrtFunctions& f = functions();
  const OrtSession* const session = session_.get();
  inputs_ = nodes_of(session, f.input_count, f.input_name, f.input_type);
  outputs_ = nodes_of(session, f.output_count, f.output_name, f.output_type);
  initializers_ = nodes_of(session, f.initializer_count, f.initializer_name, f.initializer_type);
  metadata_ = metadata_of(session);
}

std::shared_ptr<OrtSession> Session::opened(const char* operation) const {
  if (getpid() != process_) {
    reject(
        std::string(operation) +
        ": the session was opened before a fork, and its threads are in the parent process; open it in the "
        "child");
  }
  const std::lock_guard guard(lock_);
  if (session_ == nullptr) {
    reject(std::string(operation) + ": the session is closed");
  }
  return session_;
}

const Node& Session::output(const std::string& name) const {
  const Node* const node = find(outputs_, name);
  if (node == nullptr) {
    reject("run: no output named '" + name + "'; outputs: " + list_of(names_of(outputs_)));
  }
  return *node;
}

const Node& Session::input(const std::string& name) const {
  const Node* node = find(inputs_, name);
  node = node != nullptr ? node : find(initializers_, name);
  if (node == nullptr) {
    reject("run: no input named '" + name + "'; inputs: " + list_of(names_of(inputs_)));
  }
  return *node;
}

void Session::require_all_inputs(const std::vector<std::string>& names) const {
  std::vector<std::string> missing;
  for (const Node& node : inputs_) {
    const auto count = std::count(names.begin(), names.end(), node.name);
    if (count > 1) {
      reject("run: input '" + node.name + "' appears twice");
    }
    // An optional input that is left out has no value.
    if (count == 0 && node.type.kind != OrtKind::kOptional) {
      missing.push_back(node.name);
    }
  }
  if (!missing.empty()) {
    reject("run: required inputs " + list_of(missing) + " are missing from the feeds " + list_of(names));
  }
}

Inputs Session::feeds_of(const std::vector<std::string>& names, const std::vector<Value>& values) const {
  require_all_inputs(names);
  Inputs feeds;
  for (size_t i = 0; i < values.size(); ++i) {
    const Node& node = input(names[i]);
    // The library has no value for an absent optional input: it is left out.
    if (node.type.kind != OrtKind::kOptional || values[i].kind != ValueKind::kNone) {
      feeds.add(node.name, node.type, values[i]);
    }
  }
  return feeds;
}

std::vector<ValuePtr> Session::outputs_of(const std::vector<std::string>& names,
                                          const NamedTensors& bound) const {
  std::vector<ValuePtr> values;
  for (const std::string& name : names) {
    const Node& node = output(name);
    const at::Tensor* const tensor = bound_tensor(bound, name);
    values.push_back(tensor == nullptr ? nullptr : output_in(name, node.type, *tensor));
  }
  return values;
}

std::vector<Value> Session::run(const std::vector<std::string>& output_names,
                                const std::vector<std::string>& input_names, const std::vector<Value>& inputs,
                                const NamedTensors& bound) const {
  const std::shared_ptr<OrtSession> session = opened("run");
  const std::vector<std::string> names = output_names.empty() ? names_of(outputs_) : output_names;
  const Inputs feeds = feeds_of(input_names, inputs);
  std::vector<ValuePtr> outputs = outputs_of(names, bound);
  std::vector<OrtValue*> pointers;
  for (const ValuePtr& each : outputs) {
    pointers.push_back(each.get());
  }
  check(functions().run(session.get(), nullptr, feeds.names().data(), feeds.values().data(),
                        feeds.values().size(), pointers_of(names).data(), names.size(), pointers.data()));
  for (size_t i = 0; i < names.size(); ++i) {
    outputs[i] = outputs[i] == nullptr ? ValuePtr(pointers[i]) : std::move(outputs[i]);
  }
  std::vector<Value> values;
  for (size_t i = 0; i < names.size(); ++i) {
    const at::Tensor* const tensor = bound_tensor(bound, names[i]);
    values.push_back(tensor == nullptr ? from_ort(std::move(outputs[i]), feeds) : written(*tensor));
  }
  return values;
}

std::string Session::end_profiling() const {
  const std::shared_ptr<OrtSession> session = opened("end_profiling");
  char* file = nullptr;
  check(functions().end_profiling(session.get(), library().allocator, &file));
  return taken(file);
}

void Session::close() {
  const std::lock_guard guard(lock_);
  session_.reset();
}

std::vector<std::string> available_providers() {
  char** names = nullptr;
  int count = 0;
  check(functions().get_available_providers(&names, &count));
  std::vector<std::string> providers(names, names + count);
  check(functions().release_available_providers(names, count));
  return providers;
}

}  // namespace simple_torch::core::onnxruntime
