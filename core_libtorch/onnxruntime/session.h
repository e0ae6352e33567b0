// A model that ONNX Runtime runs on the CPU.
#pragma once

#include <ATen/core/Tensor.h>
#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core_libtorch/onnxruntime/values.h"

namespace simple_torch::core::onnxruntime {

struct Node {
  std::string name;
  Type type;
};

/// What the model's file states about itself.
struct Metadata {
  std::string producer, graph_name, domain, description, graph_description;
  int64_t version = 0;
  std::vector<std::pair<std::string, std::string>> custom;
};

/// Names of Python's onnxruntime.SessionOptions with their values, and "config KEY", "dimension NAME",
/// "provider" and "provider_option KEY" (of the last provider).
using Options = std::vector<std::pair<std::string, std::string>>;

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Any thread may call any function, also at once. close() waits for no run: a run that has begun ends.
class Session {
 public:
  /// Throws Error(kIo) if the model is missing or invalid, NotImplemented for operators that the library
  /// lacks, InvalidArgument for a wrong option, Unavailable for a provider that the library lacks.
  Session(const std::string& path, const Options& options);
  /// `model` is a uint8 tensor [n] with the content of a file.
  Session(const at::Tensor& model, const Options& options);

  const std::vector<Node>& inputs() const { return inputs_; }
  const std::vector<Node>& outputs() const { return outputs_; }
  /// Initializers that an input of the same name may replace.
  const std::vector<Node>& initializers() const { return initializers_; }
  const Metadata& metadata() const { return metadata_; }

  /// The outputs with these names; all for no names. An output in `bound` is written to its tensor.
  /// Throws Error as Inputs::add() does, InvalidArgument for unknown, repeated or missing names and for a
  /// closed session.
  std::vector<Value> run(const std::vector<std::string>& output_names,
                         const std::vector<std::string>& input_names, const std::vector<Value>& inputs,
                         const NamedTensors& bound) const;

  /// Ends profiling; the name of the file that it wrote.
  std::string end_profiling() const;

  void close();

 private:
  std::shared_ptr<OrtSession> opened(const char* operation) const;
  void read_model();
  const Node& output(const std::string& name) const;
  const Node& input(const std::string& name) const;
  Inputs feeds_of(const std::vector<std::string>& names, const std::vector<Value>& values) const;
  std::vector<ValuePtr> outputs_of(const std::vector<std::string>& names, const NamedTensors& bound) const;
  void require_all_inputs(const std::vector<std::string>& names) const;

  mutable std::mutex lock_;  // for session_
  std::shared_ptr<OrtSession> session_;
  pid_t process_;
  std::vector<Node> inputs_, outputs_, initializers_;
  Metadata metadata_;
};

std::vector<std::string> available_providers();

}  // namespace simple_torch::core::onnxruntime
