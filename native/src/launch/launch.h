/* Launches a kernel: the counterpart of the C code that the base generates and compiles for every signature. */
#ifndef TRITON_FORK_LAUNCH_H
#define TRITON_FORK_LAUNCH_H

#include "driver/vendor.h"
#include "pack/packer.h"
#include "pack/program.h"

/* Mirrors third_party/nvidia/backend/driver.py: make_launcher, CudaLauncher.__call__ */

/* The function behind every launcher: the arguments of the base's generated `launch`, those of the kernel at the end. */
PyObject *launch(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

#define MAX_ARGUMENTS 256

/* A kernel's arguments, which the caller holds. */
typedef struct {
  int count;
  PyObject *values[MAX_ARGUMENTS];
} Arguments;

/* Launches with settings made before and without hooks or profiling. `scratch` is global scratch memory, or None; `packer` is for
   its use. Returns 0 with an exception set where that fails. */
int launch_known(const Program *program, Settings *settings, const Arguments *arguments, PyObject *scratch, Packer *packer);

/* For vendors: reads the kernel's arguments; adds the pointers to scratch memory that end every kernel's parameters; calls a
   hook, if it is one. Those that can fail return 0 with an exception set. */
int read_arguments(Packer *packer, PyObject *const *arguments);
void add_scratch(Packer *packer, Settings *settings);
int call_hook(PyObject *hook, PyObject *metadata);

#endif
