/* The packing program of a signature: one step for each parameter, made once when a kernel is first launched. */
#ifndef TRITON_FORK_PROGRAM_H
#define TRITON_FORK_PROGRAM_H

#include "driver/vendor.h"
#include "python/python_abi.h"

/* Kinds of steps. Integers carry the letters of PyArg_ParseTuple, see read_integer. */
enum {
  STEP_POINTER = 'P',
  STEP_DESCRIPTOR = 'T', /* a tensor map of CUDA, a descriptor for HIP's tensor data mover */
  STEP_CONSTANT = 'C',
  STEP_HALF = 'e',
  STEP_BRAIN = 'g',
  STEP_SINGLE = 'f',
  STEP_DOUBLE = 'd',
  STEP_TUPLE = '(',
  STEP_END = ')',
};

typedef struct {
  char kind;
  int children; /* of a tuple: how many items it has */
} Step;

typedef struct {
  const Vendor *vendor;
  int warp_size;
  PyObject *descriptor_type;
  int argument_count; /* parameters, a tuple counting as one */
  int leaf_count;     /* parameters, a tuple counting as its items */
  int tuple_count;
  int late_count; /* pointers, descriptors and halves: leaves that are converted after all arguments were looked at */
  int step_count;
  Step steps[];
} Program;

/* The type of programs. Program("cuda" or "hip", text, type of descriptors, warp size).launch launches, with the arguments of the
   base's generated `launch`. The text has a letter for each parameter; the items of a tuple stand in parentheses. None stands for
   the module's own type of descriptors. Raises ValueError for another text. `launch` is the method. */
PyObject *program_type(PyObject *module, PyMethodDef launch);

/* The content of a program; NULL with an exception set for another object. */
const Program *program_of(PyObject *self);

#endif
