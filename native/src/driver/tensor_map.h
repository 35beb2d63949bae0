/* PyCUtensorMap: a tensor map that Python holds and a launch hands to a kernel. */
#ifndef TRITON_FORK_TENSOR_MAP_H
#define TRITON_FORK_TENSOR_MAP_H

#include "driver/cuda_abi.h"
#include "python/python_abi.h"

/* Mirrors third_party/nvidia/backend/driver.c: fillTMADescriptor */

/* The layout of the base's cuda_utils: its launchers read our objects, ours read the base's. */
typedef struct {
  PyObject base;
  CudaTensorMap map;
} TensorMapObject;

/* Makes the type. NULL with an exception set where that fails. */
PyObject *tensor_map_type(void);

/* fill_tma_descriptor(address, swizzle, element size, element type, block, shape, strides, padding) -> PyCUtensorMap.
   Uses the type that the module keeps in its state. */
PyObject *fill_tma_descriptor(PyObject *module, PyObject *arguments);

#endif
