/* The parameters of one launch: a program's steps turn Python's arguments into bytes. */
#ifndef TRITON_FORK_PACKER_H
#define TRITON_FORK_PACKER_H

#include "pack/program.h"
#include "python/python_abi.h"

#define INLINE_LEAVES 64
#define INLINE_TUPLES 8

/* The value of one parameter, or what it is to be made of. */
typedef union {
  uint64_t bits;
  double number;
  PyObject *object;
} Slot;

/* A leaf that is converted late: its place in the signature, its kind and its slot. */
typedef struct {
  int leaf;
  char kind;
  int parameter;
} Late;

/* One launch under way. The inline arrays serve all but enormous signatures. */
typedef struct Packer {
  const Program *program;
  int step, leaf, parameter_count, late_count, tuple_count;
  Slot *slots;
  void **parameters;
  Late *late;
  PyObject **tuples; /* made of other sequences, held for the time of the launch */
  void *memory;
  Slot inline_slots[INLINE_LEAVES];
  void *inline_parameters[INLINE_LEAVES + 2];
  Late inline_late[INLINE_LEAVES];
  PyObject *inline_tuples[INLINE_TUPLES];
} Packer;

/* Begins a launch. Returns 0 with an exception set where there is no memory. */
int enter(Packer *packer, const Program *program);

void leave(Packer *packer);

/* Reads the next argument, which is the position-th of the launch, counted from 1 in messages. What needs the driver or may run
   Python code of the argument's waits for read_late. Returns 0 with an exception set where the argument does not fit. */
int read_argument(Packer *packer, PyObject *object, int position);

/* Converts what read_argument left. */
int read_late(Packer *packer);

#endif
