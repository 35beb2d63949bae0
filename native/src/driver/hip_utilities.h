/* What the base's hip_utils module offers, except descriptors. Each function takes the arguments that the base's takes. */
#ifndef TRITON_FORK_HIP_UTILITIES_H
#define TRITON_FORK_HIP_UTILITIES_H

#include "python/python_abi.h"

/* Mirrors third_party/amd/backend/driver.c: getDeviceProperties, loadBinary */

/* load_binary(name, image, shared, device) -> (module, function, registers, spills in words, largest block) */
PyObject *hip_load_binary(PyObject *module, PyObject *arguments);

/* get_device_properties(device) -> dict */
PyObject *hip_get_device_properties(PyObject *module, PyObject *arguments);

#endif
