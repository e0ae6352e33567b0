// The reviewed table from LibTorch's messages to kinds of errors. The first matching entry wins.
#include "core_libtorch/error_table.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "core_libtorch/error_messages.h"
#include "core_libtorch/threads.h"

namespace simple_torch::core {
namespace {

/// The operands' property that fills `expected` and `got`.
enum class Facts { kNone, kShapes, kDtypes, kDevices };

struct Entry {
  std::string_view pattern;  // a part of the message
  ErrorKind kind;
  Facts facts;
  std::string_view replacement{};  // our message, where LibTorch's names another cause
};

// LibTorch's message names FakeTensor and torch.compile; the cause is memory that it may not write.
constexpr std::string_view kReadOnly =
    "the tensor is read-only: its memory was imported without write access (DLPack's flag READ_ONLY, or a "
    "read-only buffer), and this operation writes to it or requests a writable pointer; use its .clone()";

// The parent used CUDA before the fork. LibTorch's message here does not name the fork; PyTorch's own does.
constexpr std::string_view kInitializationError = "CUDA error: initialization error";
constexpr std::string_view kForkedFromCuda =
    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
    "'spawn' start method";

constexpr std::string_view kNotResizable =
    "the tensor's memory cannot be resized: it is exported (by DLPack or to NumPy), or it belongs to another "
    "library; resize a clone()";

constexpr Entry kTable[] = {
    {"Trying to resize storage that is not resizable", ErrorKind::kInvalidArgument, Facts::kNone,
     kNotResizable},
    {"Cannot access data pointer of Tensor (e.g. FakeTensor", ErrorKind::kInvalidArgument, Facts::kNone,
     kReadOnly},
    // devices
    {"is not on the expected device", ErrorKind::kDeviceMismatch, Facts::kDevices},
    {"Expected all tensors to be on the same device", ErrorKind::kDeviceMismatch, Facts::kDevices},
    {"is on cpu, but expected", ErrorKind::kDeviceMismatch, Facts::kDevices},
    {"different from other tensors on", ErrorKind::kDeviceMismatch, Facts::kDevices},
    {"Input type (", ErrorKind::kDtypeMismatch, Facts::kDtypes},  // convolutions: type or device differs
    {"Found no NVIDIA driver", ErrorKind::kUnavailable, Facts::kNone},
    {"Torch not compiled with CUDA", ErrorKind::kUnavailable, Facts::kNone},
    {"Cannot initialize CUDA without", ErrorKind::kUnavailable, Facts::kNone},
    {"No CUDA GPUs are available", ErrorKind::kUnavailable, Facts::kNone},
    {"invalid device ordinal", ErrorKind::kUnavailable, Facts::kNone},
    {"PyTorch is not linked with support for", ErrorKind::kUnavailable, Facts::kNone},
    {"Invalid device string", ErrorKind::kInvalidArgument, Facts::kNone},
    {"Expected one of cpu, cuda", ErrorKind::kInvalidArgument, Facts::kNone},
    // memory
    {"not enough memory", ErrorKind::kOutOfMemory, Facts::kNone},
    {"can't allocate memory", ErrorKind::kOutOfMemory, Facts::kNone},
    {"out of memory", ErrorKind::kOutOfMemory, Facts::kNone},
    {"Storage size calculation overflowed", ErrorKind::kOutOfMemory, Facts::kNone},
    // dtypes
    {"to have the same dtype", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"must have the same dtype", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"should have the same dtype", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"expected scalar type", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"Expected tensor for argument", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"expected m1 and m2 to have", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"Expected object of scalar type", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"Found dtype", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"dtype as self", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"can't be cast to the desired output type", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"Expected dtype int", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"expected Long", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"Could not infer dtype", ErrorKind::kDtypeMismatch, Facts::kNone},
    {"only supports boolean masks", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"expected BoolTensor", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"tensors used as indices must be", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"Only Tensors of floating point", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"only Tensors of floating point", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"dtype must be either a floating point or complex", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"to be Half, Float or Double tensors", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"to have dtype", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"dtype for input and out to match", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"to have same dtype", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"expects Long tensor out", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"only supports floating-point dtypes", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {".dtype to be equal to", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"floating point dtype but got", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"integral dtype but got", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"must have the same scalar type", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"expected condition to be a boolean tensor", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    {"the `-` operator, ", ErrorKind::kDtypeMismatch, Facts::kDtypes},
    // invalid values whose messages would match the entries for missing features below
    {"negative padding", ErrorKind::kInvalidArgument, Facts::kNone},
    {"non-positive", ErrorKind::kInvalidArgument, Facts::kNone},
    // features that LibTorch lacks
    {"not implemented for", ErrorKind::kNotImplemented, Facts::kDtypes},
    {"is not implemented", ErrorKind::kNotImplemented, Facts::kNone},
    {"not supported", ErrorKind::kNotImplemented, Facts::kNone},
    {"Could not run '", ErrorKind::kNotImplemented, Facts::kNone},
    // indices
    {"Dimension out of range", ErrorKind::kIndexOutOfRange, Facts::kNone},
    {"out of bounds", ErrorKind::kIndexOutOfRange, Facts::kNone},
    {"out of range", ErrorKind::kIndexOutOfRange, Facts::kNone},
    {"is invalid for tensor of dimension", ErrorKind::kIndexOutOfRange, Facts::kNone},
    {"exceeds dimension size", ErrorKind::kIndexOutOfRange, Facts::kNone},
    {"Expected dim <", ErrorKind::kIndexOutOfRange, Facts::kNone},
    {"_chunk_cat expects dim", ErrorKind::kIndexOutOfRange, Facts::kNone},
    // shapes
    {"must match the size of tensor", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must match the existing size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"shapes cannot be multiplied", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"size mismatch", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"is invalid for input of size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"inconsistent tensor size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Sizes of tensors must match", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"stack expects each tensor to be equal size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"view size is not compatible", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"number of dimensions in the tensor input does not match", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"number of sizes provided", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"cannot be smaller than number of dimensions", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must be batches of square matrices", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Given normalized_shape", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Given groups=", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected 3D (unbatched) or 4D (batched)", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"1D tensors expected", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must be a matrix", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must be a 3D tensor", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"expected to be in the range of", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"expected input batch_size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected input batch_size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected target size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Mismatch in shape", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"is different to the input size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Using a target size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must be the same size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must have the same shape", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"same number of dimensions", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"The shape of the mask", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"shape mismatch", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"doesn't match the broadcast shape", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Calculated padded input size per channel", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must be 2-D", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"-dimensional input for", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"(batch mode) tensor", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"of same shape as normalized_shape", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"non-empty vector or matrix", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected number of channels", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected HxW", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Output size is too small", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Invalid computed output size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Input must be >=", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Mismatch of parameter numbers", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Not allow zero-dim input", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Size does not match at dimension", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"expects same sizes of", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected 2D or 3D", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected 3D or 4D", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected 4D or 5D", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"over an empty dimension", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"boundaries tensor must be", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"or fewer dimensions", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"the same numel as", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Supports 1D or 2D", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"expected total dims", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"inconsistent target size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"inconsistent weight size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must have length 3", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"only supports 0-dimensional", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"only supports a 0-dimensional", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"non-batch dimensions to have positive length", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"to have non-zero size for non-batch", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"cannot be applied to a 0-dim", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"to be a scalar or 1D tensor", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"prob_dist must be 1 or 2", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"needs at least", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"is not expandable to size", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"tensor shape must match", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"dimensions, but self is", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"attempted to split along dimension", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"requires a tensor with at least", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"each dimension size to be at least", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must have at least", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"must be equal to min(", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"expected a matrix", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"should have at least three dimensions", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"cannot be concatenated", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"cannot reshape tensor of 0 elements", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"size of bins must be equal", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"_chunk_cat expects non-empty tensor", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"Expected normalized_shape to be at least", ErrorKind::kShapeMismatch, Facts::kNone},
    {"0-dim integral Tensor", ErrorKind::kShapeMismatch, Facts::kShapes},
    {"physical_layout", ErrorKind::kShapeMismatch, Facts::kNone},
    // arguments
    {"grad can be implicitly created only for scalar outputs", ErrorKind::kInvalidArgument, Facts::kShapes},
    {"does not require grad and does not have a grad_fn", ErrorKind::kInvalidArgument, Facts::kNone},
    {"Trying to backward through the graph a second time", ErrorKind::kInvalidArgument, Facts::kNone},
    {"a leaf Variable that requires grad", ErrorKind::kInvalidArgument, Facts::kNone},
    {"you can only change requires_grad flags of leaf", ErrorKind::kInvalidArgument, Facts::kNone},
    {"cannot be converted to Scalar", ErrorKind::kInvalidArgument, Facts::kShapes},
    {"Trying to create tensor with negative dimension", ErrorKind::kInvalidArgument, Facts::kNone},
    {"step must be", ErrorKind::kInvalidArgument, Facts::kNone},
    {"step size", ErrorKind::kInvalidArgument, Facts::kNone},
    {"bounds inconsistent with step", ErrorKind::kInvalidArgument, Facts::kNone},
    {"must be non-negative", ErrorKind::kInvalidArgument, Facts::kNone},
    {"must be greater than", ErrorKind::kInvalidArgument, Facts::kNone},
    {"must be positive", ErrorKind::kInvalidArgument, Facts::kNone},
    {"has to be between 0 and 1", ErrorKind::kInvalidArgument, Facts::kNone},
    {"to be greater than 0", ErrorKind::kInvalidArgument, Facts::kNone},
    {"can only be 0 if dimension size is 0", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expected a non-empty list of Tensors", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expects a non-empty TensorList", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expects std", ErrorKind::kInvalidArgument, Facts::kNone},
    {"only one dimension can be inferred", ErrorKind::kInvalidArgument, Facts::kNone},
    {"invalid shape dimension", ErrorKind::kInvalidArgument, Facts::kNone},
    {"Duplicate dim", ErrorKind::kInvalidArgument, Facts::kNone},
    {"Lower bound should be", ErrorKind::kInvalidArgument, Facts::kNone},
    {"_chunk_cat expects", ErrorKind::kInvalidArgument, Facts::kNone},
    {"`shifts` required", ErrorKind::kInvalidArgument, Facts::kNone},
    {"shifts and dimensions must align", ErrorKind::kInvalidArgument, Facts::kNone},
    {"output_size", ErrorKind::kInvalidArgument, Facts::kNone},
    {"approximate argument", ErrorKind::kInvalidArgument, Facts::kNone},
    {"cannot sample", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expects sigma", ErrorKind::kInvalidArgument, Facts::kNone},
    {"cannot be negative", ErrorKind::kInvalidArgument, Facts::kNone},
    {"diagonal dimensions cannot be identical", ErrorKind::kInvalidArgument, Facts::kNone},
    {"should be greater than zero", ErrorKind::kInvalidArgument, Facts::kNone},
    {"appears multiple times in the list of dims", ErrorKind::kInvalidArgument, Facts::kNone},
    {"must be not zero", ErrorKind::kInvalidArgument, Facts::kNone},
    {"kernel size overflows", ErrorKind::kInvalidArgument, Facts::kNone},
    {"rotation dims", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expects lambda", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expects p to be", ErrorKind::kInvalidArgument, Facts::kNone},
    {"multinomial distribution", ErrorKind::kInvalidArgument, Facts::kNone},
    {"must be in range [", ErrorKind::kInvalidArgument, Facts::kNone},
    {"must be greater or equal to", ErrorKind::kInvalidArgument, Facts::kNone},
    {"without overflow", ErrorKind::kInvalidArgument, Facts::kNone},
    {"movedim: ", ErrorKind::kInvalidArgument, Facts::kNone},
    {"number of categories", ErrorKind::kInvalidArgument, Facts::kNone},
    {"only p == 1", ErrorKind::kInvalidArgument, Facts::kNone},
    {"pad should be at most", ErrorKind::kInvalidArgument, Facts::kNone},
    {"probability tensor contains", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expected spacing to be", ErrorKind::kInvalidArgument, Facts::kNone},
    {"only supports edge_order", ErrorKind::kInvalidArgument, Facts::kNone},
    {"expects to return a [from, to) range", ErrorKind::kInvalidArgument, Facts::kNone},
    {"refers to a single memory location", ErrorKind::kInvalidArgument, Facts::kNone},
    {"unsupported range", ErrorKind::kInvalidArgument, Facts::kNone},
    {"inconsistent with step sign", ErrorKind::kInvalidArgument, Facts::kNone},
    {"storage that is not resizable", ErrorKind::kInvalidArgument, Facts::kNone},
    {"Specify the reduction dim", ErrorKind::kInvalidArgument, Facts::kNone},
    {"einsum(): ", ErrorKind::kInvalidArgument, Facts::kNone},
};

const Entry* find_entry(std::string_view message) {
  for (const Entry& entry : kTable) {
    if (message.find(entry.pattern) != std::string_view::npos) {
      return &entry;
    }
  }
  return nullptr;
}

bool is_linalg_error(const c10::Error& error) {
  return dynamic_cast<const c10::LinAlgError*>(&error) != nullptr;
}

ErrorKind kind_by_class(const c10::Error& error) {
  if (dynamic_cast<const c10::IndexError*>(&error) != nullptr) {
    return ErrorKind::kIndexOutOfRange;
  }
  if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr) {
    return ErrorKind::kNotImplemented;
  }
  if (dynamic_cast<const c10::ValueError*>(&error) != nullptr ||
      dynamic_cast<const c10::TypeError*>(&error) != nullptr) {
    return ErrorKind::kInvalidArgument;
  }
  return ErrorKind::kTorch;
}

std::string fact_of(const at::Tensor& tensor, Facts facts) {
  std::ostringstream text;
  switch (facts) {
    case Facts::kShapes:
      text << tensor.sizes();
      break;
    case Facts::kDtypes:
      text << toString(tensor.scalar_type());
      break;
    case Facts::kDevices:
      text << tensor.device();
      break;
    case Facts::kNone:
      break;
  }
  return text.str();
}

/// The text between the first `before` and the next `after`.
std::string between(std::string_view message, std::string_view before, std::string_view after) {
  const size_t start = message.find(before);
  if (start == std::string_view::npos) {
    return "";
  }
  const size_t from = start + before.size();
  const size_t end = message.find(after, from);
  return end == std::string_view::npos ? "" : std::string(message.substr(from, end - from));
}

/// `expected` is the first operand's property; `got` is the first different one, else the second. For a
/// single operand `got` is its property, and the message may have the expected one.
void fill_facts(Facts facts, Operands operands, std::string_view message, ErrorFields& fields) {
  std::vector<std::string> found;
  for (const at::Tensor* operand : operands) {
    if (facts != Facts::kNone && operand != nullptr && operand->defined()) {
      found.push_back(fact_of(*operand, facts));
    }
  }
  if (found.size() == 1) {
    fields.expected = between(message, "shape '", "'");
    fields.got = found[0];
  } else if (found.size() > 1) {
    const auto differing =
        std::find_if(found.begin(), found.end(), [&](const auto& fact) { return fact != found[0]; });
    fields.expected = found[0];
    fields.got = differing == found.end() ? found[1] : *differing;
  }
}

/// "2.50 GiB" or "4000 bytes" after `label`; -1 if there is none.
int64_t bytes_after(std::string_view message, std::string_view label) {
  const size_t start = message.find(label);
  if (start == std::string_view::npos) {
    return -1;
  }
  const std::string rest(message.substr(start + label.size(), 40));
  char* end = nullptr;
  const double number = std::strtod(rest.c_str(), &end);
  if (end == rest.c_str()) {
    return -1;
  }
  const std::string_view unit = std::string_view(end).substr(*end == ' ' ? 1 : 0);
  const double scale = unit.starts_with("GiB")   ? 1073741824.0
                       : unit.starts_with("MiB") ? 1048576.0
                       : unit.starts_with("KiB") ? 1024.0
                                                 : 1.0;
  return static_cast<int64_t>(number * scale);
}

/// MemAvailable of the machine; -1 if it cannot be read.
int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) {
      return std::strtoll(line.c_str() + sizeof("MemAvailable:") - 1, nullptr, 10) * 1024;
    }
  }
  return -1;
}

void fill_bytes(std::string_view message, ErrorFields& fields) {
  fields.requested_bytes = bytes_after(message, "you tried to allocate ");
  if (fields.requested_bytes >= 0) {
    fields.available_bytes = available_memory();
    return;
  }
  fields.requested_bytes = bytes_after(message, "Tried to allocate ");
  fields.available_bytes = bytes_after(message, "GiB of which ");
}

}  // namespace

Error to_error(const char* op, Operands operands, const c10::Error& error) {
  const std::string message = error.what_without_backtrace();
  ErrorFields fields;
  fields.op = op;
  const Entry* entry = find_entry(message);
  const bool out_of_memory = dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
                             (entry != nullptr && entry->kind == ErrorKind::kOutOfMemory);
  if (out_of_memory) {
    fill_bytes(message, fields);
    return {ErrorKind::kOutOfMemory, message, fields};
  }
  if (message.starts_with(kInitializationError) && is_in_forked_process()) {
    return {ErrorKind::kUnavailable, std::string(kForkedFromCuda), fields};
  }
  if (is_linalg_error(error)) {
    return {ErrorKind::kLinAlg, message, fields};
  }
  if (entry == nullptr) {
    return {kind_by_class(error), message, fields};
  }
  fill_facts(entry->facts, operands, message, fields);
  return {entry->kind, entry->replacement.empty() ? message : std::string(entry->replacement), fields};
}

Error error_from_message(const std::string& message) {
  return to_error("", {}, c10::Error(c10::SourceLocation{}, message));
}

/// Whether this is LibTorch's exception for an error in Python code that it called. The bridge reports it.
/// The name is compared because the type's header needs Python's headers.
static bool is_python_error(const std::exception& error) {
  return std::string_view(typeid(error).name()) == "12python_error";
}

void rethrow_with_context(const char* op, Operands operands) {
  try {
    throw;
  } catch (const c10::Error& error) {
    throw to_error(op, operands, error);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    if (*error.what() == '\0' || is_python_error(error)) {
      throw;
    }
    ErrorFields fields;
    fields.op = op;
    const Entry* entry = find_entry(error.what());
    throw Error(entry == nullptr ? ErrorKind::kTorch : entry->kind, error.what(), fields);
  }
}

}  // namespace simple_torch::core
