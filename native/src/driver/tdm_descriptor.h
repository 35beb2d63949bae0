/* PyTDMDescriptor: a descriptor for the tensor data mover of AMD's gfx1250 that Python holds and a launch hands to a kernel. */
#ifndef TRITON_FORK_TDM_DESCRIPTOR_H
#define TRITON_FORK_TDM_DESCRIPTOR_H

#include "python/python_abi.h"

/* Mirrors third_party/amd/backend/driver.c: encodeTDMDescriptor, createTDMDescriptor */

typedef struct {
  uint32_t group0[4];
  uint32_t group1[8];
} TdmDescriptor;

/* The layout of the base's hip_utils: its launchers read our objects, ours read the base's. */
typedef struct {
  PyObject base;
  TdmDescriptor descriptor;
} TdmDescriptorObject;

/* Makes the type. NULL with an exception set where that fails. */
PyObject *tdm_descriptor_type(void);

/* create_tdm_descriptor(bits of an element, block, warps, padding interval, padding, shape, strides, address) -> PyTDMDescriptor.
   Uses the type that the module keeps in its state. */
PyObject *create_tdm_descriptor(PyObject *module, PyObject *arguments);

#endif
