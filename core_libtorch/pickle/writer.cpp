#include "core_libtorch/pickle/writer.h"

#include <ATen/core/Tensor.h>

#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/sparse_layouts.h"
#include "core_libtorch/pickle/storage_types.h"

namespace simple_torch::core::pickle {
namespace {

class Writer {
 public:
  Pickled run(const Value& value) {
    out_ = {'\x80', '\x02'};
    write(value);
    out_ += '.';
    return {std::move(out_), std::move(storages_)};
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the program's value, whose depth the ABI limits
  void write(const Value& value) {
    switch (value.kind) {
      case Kind::kList:
      case Kind::kTuple:
      case Kind::kSet:
      case Kind::kDict:
      case Kind::kOrderedDict:
        write_collection(value);
        break;
      default:
        write_scalar(value);
    }
  }

  void write_scalar(const Value& value) {
    switch (value.kind) {
      case Kind::kNone:
        out_ += 'N';
        break;
      case Kind::kBool:
        out_ += value.number != 0 ? '\x88' : '\x89';
        break;
      case Kind::kInt:
        write_int(value.number);
        break;
      case Kind::kFloat:
        write_float(value.real);
        break;
      case Kind::kComplex:
        write_complex(value);
        break;
      case Kind::kText:
        write_text(value.text);
        break;
      case Kind::kBytes:
        write_bytes(value.text);
        break;
      case Kind::kDtype:
        write_global("torch", value.text);
        break;
      case Kind::kDevice:
        write_global("torch", "device");
        write_text(value.text);
        out_ += "\x85R";
        break;
      case Kind::kTensor:
        write_tensor(value.tensor, value.tensor.requires_grad());
        break;
      case Kind::kParameter:
        write_parameter(value.tensor);
        break;
      default:
        throw Error(ErrorKind::kInternal, "pickle: an intermediate value cannot be written");
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void write_collection(const Value& value) {
    switch (value.kind) {
      case Kind::kTuple:
        out_ += '(';
        write_all(value.items);
        out_ += 't';
        break;
      case Kind::kSet:
        write_global("__builtin__", "set");
        out_ += ']';
        write_marked(value.items, 'e');
        out_ += "\x85R";
        break;
      case Kind::kDict:
        out_ += '}';
        write_marked(value.items, 'u');
        break;
      case Kind::kOrderedDict:
        write_empty_ordered_dict();
        write_marked(value.items, 'u');
        break;
      default:  // kList
        out_ += ']';
        write_marked(value.items, 'e');
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void write_all(const std::vector<ValuePtr>& items) {
    for (const ValuePtr& item : items) {
      write(*item);
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  void write_marked(const std::vector<ValuePtr>& items, char end) {
    out_ += '(';
    write_all(items);
    out_ += end;
  }

  template <class Number>
  void write_little_endian(Number number) {
    std::array<char, sizeof number> bytes;
    std::memcpy(bytes.data(), &number, sizeof number);
    out_.append(bytes.data(), bytes.size());
  }

  void write_int(int64_t number) {
    if (number == static_cast<int32_t>(number)) {
      out_ += 'J';
      write_little_endian(static_cast<int32_t>(number));
    } else {
      out_ += "\x8a\x08";
      write_little_endian(number);
    }
  }

  void write_float(double number) {
    out_ += 'G';
    write_little_endian(__builtin_bswap64(std::bit_cast<uint64_t>(number)));  // big-endian, unlike the rest
  }

  void write_text(std::string_view text) {
    out_ += 'X';
    write_little_endian(static_cast<uint32_t>(text.size()));
    out_ += text;
  }

  void write_complex(const Value& value) {
    write_global("__builtin__", "complex");
    write_float(value.real);
    write_float(value.imaginary);
    out_ += "\x86R";
  }

  // Protocol 2 has no opcode for bytes.
  void write_bytes(std::string_view bytes) {
    write_global("_codecs", "encode");
    write_text(text_of_latin1(bytes));
    write_text("latin1");
    out_ += "\x86R";
  }

  void write_global(std::string_view module, std::string_view name) {
    out_ += 'c';
    out_ += module;
    out_ += '\n';
    out_ += name;
    out_ += '\n';
  }

  void write_empty_ordered_dict() {
    write_global("collections", "OrderedDict");
    out_ += ")R";
  }

  void write_bool(bool value) { out_ += value ? '\x88' : '\x89'; }

  void write_ints(at::IntArrayRef numbers) {
    out_ += '(';
    for (const int64_t number : numbers) {
      write_int(number);
    }
    out_ += 't';
  }

  void write_parameter(const at::Tensor& tensor) {
    write_global("torch._utils", "_rebuild_parameter");
    out_ += '(';
    write_tensor(tensor, false);
    write_bool(tensor.requires_grad());
    write_empty_ordered_dict();
    out_ += "tR";
  }

  void write_tensor(const at::Tensor& tensor, bool requires_grad) {
    if (const auto layout = name_of_sparse_layout(tensor.layout())) {
      write_sparse(tensor.detach(), *layout);
    } else {
      write_dense(tensor, requires_grad);
    }
  }

  /// As Python, which does not store requires_grad here.
  void write_sparse(const at::Tensor& tensor, std::string_view layout) {
    write_global("torch._utils", "_rebuild_sparse_tensor");
    out_ += '(';
    write_global("torch.serialization", "_get_layout");
    write_text(layout);
    out_ += "\x85R(";
    for (const at::Tensor& part : parts_of_sparse(tensor)) {
      write_dense(part, false);
    }
    write_ints(tensor.sizes());
    if (tensor.layout() == at::kSparse) {
      write_bool(tensor.is_coalesced());
    }
    out_ += "ttR";
  }

  static std::vector<at::Tensor> parts_of_sparse(const at::Tensor& tensor) {
    switch (tensor.layout()) {
      case at::kSparse:
        return {tensor._indices(), tensor._values()};
      case at::kSparseCsr:
      case at::kSparseBsr:
        return {tensor.crow_indices(), tensor.col_indices(), tensor.values()};
      default:
        return {tensor.ccol_indices(), tensor.row_indices(), tensor.values()};
    }
  }

  void write_dense(const at::Tensor& tensor, bool requires_grad) {
    require_plain(tensor);
    const auto storage_class = storage_class_of(tensor.scalar_type());
    write_global("torch._utils", storage_class ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    out_ += '(';
    write_storage(tensor, storage_class);
    write_int(tensor.storage_offset());
    write_ints(tensor.sizes());
    write_ints(tensor.strides());
    write_bool(requires_grad);
    write_empty_ordered_dict();  // backward hooks, which files do not store
    if (!storage_class) {
      write_global("torch", dtype_name(tensor.scalar_type()));
    }
    write_math_bits(tensor);
    out_ += "tR";
  }

  /// As Python: an argument that ordinary tensors lack.
  void write_math_bits(const at::Tensor& tensor) {
    if (!tensor.is_conj() && !tensor.is_neg()) {
      return;
    }
    out_ += "}(";
    for (const auto& [name, is_set] : {std::pair("conj", tensor.is_conj()), {"neg", tensor.is_neg()}}) {
      if (is_set) {
        write_text(name);
        write_bool(true);
      }
    }
    out_ += 'u';
  }

  void write_storage(const at::Tensor& tensor, std::optional<std::string_view> storage_class) {
    const c10::Storage& storage = tensor.storage();
    out_ += '(';
    write_text("storage");
    storage_class ? write_global("torch", *storage_class) : write_global("torch.storage", "UntypedStorage");
    write_text(std::to_string(number_of(storage)));
    write_text(tensor.device().str());
    write_int(static_cast<int64_t>(storage.nbytes() / (storage_class ? tensor.itemsize() : 1)));
    out_ += "tQ";
  }

  size_t number_of(const c10::Storage& storage) {
    const auto [place, is_new] = numbers_.emplace(storage.unsafeGetStorageImpl(), storages_.size());
    if (is_new) {
      storages_.push_back(storage);
    }
    return place->second;
  }

  static void require_plain(const at::Tensor& tensor) {
    const auto throw_unsupported = [&](const char* what, const char* remedy) {
      throw Error(ErrorKind::kInvalidArgument, std::string("save: the tensor is ") + what + "; " + remedy);
    };
    if (tensor.layout() != at::kStrided || tensor.is_nested()) {
      throw_unsupported("not dense", "call to_dense() first");
    }
    if (tensor.is_quantized()) {
      throw_unsupported("quantized", "call dequantize() or int_repr() first");
    }
    if (tensor.is_meta() || !tensor.has_storage()) {
      throw_unsupported("without memory", "move it to a device");
    }
  }

  std::string out_;
  std::vector<c10::Storage> storages_;
  std::unordered_map<const void*, size_t> numbers_;
};

}  // namespace

Pickled pickled(const Value& value) { return Writer().run(value); }

}  // namespace simple_torch::core::pickle
