/* The CUDA driver library, loaded when it is first needed. */
#ifndef TRITON_FORK_CUDA_DRIVER_H
#define TRITON_FORK_CUDA_DRIVER_H

#include "driver/cuda_abi.h"
#include "python/python_abi.h"

#define DECLARE_MEMBER(name, parameters) CudaResult(*name) parameters;

typedef struct {
  CUDA_FUNCTIONS(DECLARE_MEMBER)
  CUDA_NEWER_FUNCTIONS(DECLARE_MEMBER) /* NULL where the driver is too old */
} CudaDriver;

#undef DECLARE_MEMBER

/* Loads the library unless that was done before: by its name, the way the dynamic linker finds it for the base's modules, or else
   from a folder (may be NULL). Returns 0 and raises nothing where it is not to be found or lacks a function. Needs the GIL. */
int cuda_load(const char *folder);

/* The loaded driver, loaded now if need be; NULL with RuntimeError set where there is none. */
const CudaDriver *cuda_driver(void);

/* Raises RuntimeError with the driver's text for an error. Needs the GIL. */
void cuda_raise(CudaResult error);

/* Raises RuntimeError for a function that the loaded driver lacks. */
void cuda_raise_missing(const char *function);

#endif
