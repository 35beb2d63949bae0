/* Reads what a launch needs to know about the kernels of a cubin. */
#ifndef FAKE_DRIVER_CUBIN_H
#define FAKE_DRIVER_CUBIN_H

#include "recorder.h"

typedef struct {
  size_t kernel_count;
  FakeKernel *kernels;
} FakeModule;

/* Reads all kernels of the image. Returns NULL where the image is not a cubin or contradicts itself. */
FakeModule *fake_read_cubin(const void *image);

/* The kernel of that name, or NULL. */
FakeKernel *fake_find_kernel(const FakeModule *module, const char *name);

#endif
