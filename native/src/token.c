#include "token.h"

#include "names.h"

#include <stdint.h>
#include <string.h>

#define ALIGNMENT 16 /* that the base asks of addresses and integers */

/* A block of a descriptor is one word: the rank and, for each dimension, an extent below 4096. */
#define MAX_RANK 5
#define EXTENT_BITS 12

/* The first word of a token. For tensors and descriptors it is the address of the type, which is a multiple of 8. */
enum { KIND_OBJECT = 1, KIND_INTEGER, KIND_INTEGER_CLASS, KIND_FLOAT, KIND_FLOAT_CLASS, KIND_TUPLE };

int add_word(Tokens *tokens, uint64_t word) {
  if (tokens->count == MAX_WORDS)
    return 0;
  tokens->words[tokens->count++] = word;
  return 1;
}

static int add_pair(Tokens *tokens, uint64_t first, uint64_t second) {
  return add_word(tokens, first) && add_word(tokens, second);
}

static int add_integer(PyObject *value, int constant, Tokens *tokens) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  uint64_t bits = (uint64_t)number;
  if (overflow > 0 && !constant) {
    bits = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return 0;
    }
  } else if (overflow) {
    return 0;
  }
  if (constant)
    return add_pair(tokens, KIND_INTEGER, bits);
  uint64_t width = overflow ? 2 : number != (int32_t)number;
  return add_pair(tokens, KIND_INTEGER_CLASS,
                  width << 2 | (uint64_t)(!overflow && number == 1) << 1 | (bits % ALIGNMENT == 0));
}

static int add_float(PyObject *value, int constant, Tokens *tokens) {
  double number = PyFloat_AsDouble(value);
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return constant ? add_pair(tokens, KIND_FLOAT, bits) : add_pair(tokens, KIND_FLOAT_CLASS, 0);
}

static int is_known(const KnownTypes *known, PyObject *type) {
  for (int i = 0; i < known->count; ++i)
    if (known->types[i] == type)
      return 1;
  return 0;
}

static int has_small_storage(PyObject *value, int *small) {
  PyObject *storage = PyObject_CallMethodObjArgs(value, names.untyped_storage, NULL);
  PyObject *size = storage ? PyObject_CallMethodObjArgs(storage, names.size, NULL) : NULL;
  int valid = size && Py_TYPE(size) == &PyLong_Type, overflow = 0;
  *small = valid && PyLong_AsLongLongAndOverflow(size, &overflow) <= INT32_MAX && !overflow;
  Py_DecRef(size);
  Py_DecRef(storage);
  return valid;
}

/* What HIPBackend.is_within_2gb says. Returns 0 for a tensor that tells its range itself, and where an exception is set. */
static int is_small(PyObject *value, const KnownTypes *known, const Tokens *tokens, int *small) {
  *small = 0;
  if (!tokens->with_ranges)
    return 1;
  PyObject *range = PyObject_GetAttr(value, names.ptr_range);
  Py_DecRef(range);
  if (range || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return 0;
  PyErr_Clear();
  int stored = PyObject_IsInstance(value, known->stored_type);
  return stored > 0 ? has_small_storage(value, small) : stored == 0;
}

/* The element type is told by its identity; an entry keeps its own alive. */
static int add_tensor(PyObject *value, const KnownTypes *known, Tokens *tokens, uint64_t *address) {
  int small;
  if (!is_small(value, known, tokens, &small))
    return 0;
  PyObject *answer = PyObject_CallMethodObjArgs(value, names.data_ptr, NULL);
  PyObject *dtype = answer ? PyObject_GetAttr(value, names.dtype) : NULL;
  int valid = dtype && PyLong_Check(answer);
  if (valid) {
    *address = PyLong_AsUnsignedLongLong(answer); /* a negative one is left to the slow path */
    valid = *address != NO_ADDRESS &&
            add_pair(tokens, (uint64_t)(uintptr_t)Py_TYPE(value) | (uint64_t)small << 1 | (*address % ALIGNMENT == 0),
                     (uint64_t)(uintptr_t)dtype);
  }
  Py_DecRef(answer);
  Py_DecRef(dtype);
  return valid;
}

static int block_word(PyObject *block, uint64_t *word) {
  PyTypeObject *type = Py_TYPE(block);
  int is_list = type == &PyList_Type;
  if (!is_list && type != &PyTuple_Type)
    return 0;
  Py_ssize_t rank = is_list ? PyList_Size(block) : PyTuple_Size(block);
  if (rank > MAX_RANK)
    return 0;
  *word = (uint64_t)rank << (MAX_RANK * EXTENT_BITS);
  for (Py_ssize_t i = 0; i < rank; ++i) {
    PyObject *extent = is_list ? PyList_GetItem(block, i) : PyTuple_GetItem(block, i);
    int overflow = 0;
    if (Py_TYPE(extent) != &PyLong_Type)
      return 0;
    long long number = PyLong_AsLongLongAndOverflow(extent, &overflow);
    if (overflow || number < 0 || number >> EXTENT_BITS != 0)
      return 0;
    *word |= (uint64_t)number << (i * EXTENT_BITS);
  }
  return 1;
}

static int add_descriptor(PyObject *value, Tokens *tokens) {
  PyObject *base = PyObject_GetAttr(value, names.base);
  PyObject *dtype = base ? PyObject_GetAttr(base, names.dtype) : NULL;
  PyObject *block = dtype ? PyObject_GetAttr(value, names.block_shape) : NULL;
  uint64_t word;
  int valid = block && block_word(block, &word) &&
              add_pair(tokens, (uint64_t)(uintptr_t)Py_TYPE(value), (uint64_t)(uintptr_t)dtype) && add_word(tokens, word);
  Py_DecRef(block);
  Py_DecRef(dtype);
  Py_DecRef(base);
  return valid;
}

/* Running out of room ends the nesting. */
static int add_tuple(PyObject *value, int constant, const KnownTypes *known, Tokens *tokens) {
  Py_ssize_t size = PyTuple_Size(value);
  int valid = add_pair(tokens, KIND_TUPLE, (uint64_t)(uintptr_t)Py_TYPE(value)) && add_word(tokens, (uint64_t)size);
  for (Py_ssize_t i = 0; valid && i < size; ++i) {
    uint64_t address;
    valid = add_token(PyTuple_GetItem(value, i), constant, known, tokens, &address);
  }
  return valid;
}

static int add_by_type(PyObject *value, int constant, const KnownTypes *known, Tokens *tokens, uint64_t *address) {
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyLong_Type)
    return add_integer(value, constant, tokens);
  if (type == &PyFloat_Type)
    return add_float(value, constant, tokens);
  if (PyTuple_Check(value))
    return add_tuple(value, constant, known, tokens);
  if (constant || value == Py_None || type == &PyBool_Type)
    return add_pair(tokens, KIND_OBJECT, (uint64_t)(uintptr_t)value);
  if (is_known(known, (PyObject *)type))
    return add_tensor(value, known, tokens, address);
  return (PyObject *)type == known->descriptor_type && add_descriptor(value, tokens);
}

int add_token(PyObject *value, int constant, const KnownTypes *known, Tokens *tokens, uint64_t *address) {
  *address = NO_ADDRESS;
  return add_by_type(value, constant, known, tokens, address) && !PyErr_Occurred();
}
