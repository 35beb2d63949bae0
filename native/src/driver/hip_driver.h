/* AMD's HIP runtime library, loaded when it is first needed. */
#ifndef TRITON_FORK_HIP_DRIVER_H
#define TRITON_FORK_HIP_DRIVER_H

#include "driver/hip_abi.h"
#include "python/python_abi.h"

/* Mirrors third_party/amd/backend/driver.c: initSymbolTable, checkDriverVersion */

#define DECLARE_MEMBER(name, result, parameters) result(*name) parameters;

typedef struct {
  const char *(*hipGetErrorString)(HipResult error);
  HIP_FUNCTIONS(DECLARE_MEMBER)
  HIP_LAUNCHING_FUNCTIONS(DECLARE_MEMBER)
  HIP_NEWER_FUNCTIONS(DECLARE_MEMBER) /* NULL where the runtime is too old */
} HipDriver;

#undef DECLARE_MEMBER

/* load_hip_driver(path): loads the library unless that was done before, and finds what the utilities need. Raises RuntimeError as
   the base's hip_utils does when it is imported. */
PyObject *load_hip_driver(PyObject *module, PyObject *arguments);

/* Finds what launchers need. Returns 0 with RuntimeError set, as the base's launchers raise it when they are imported. */
int hip_load_launching(void);

/* The runtime; NULL with RuntimeError set where it is not loaded. */
const HipDriver *hip_driver(void);

/* Raises RuntimeError with the runtime's text for an error. */
void hip_raise(HipResult error);

#endif
