/* Reads what a launch needs to know about the kernels of a GPU binary. */
#ifndef FAKE_DRIVER_BINARY_H
#define FAKE_DRIVER_BINARY_H

#include "recorder.h"

/* The kernels of one loaded binary. Never freed: handles stay readable until the process ends, as Triton keeps them. */
typedef struct {
  size_t kernel_count;
  FakeKernel *kernels;
} FakeModule;

/* Read all kernels of an image. NULL where the image is of another kind or contradicts itself. */
FakeModule *fake_read_cubin(const void *image);
FakeModule *fake_read_hsaco(const void *image);

/* A kernel's slot for the parameter of that ordinal, made where there is none yet. */
FakeParameter *fake_parameter(FakeKernel *kernel, uint32_t ordinal);

/* Every parameter is there, none overlaps another, and they end where the kernel's own total says. */
int fake_parameters_consistent(const FakeKernel *kernel, uint32_t total);

/* The kernel of that name, or NULL. */
FakeKernel *fake_find_kernel(const FakeModule *module, const char *name);

/* The kernel behind a function handle, or NULL where the handle is none of ours. */
const FakeKernel *fake_kernel_of(const void *function);

#endif
