#include "core_libtorch/pickle/objects.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core_libtorch/dtypes.h"
#include "core_libtorch/error.h"
#include "core_libtorch/pickle/arrays.h"
#include "core_libtorch/pickle/bytes.h"
#include "core_libtorch/pickle/parts.h"
#include "core_libtorch/pickle/python_values.h"
#include "core_libtorch/pickle/rebuild.h"

namespace simple_torch::core::pickle {
namespace {

struct Builder {
  std::string_view name;  // in global_of()'s format
  ValuePtr (*make)(const Value& arguments);
};

// NumPy 2 renamed numpy.core to numpy._core, and Python 3 renamed __builtin__ to builtins.
constexpr std::array kValues{Builder{"collections OrderedDict", ordered_dict_of},
                             Builder{"collections Counter", counter_of},
                             Builder{"collections defaultdict", default_dict_of},
                             Builder{"__builtin__ set", set_of},
                             Builder{"builtins set", set_of},
                             Builder{"__builtin__ frozenset", set_of},
                             Builder{"builtins frozenset", set_of},
                             Builder{"__builtin__ complex", complex_of},
                             Builder{"builtins complex", complex_of},
                             Builder{"__builtin__ bytearray", bytes_of},
                             Builder{"builtins bytearray", bytes_of},
                             Builder{"__builtin__ bytes", bytes_of},
                             Builder{"_codecs encode", encoded_of},
                             Builder{"torch device", device_of},
                             Builder{"torch Size", size_of},
                             Builder{"torch.serialization _get_layout", layout_of},
                             Builder{"numpy dtype", array_type_of},
                             Builder{"numpy.core.multiarray _reconstruct", empty_array_of},
                             Builder{"numpy._core.multiarray _reconstruct", empty_array_of},
                             Builder{"numpy.core.multiarray scalar", array_scalar_of},
                             Builder{"numpy._core.multiarray scalar", array_scalar_of},
                             Builder{"numpy.core.numeric _frombuffer", array_from_buffer},
                             Builder{"numpy._core.numeric _frombuffer", array_from_buffer}};

bool is_dtype_name(const std::string& name) {
  try {
    dtype_of_name(name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void fail_unknown(const std::string& global) {
  std::string name = global;
  name.replace(name.find(' '), 1, ".");
  fail("it contains a " + name +
       "; only tensors, arrays, numbers, strings, bytes, lists, tuples, sets, dicts, dtypes and devices are "
       "supported, because a pickle of anything else can run any code; save a state_dict() in Python");
}

ValuePtr storage_of(const Value& id, const Makers& makers) {
  const size_t count = id.items.size();
  if (id.kind != Kind::kTuple || (count != 5 && count != 6) ||
      part_of(id, 0, Kind::kText, "text").text != "storage") {
    fail_broken("a persistent id is not a storage");
  }
  if (count == 6 && id.items[5]->kind != Kind::kNone) {
    fail("it contains views of storages, which PyTorch before 0.4 wrote; load and save it in Python");
  }
  return makers.storage(part_of(id, 1, Kind::kGlobal, "storage class").text,
                        part_of(id, 2, Kind::kText, "key").text, part_of(id, 3, Kind::kText, "location").text,
                        part_of(id, 4, Kind::kInt, "size").number);
}

ValuePtr call_global(const Value& function, const Value& arguments, const Makers& makers) {
  if (function.kind != Kind::kGlobal || arguments.kind != Kind::kTuple) {
    fail_broken("a called object is not a function");
  }
  const auto row =
      std::find_if(kValues.begin(), kValues.end(), [&](const Builder& r) { return r.name == function.text; });
  ValuePtr made = row == kValues.end() ? rebuilt(function.text, arguments, makers) : row->make(arguments);
  if (!made) {
    fail_unknown(function.text);
  }
  return made;
}

void take_state(Value& object, const Value& state) {
  if (object.kind == Kind::kArrayType) {
    take_array_type_state(object, state);
  } else if (object.kind == Kind::kArray) {
    take_array_state(object, state);
  } else if (object.kind != Kind::kOrderedDict) {
    fail("it contains a Python object with a state, which is not supported");
  }
}

ValuePtr global_of(const std::string& module, const std::string& name) {
  const bool is_dtype = module == "torch" && is_dtype_name(name);
  ValuePtr made = make_value(is_dtype ? Kind::kDtype : Kind::kGlobal);
  made->text = is_dtype ? name : module + " " + name;
  return made;
}

}  // namespace simple_torch::core::pickle
