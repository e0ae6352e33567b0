// Uses LibTorch's device guard, which needs no CUDA at compile time, and one function of the CUDA runtime.
#include "bridge/tensors/streams.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <limits>
#include <optional>

#include "dlpack_interop/streams.h"

namespace simple_torch::bridge {
namespace {

using c10::impl::VirtualGuardImpl;

template <class Body>
bool with_buffer_error(Body&& body) {
  try {
    body();
    return true;
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_BufferError, error.what_without_backtrace());
    return false;
  }
}

void* handle_of(const c10::Stream& stream) { return stream.native_handle(); }

c10::Stream current_stream_of(int device) {
  TORCH_CHECK(device >= 0 && device <= std::numeric_limits<c10::DeviceIndex>::max(),
              "no CUDA device with index ", device);
  const VirtualGuardImpl cuda(c10::DeviceType::CUDA);
  return cuda.getStream(c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device)));
}

/// LibTorch can order only its own streams. NULL when the runtime library does not export the function.
using WaitEvent = int (*)(void* stream, void* event, unsigned flags);
WaitEvent driver_wait() {
  static const auto found = [] {
    const bool is_rocm = at::Context::hasROCM();
    void* library = dlopen(is_rocm ? "libtorch_hip.so" : "libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    void* wait =
        library == nullptr ? nullptr : dlsym(library, is_rocm ? "hipStreamWaitEvent" : "cudaStreamWaitEvent");
    return reinterpret_cast<WaitEvent>(wait);
  }();
  return found;
}

/// An event on the producer's stream. It may be destroyed after the wait was queued: the driver keeps it as
/// long as needed.
class Event {
 public:
  Event(const VirtualGuardImpl& guard, const c10::Stream& after)
      : guard_(guard), device_(after.device_index()) {
    guard_.record(&event_, after, device_, c10::EventFlag::PYTORCH_DEFAULT);
  }
  ~Event() { guard_.destroyEvent(event_, device_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void* get() const { return event_; }

 private:
  const VirtualGuardImpl& guard_;
  c10::DeviceIndex device_;
  void* event_ = nullptr;
};

class DeviceGuard {
 public:
  DeviceGuard(const VirtualGuardImpl& guard, c10::Device device)
      : guard_(guard), before_(guard.exchangeDevice(device)) {}
  ~DeviceGuard() { guard_.uncheckedSetDevice(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  const VirtualGuardImpl& guard_;
  c10::Device before_;
};

void make_stream_wait(void* consumer, const c10::Stream& producer) {
  const VirtualGuardImpl guard(producer.device_type());
  const WaitEvent wait = driver_wait();
  if (wait != nullptr) {
    const Event event(guard, producer);
    const DeviceGuard device(guard, producer.device());  // a default stream belongs to the current device
    if (wait(consumer, event.get(), 0) == 0) {
      return;
    }
  }
  guard.synchronizeStream(producer);
}

}  // namespace

DLDevice dlpack_number_of(c10::Device device) {
  const int index = device.has_index() ? device.index() : 0;
  return device.is_cpu() ? DLDevice{kDLCPU, 0} : DLDevice{at::Context::hasROCM() ? kDLROCM : kDLCUDA, index};
}

DLDevice dlpack_device_of(const at::Tensor& tensor) { return dlpack_number_of(tensor.device()); }

bool find_current_stream(int device, void** out) {
  if (device >= static_cast<int>(at::getNumGPUs())) {
    PyErr_Format(PyExc_BufferError, "no CUDA device with index %d", device);
    return false;
  }
  return with_buffer_error([&] { *out = handle_of(current_stream_of(device)); });
}

PyObject* current_stream(int device) {
  constexpr long long kLegacyDefault = 1;  // CUDA's number for the stream whose handle is 0
  void* handle = nullptr;
  if (!find_current_stream(device, &handle)) {
    return nullptr;
  }
  const auto number = reinterpret_cast<intptr_t>(handle);
  return PyLong_FromLongLong(number == 0 && !at::Context::hasROCM() ? kLegacyDefault : number);
}

bool read_stream(PyObject* stream, std::optional<int64_t>& number) {
  if (stream == Py_None) {
    return true;
  }
  int overflow = 0;
  number = PyLong_AsLongLongAndOverflow(stream, &overflow);
  if (overflow != 0) {
    PyErr_Format(PyExc_BufferError, "stream must fit in 64 bits, got %R", stream);
  }
  return PyErr_Occurred() == nullptr;
}

bool order_before(const at::Tensor& tensor, std::optional<int64_t> stream) {
  const dlpack::ConsumerStream requested =
      dlpack::consumer_stream(dlpack_device_of(tensor).device_type, stream);
  if (requested.error != nullptr) {
    PyErr_Format(PyExc_BufferError, "stream is %lld: %s", static_cast<long long>(stream.value_or(0)),
                 requested.error);
    return false;
  }
  return !requested.is_ordered || with_buffer_error([&] {
    const c10::Stream producer = current_stream_of(tensor.device().index());
    auto* const consumer = reinterpret_cast<void*>(requested.handle);
    if (handle_of(producer) != consumer) {
      make_stream_wait(consumer, producer);
    }
  });
}

}  // namespace simple_torch::bridge
