// Bodies of operators by name, and of generators.
#include "core_libtorch/operators.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "abi/backend/guarded.h"
#include "abi/backend/operator_values.h"
#include "abi/backend/tensor_arguments.h"
#include "abi/generated/backend_table.h"
#include "core_libtorch/counted_lock.h"
#include "core_libtorch/dtypes.h"
#include "core_libtorch/error_context.h"
#include "core_libtorch/thread_generator.h"
#include "core_libtorch/unboxed.h"

namespace simple_torch::abi {
namespace {

/// The ids of operator overloads. Lookup takes no lock; entries are never removed.
class IdRegistry {
 public:
  int64_t id_of(const c10::OperatorHandle& op) {
    const core::CountedLockGuard guard(mutex_);
    const size_t count = count_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count; ++i) {
      if (ops_[i].op == &op) {
        return static_cast<int64_t>(i) + 1;
      }
    }
    if (count == ops_.size()) {
      throw Error(ErrorKind::kOutOfMemory, "more than " + std::to_string(count) + " overloads are in use");
    }
    ops_[count] = core::unboxed_operator(op);
    count_.store(count + 1, std::memory_order_release);
    return static_cast<int64_t>(count) + 1;
  }

  const core::UnboxedOperator& at(int64_t id) const {
    if (id < 1 || static_cast<size_t>(id) > count_.load(std::memory_order_acquire)) {
      throw Error(ErrorKind::kInvalidArgument, "unknown operator id " + std::to_string(id));
    }
    return ops_[static_cast<size_t>(id) - 1];
  }

 private:
  std::mutex mutex_;
  std::atomic<size_t> count_{0};
  std::array<core::UnboxedOperator, 16384> ops_{};
};

IdRegistry& registry() {
  static auto* const instance = new IdRegistry;  // used by threads that may outlive main
  return *instance;
}

bool is_tensor(const SplValue& value) { return value.tag == SPT_TENSOR && value.as_int != 0; }

/// Calls an overload without boxing if all arguments are tensors. Returns false if that is not possible.
bool call_with_tensors(const core::UnboxedOperator& called, c10::ArrayRef<SplValue> arguments,
                       c10::ArrayRef<SplValue> buffer, SplValue* results) {
  const int64_t arity = core::tensors_of(called.signature);
  if (arity == 0 || static_cast<int64_t>(arguments.size()) != arity || buffer.empty() ||
      !std::all_of(arguments.begin(), arguments.end(), is_tensor)) {
    return false;
  }
  const auto a = tensor_argument(arguments.front().as_int);
  const auto b = tensor_argument(arguments.back().as_int);
  results->tag = SPT_TENSOR;
  results->as_int = new_handle(core::call_unboxed(called, *a, &*b));
  return true;
}

core::CallValues call_values(const char* kinds, const SplArray* values, const char* const* names,
                             int64_t names_len) {
  const size_t count = count_of_values(kinds, values);
  const auto named = list_argument(names, names_len, "names");
  if (named.size() > count) {
    throw Error(ErrorKind::kInvalidArgument,
                std::to_string(named.size()) + " names for " + std::to_string(count) + " values");
  }
  core::CallValues call;
  const size_t positional = count - named.size();
  for (size_t i = 0; i < count; ++i) {
    c10::IValue value = value_by_letter(kinds[i], values->items[i]);
    if (i < positional) {
      call.positional.push_back(std::move(value));
      continue;
    }
    require(named[i - positional], "a name");
    call.named.emplace_back(named[i - positional], std::move(value));
  }
  return call;
}

/// The generator of a handle; the CPU's default generator in this thread for 0.
at::Generator generator_argument(int64_t handle) {
  return handle == 0 ? core::default_generator(c10::kCPU) : *handles().get<at::Generator>(handle);
}

}  // namespace

namespace body {

int32_t op(const char* name, const char* kinds, const SplArray* values, const char* const* names,
           int64_t names_len, SplArray** out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    const core::CallResults called = core::call_by_name(name, call_values(kinds, values, names, names_len));
    *out = Results(called.values).take_array(core::names_of_results(*called.schema));
  });
}

int32_t op_find(const char* name, const char* overload, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    require(overload, "overload");
    *out = registry().id_of(core::overload_of(name, overload));
  });
}

int32_t op_call(int64_t op, const SplValue* args, int64_t args_len, SplValue* results, int64_t results_len,
                int64_t* out) {
  return guarded([&] {
    require(out, "out");
    const core::UnboxedOperator& overload = registry().at(op);
    const auto arguments = list_argument(args, args_len, "args");
    const auto buffer = list_argument(results, results_len, "results");
    if (call_with_tensors(overload, arguments, buffer, results)) {
      *out = 1;
      return;
    }
    const c10::OperatorHandle& called = *overload.op;
    if (buffer.size() < called.schema().returns().size()) {
      throw Error(ErrorKind::kInvalidArgument, called.schema().name() + ": results needs a capacity of " +
                                                   std::to_string(called.schema().returns().size()) +
                                                   ", got " + std::to_string(buffer.size()));
    }
    std::vector<c10::IValue> stack;
    stack.reserve(called.schema().arguments().size());
    for (const SplValue& value : arguments) {
      stack.push_back(value_by_tag(value));
    }
    core::call_overload(called, stack);
    Results converted(stack);
    *out = static_cast<int64_t>(converted.size());
    converted.take(results);
  });
}

int32_t op_schemas(const char* name, char** out) {
  return guarded([&] {
    require(out, "out");
    require(name, "name");
    *out = to_malloc_string(core::schemas_of(name));
  });
}

int32_t op_names(char** out) {
  return guarded_result(out, [&] { return to_malloc_string(core::operator_names()); });
}

int32_t generator_new(const char* device, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    require(device, "device");
    const c10::Device on = core::device_of_text(device);
    *out = handles().insert(core::with_error_context("generator_new", core::kNoOperands, [&] {
      return on.is_cpu() ? at::make_generator<at::CPUGeneratorImpl>()
                         : at::globalContext().defaultGenerator(on).clone();
    }));
  });
}

int32_t generator_use(int64_t generator) {
  return guarded([&] {
    core::use_generator(generator == 0 ? std::nullopt
                                       : std::optional(*handles().get<at::Generator>(generator)));
  });
}

int32_t generator_manual_seed(int64_t generator, int64_t seed) {
  return guarded([&] {
    at::Generator seeded = generator_argument(generator);
    const core::CountedLockGuard guard(seeded.mutex());
    seeded.set_current_seed(static_cast<uint64_t>(seed));
  });
}

int32_t generator_initial_seed(int64_t generator, int64_t* out) {
  return guarded_result(out,
                        [&] { return static_cast<int64_t>(generator_argument(generator).current_seed()); });
}

int32_t generator_state(int64_t generator, int64_t* out) {
  return guarded([&] {
    require(out, "out");
    at::Generator source = generator_argument(generator);
    const core::CountedLockGuard guard(source.mutex());
    *out = new_handle(source.get_state());
  });
}

int32_t generator_set_state(int64_t generator, int64_t state) {
  return guarded([&] {
    at::Generator changed = generator_argument(generator);
    const auto held = tensor_argument(state);
    const core::CountedLockGuard guard(changed.mutex());
    core::with_error_context("generator_set_state", {&*held}, [&] { changed.set_state(*held); });
  });
}

}  // namespace body
}  // namespace simple_torch::abi
