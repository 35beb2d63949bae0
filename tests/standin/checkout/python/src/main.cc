#include <pybind11/pybind11.h>

#include "triton/Answer.h"

const char *llvm_version();

PYBIND11_MODULE(libtriton, module) {
  module.def("answer", &triton::answer);
  module.attr("llvm_version") = llvm_version();
}
