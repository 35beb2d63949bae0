#include "token.h"

#include "names.h"

#include <stdint.h>
#include <string.h>

#define ALIGNMENT 16 /* that the base's CUDA backend asks of addresses and integers */

enum { KIND_OBJECT = 1, KIND_INTEGER, KIND_INTEGER_CLASS, KIND_FLOAT, KIND_FLOAT_CLASS };

static int integer_token(PyObject *value, int constant, uint64_t *words) {
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
  words[0] = constant ? KIND_INTEGER : KIND_INTEGER_CLASS;
  if (constant) {
    words[1] = bits;
    return 1;
  }
  uint64_t width = overflow ? 2 : number != (int32_t)number;
  words[1] = width << 2 | (uint64_t)(!overflow && number == 1) << 1 | (bits % ALIGNMENT == 0);
  return 1;
}

static int tensor_token(PyObject *value, const TensorTypes *known, uint64_t *words, uint64_t *address) {
  PyObject *type = (PyObject *)Py_TYPE(value);
  int found = 0;
  for (int i = 0; i < known->count && !found; ++i)
    found = known->types[i] == type;
  if (!found)
    return 0;
  PyObject *answer = PyObject_CallMethodObjArgs(value, names.data_ptr, NULL);
  PyObject *dtype = answer ? PyObject_GetAttr(value, names.dtype) : NULL;
  int valid = dtype && PyLong_Check(answer);
  if (valid) {
    *address = PyLong_AsUnsignedLongLong(answer);
    words[0] = (uint64_t)(uintptr_t)type | (*address % ALIGNMENT == 0); /* types lie at even addresses */
    words[1] = (uint64_t)(uintptr_t)dtype;                              /* an entry keeps its own alive */
  }
  Py_DecRef(answer);
  Py_DecRef(dtype);
  if (PyErr_Occurred()) {
    PyErr_Clear(); /* the slow path meets it again and raises it */
    return 0;
  }
  return valid;
}

int make_token(PyObject *value, int constant, const TensorTypes *known, uint64_t *words, uint64_t *address) {
  PyTypeObject *type = Py_TYPE(value);
  *address = NO_ADDRESS;
  if (type == &PyLong_Type)
    return integer_token(value, constant, words);
  if (type == &PyFloat_Type) {
    double number = PyFloat_AsDouble(value);
    words[0] = constant ? KIND_FLOAT : KIND_FLOAT_CLASS;
    words[1] = 0;
    if (constant)
      memcpy(&words[1], &number, sizeof number);
    return 1;
  }
  if (constant || value == Py_None || type == &PyBool_Type) {
    words[0] = KIND_OBJECT;
    words[1] = (uint64_t)(uintptr_t)value;
    return 1;
  }
  return tensor_token(value, known, words, address);
}
