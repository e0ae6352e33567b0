// An array into native code by nanobind: its nb::ndarray, which is dropped again.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

NB_MODULE(benchmark_nanobind, module) {
  module.def("take", [](const nanobind::ndarray<>& array) { return array.ndim(); });
}
