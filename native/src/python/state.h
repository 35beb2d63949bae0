/* What a module object of the extension owns; each interpreter and each reload has its own. */
#ifndef TRITON_FORK_STATE_H
#define TRITON_FORK_STATE_H

#include "python/python_abi.h"

typedef struct {
  PyObject *tensor_map_type;
  PyObject *tdm_descriptor_type;
  PyObject *dispatcher_type;
  PyObject *launcher_type;
} ModuleState;

#endif
