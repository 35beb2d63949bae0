#include "pack/values.h"

#include "python/method.h"
#include "python/names.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static int out_of_range(const char *type, const char *limit) {
  PyErr_Format(PyExc_OverflowError, "%s is %s", type, limit);
  return 0;
}

static int read_long(PyObject *object, long least, long greatest, const char *type, uint64_t *bits) {
  long value = PyLong_AsLong(object);
  if (value == -1 && PyErr_Occurred())
    return 0;
  if (value < least)
    return out_of_range(type, "less than minimum");
  if (value > greatest)
    return out_of_range(type, "greater than maximum");
  *bits = (uint64_t)value;
  return 1;
}

int read_int(PyObject *object, int *value) {
  uint64_t bits;
  if (!read_long(object, INT_MIN, INT_MAX, "signed integer", &bits))
    return 0;
  *value = (int)(int64_t)bits;
  return 1;
}

static int read_masked(PyObject *object, uint64_t *bits) {
  unsigned long value = PyLong_AsUnsignedLongMask(object);
  if (value == ULONG_MAX && PyErr_Occurred())
    return 0;
  *bits = value;
  return 1;
}

void replace_start_of_message(const char *start, const char *replacement) {
  PyObject *type, *value, *traceback;
  if (!PyErr_ExceptionMatches(PyExc_TypeError))
    return;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *characters = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  if (!characters || strncmp(characters, start, strlen(start)) != 0) {
    PyErr_Restore(type, value, traceback);
  } else {
    PyErr_Format(PyExc_TypeError, "%s%s", replacement, characters + strlen(start));
    Py_DecRef(type);
    Py_DecRef(value);
    Py_DecRef(traceback);
  }
  Py_DecRef(text);
}

int read_word(PyObject *object, int position, uint64_t *value) {
  if (PyLong_Check(object))
    return read_masked(object, value);
  /* Whether other objects are taken depends on the release of Python. */
  unsigned long long word;
  if (!PyArg_Parse(object, "K", &word)) {
    char place[32];
    snprintf(place, sizeof place, "argument %d", position);
    replace_start_of_message("argument", place);
    return 0;
  }
  *value = word;
  return 1;
}

int read_integer(PyObject *object, char unit, int position, uint64_t *bits) {
  switch (unit) {
  case 'b': /* of int8_t as well: the base refuses negative ones */
    return read_long(object, 0, UCHAR_MAX, "unsigned byte integer", bits);
  case 'h':
    return read_long(object, SHRT_MIN, SHRT_MAX, "signed short integer", bits);
  case 'i':
    return read_long(object, INT_MIN, INT_MAX, "signed integer", bits);
  case 'L': {
    long long value = PyLong_AsLongLong(object);
    *bits = (uint64_t)value;
    return value != -1 || !PyErr_Occurred();
  }
  case 'K':
    return read_word(object, position, bits);
  default:
    return read_masked(object, bits);
  }
}

/* The interpreter packs numbers that are none: what becomes of their payload depends on its release. */
static int pack_half_nan(double value, uint64_t *bits) {
  PyObject *module = PyImport_ImportModule("struct");
  PyObject *pack = module ? PyObject_GetAttrString(module, "pack") : NULL;
  PyObject *number = PyFloat_FromDouble(value);
  PyObject *format = PyUnicode_InternFromString("<e");
  PyObject *packed = pack && number && format ? PyObject_CallFunctionObjArgs(pack, format, number, NULL) : NULL;
  char *buffer = NULL;
  Py_ssize_t size = 0;
  int valid = packed && PyBytes_AsStringAndSize(packed, &buffer, &size) == 0 && size == 2;
  if (valid)
    *bits = (uint64_t)(unsigned char)buffer[0] | (uint64_t)(unsigned char)buffer[1] << 8;
  Py_DecRef(packed);
  Py_DecRef(format);
  Py_DecRef(number);
  Py_DecRef(pack);
  Py_DecRef(module);
  return valid;
}

int pack_half(double value, uint64_t *bits) {
  uint64_t wide;
  memcpy(&wide, &value, sizeof wide);
  uint64_t sign = wide >> 63 << 15;
  uint64_t magnitude = wide & ~(1ull << 63);
  int exponent = (int)(magnitude >> 52) - 1023; /* of the leading digit */
  if (value != value)
    return pack_half_nan(value, bits);
  if (exponent == 1024) {
    *bits = sign | 0x7c00;
    return 1;
  }
  if (exponent < -25) { /* below half of the least number above zero */
    *bits = sign;
    return 1;
  }
  /* Digits of the half, the leading one included: eleven, fewer the further the number lies below 2**-14. */
  uint64_t digits = (magnitude & ((1ull << 52) - 1)) | 1ull << 52;
  int dropped = exponent >= -14 ? 42 : 28 - exponent;
  uint64_t keepalive = digits >> dropped;
  uint64_t rest = digits & ((1ull << dropped) - 1);
  uint64_t tie = 1ull << (dropped - 1);
  keepalive += rest > tie || (rest == tie && (keepalive & 1));
  /* A carry out of the digits raises the exponent by itself, as the fields adjoin. */
  uint64_t result = exponent >= -14 ? keepalive + ((uint64_t)(exponent + 14) << 10) : keepalive;
  if (result >= 0x7c00) {
    PyErr_SetString(PyExc_OverflowError, "float too large to pack with e format");
    return 0;
  }
  *bits = sign | result;
  return 1;
}

uint64_t pack_single(double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return bits;
}

uint64_t pack_brain(double value) { return pack_single(value) >> 16; }

uint64_t pack_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

int read_pointer(const Vendor *vendor, PyObject *object, int index, uint64_t *address) {
  *address = 0;
  if (PyLong_Check(object)) {
    *address = PyLong_AsUnsignedLongLong(object);
    return *address != UINT64_MAX || !PyErr_Occurred();
  }
  if (object == Py_None)
    return 1;
  PyObject *answer = call_method(object, names.data_ptr);
  if (!answer) {
    /* As in the base, but for KeyboardInterrupt and its like, which the base loses. */
    if (PyErr_ExceptionMatches(PyExc_Exception))
      PyErr_SetString(PyExc_TypeError, "Pointer argument must be either uint64 or have data_ptr method");
    return 0;
  }
  int valid = 1;
  if (PyLong_Check(answer)) {
    *address = PyLong_AsUnsignedLongLong(answer);
    /* A negative answer leaves an OverflowError; as in the base the driver may have a say first. */
    valid = *address == 0 || (vendor->ask_driver(index, address) && !PyErr_Occurred());
  } else {
    PyErr_SetString(PyExc_TypeError, "data_ptr method of Pointer object must return 64-bit int");
    valid = 0;
  }
  Py_DecRef(answer);
  return valid;
}
