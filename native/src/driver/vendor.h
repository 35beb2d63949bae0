/* What is the same for every launch, and what differs between CUDA and HIP. */
#ifndef TRITON_FORK_VENDOR_H
#define TRITON_FORK_VENDOR_H

#include "python/python_abi.h"

/* The part of a launch that no signature has a say in. HIP has neither dependent launches nor global scratch memory. */
typedef struct {
  int grid[3];
  uint64_t stream, function;
  int cooperative, dependent;
  int warps, cluster, shared;
  uint64_t global_scratch, profile_scratch;
} Settings;

struct Packer;

/* Functions return 0 with an exception set where they fail. */
typedef struct {
  int base_arguments;          /* of a launcher, before those of the kernel */
  const char *late;            /* kinds of leaves that are converted after all arguments were looked at, in that order */
  const char *descriptor_name; /* of the type of descriptors, for a message */
  size_t descriptor_offset;    /* of what a kernel gets, in such an object */
  size_t descriptor_alignment;

  /* Makes sure that the driver is loaded and that the thread can launch. */
  int (*begin)(void);

  /* Replaces the address that a tensor answered by that on the device: they differ for mapped memory of the host. `index` is
     the place of the parameter in messages. */
  int (*ask_driver)(int index, uint64_t *address);

  /* Reads all arguments of a launcher, calls the hooks and launches. */
  int (*run)(struct Packer *packer, PyObject *const *arguments);

  /* Launches with parameters that have been read. */
  int (*submit)(struct Packer *packer, Settings *settings);
} Vendor;

extern const Vendor cuda_vendor, hip_vendor;

#endif
