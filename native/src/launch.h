/* Launches a kernel: the counterpart of the C code that the base generates and compiles for every signature. */
#ifndef TRITON_FORK_LAUNCH_H
#define TRITON_FORK_LAUNCH_H

#include "program.h"
#include "python_abi.h"

/* What is the same for every signature. */
typedef struct {
  int grid[3];
  uint64_t stream, function;
  int cooperative, dependent;
  int warps, cluster, shared;
  uint64_t global_scratch, profile_scratch;
} Settings;

/* launch(grid x, y, z, stream, function, cooperative, dependent launch, global scratch, profile scratch,
          (warps, blocks in a cluster, shared bytes), launch metadata, enter hook, exit hook, *kernel arguments) */
PyObject *launch(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

/* Launches with settings made before and without hooks. `addresses` are what the data_ptr() of each argument answered already,
   NO_ADDRESS for the others. Returns 0 with an exception set where that fails. */
int launch_known(const Program *program, Settings *settings, PyObject *const *values, const uint64_t *addresses);

#endif
