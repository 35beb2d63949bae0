/* What cubin and hsaco have in common once they are read. */
#include "binary.h"

#include <stdlib.h>
#include <string.h>

FakeParameter *fake_parameter(FakeKernel *kernel, uint32_t ordinal) {
  if (ordinal >= kernel->parameter_count) {
    size_t count = (size_t)ordinal + 1;
    kernel->parameters = realloc(kernel->parameters, count * sizeof *kernel->parameters);
    if (!kernel->parameters)
      abort();
    memset(kernel->parameters + kernel->parameter_count, 0,
           (count - kernel->parameter_count) * sizeof *kernel->parameters);
    kernel->parameter_count = ordinal + 1;
  }
  return &kernel->parameters[ordinal];
}

int fake_parameters_consistent(const FakeKernel *kernel, uint32_t total) {
  uint32_t end = 0;
  for (uint32_t i = 0; i < kernel->parameter_count; ++i) {
    if (kernel->parameters[i].size == 0 || kernel->parameters[i].offset < end)
      return 0;
    end = kernel->parameters[i].offset + kernel->parameters[i].size;
  }
  return end == total;
}

FakeKernel *fake_find_kernel(const FakeModule *module, const char *name) {
  for (size_t i = 0; i < module->kernel_count; ++i)
    if (strcmp(module->kernels[i].name, name) == 0)
      return &module->kernels[i];
  return NULL;
}

const FakeKernel *fake_kernel_of(const void *function) {
  const FakeKernel *kernel = function;
  return kernel && kernel->magic == FAKE_KERNEL_MAGIC ? kernel : NULL;
}
