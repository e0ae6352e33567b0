// Passes an array to native code by nanobind's nb::ndarray.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

NB_MODULE(benchmark_nanobind, module) {
  module.def("take", [](const nanobind::ndarray<>& array) { return array.ndim(); });
}
