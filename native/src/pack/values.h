/* Turns a Python argument into the bytes of a kernel parameter, with the rules and the messages of the base's launchers, which
   are those of PyArg_ParseTuple. Every function returns 0 with an exception set where the argument does not fit. */
#ifndef TRITON_FORK_VALUES_H
#define TRITON_FORK_VALUES_H

#include "driver/vendor.h"
#include "python/python_abi.h"

/* Changes the start of the message of a TypeError that is set, if it has that start: "argument" into "argument 7", and that into
   "argument 7, item 0", as it reads where all arguments are parsed at once. */
void replace_start_of_message(const char *start, const char *replacement);

/* PyArg_ParseTuple's unit "i". */
int read_int(PyObject *object, int *value);

/* PyArg_ParseTuple's unit "K": the low 64 bits. `position` counts from 1, for the message. */
int read_word(PyObject *object, int position, uint64_t *value);

/* Any of the units b, h, i, L, B, H, I, K. Bytes above the type's size are of no meaning. */
int read_integer(PyObject *object, char unit, int position, uint64_t *bits);

/* Rounds a double to half precision, ties to even. A finite number that would become infinite raises OverflowError. */
int pack_half(double value, uint64_t *bits);

/* The upper half of the single precision number: the base cuts the rest off. */
uint64_t pack_brain(double value);
uint64_t pack_single(double value);
uint64_t pack_double(double value);

/* An address: an integer, None for 0, or an object with data_ptr(), whose answer the driver is asked about. `index` is the place
   of the parameter in messages. */
int read_pointer(const Vendor *vendor, PyObject *object, int index, uint64_t *address);

#endif
