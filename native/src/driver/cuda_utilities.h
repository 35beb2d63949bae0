/* What the base's cuda_utils module offers, except tensor maps. Each function takes the arguments that the base's takes. */
#ifndef TRITON_FORK_CUDA_UTILITIES_H
#define TRITON_FORK_CUDA_UTILITIES_H

#include "python/python_abi.h"

/* Mirrors third_party/nvidia/backend/driver.c: getDeviceProperties, loadBinary, occupancyMaxActiveClusters, setPrintfFifoSize */

/* load_binary(name, image, shared, device) -> (module, function, registers, spills in words, largest block) */
PyObject *cuda_load_binary(PyObject *module, PyObject *arguments);

/* get_device_properties(device) -> dict */
PyObject *cuda_get_device_properties(PyObject *module, PyObject *arguments);

/* cuOccupancyMaxActiveClusters(function, shared, blocks in a cluster) -> number of clusters */
PyObject *occupancy_max_active_clusters(PyObject *module, PyObject *arguments);

/* set_printf_fifo_size(bytes) */
PyObject *set_printf_fifo_size(PyObject *module, PyObject *arguments);

#endif
