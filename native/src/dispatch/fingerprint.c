#include "dispatch/fingerprint.h"

#include "dispatch/guarded.h"
#include "dispatch/guards.h"
#include "python/method.h"
#include "python/names.h"

#include <stdint.h>
#include <string.h>

#define ALIGNMENT 16 /* that the base asks of addresses and integers */

/* A block of a descriptor is one word: the rank and, for each dimension, an extent below 4096. */
#define MAX_RANK 5
#define EXTENT_BITS 12

#define MAX_DEPTH 32 /* of tuples in tuples */

/* The first word of an argument. For tensors and descriptors it is the address of the type, which is a multiple of 8. */
enum { KIND_OBJECT = 1, KIND_INTEGER, KIND_INTEGER_CLASS, KIND_FLOAT, KIND_FLOAT_CLASS, KIND_TUPLE, KIND_DEFAULT = 9 };

int add_word(Fingerprint *fingerprint, uint64_t word) {
  if (fingerprint->count == MAX_WORDS)
    return 0;
  fingerprint->words[fingerprint->count++] = word;
  return 1;
}

static int add_pair(Fingerprint *fingerprint, uint64_t first, uint64_t second) {
  return add_word(fingerprint, first) && add_word(fingerprint, second);
}

static int add_integer(PyObject *value, int constant, Fingerprint *fingerprint) {
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
    return add_pair(fingerprint, KIND_INTEGER, bits);
  uint64_t width = overflow ? 2 : number != (int32_t)number;
  return add_pair(fingerprint, KIND_INTEGER_CLASS,
                  width << 2 | (uint64_t)(!overflow && number == 1) << 1 | (bits % ALIGNMENT == 0));
}

static int add_float(PyObject *value, int constant, Fingerprint *fingerprint) {
  double number = PyFloat_AsDouble(value);
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return constant ? add_pair(fingerprint, KIND_FLOAT, bits) : add_pair(fingerprint, KIND_FLOAT_CLASS, 0);
}

static int place_of(const KnownTypes *known, const PyTypeObject *type) {
  int i = 0;
  while (i < known->count && known->types[i] != (const PyObject *)type)
    ++i;
  return i;
}

static TypeKind kind_of(const KnownTypes *known, PyTypeObject *type) {
  int place = place_of(known, type);
  int same = place < known->count && known->versions[place] == current_version(type);
  return same ? (TypeKind)known->kinds[place] : UNKNOWN_TYPE;
}

/* Classes are asked about once and when they have changed; what does not fit in is unknown. */
static TypeKind learn_kind(KnownTypes *known, PyObject *value) {
  PyTypeObject *type = Py_TYPE(value);
  int place = place_of(known, type);
  if (place < known->count && known->versions[place] == current_version(type))
    return (TypeKind)known->kinds[place];
  unsigned int version = version_of_type(value);
  if (place == MAX_KNOWN_TYPES || version == 0)
    return UNKNOWN_TYPE;
  PyObject *answer = PyObject_CallFunctionObjArgs(known->classify, (PyObject *)type, NULL);
  long kind = answer && Py_TYPE(answer) == &PyLong_Type ? PyLong_AsLong(answer) : UNKNOWN_TYPE;
  Py_DecRef(answer);
  /* Another thread may have been here meanwhile. */
  place = place_of(known, type);
  if (!answer || place == MAX_KNOWN_TYPES || current_version(type) != version)
    return UNKNOWN_TYPE;
  if (place == known->count)
    known->types[known->count++] = new_reference((PyObject *)type);
  known->versions[place] = version;
  known->kinds[place] = (int8_t)kind;
  return (TypeKind)kind;
}

static int is_plain_tuple(PyObject *value, int constant, KnownTypes *known, int depth) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(value); ++i) {
    PyObject *item = PyTuple_GetItem(value, i);
    if (PyTuple_Check(item) && depth == MAX_DEPTH)
      return 0;
    if (PyTuple_Check(item) ? (Py_TYPE(item) != &PyTuple_Type && learn_kind(known, item) != TUPLE_TYPE) ||
                                  !is_plain_tuple(item, constant, known, depth + 1)
                            : !is_plain(item, constant, known))
      return 0;
  }
  return 1;
}

int is_plain(PyObject *value, int constant, KnownTypes *known) {
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type || value == Py_None)
    return 1;
  if (type == &PyTuple_Type)
    return is_plain_tuple(value, constant, known, 0);
  if (constant && type == &PyUnicode_Type)
    return 1;
  TypeKind kind = learn_kind(known, value);
  if (kind == TUPLE_TYPE)
    return is_plain_tuple(value, constant, known, 0);
  return constant ? kind == CONSTANT_TYPE : kind == TENSOR_TYPE || kind == DESCRIPTOR_TYPE;
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

/* What HIPBackend.is_within_2gb says. Returns 0, maybe with an exception set, for a tensor that tells its range itself and where
   there is no plain answer. */
static int is_small(PyObject *value, const KnownTypes *known, int *small) {
  PyObject *range = PyObject_GetAttr(value, names.ptr_range);
  Py_DecRef(range);
  if (range || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return 0;
  PyErr_Clear();
  *small = 0;
  int stored = PyObject_IsInstance(value, known->stored_type);
  int valid = stored > 0 ? has_small_storage(value, small) : stored == 0;
  if (!valid)
    drop_error_of_looking();
  return valid;
}

/* Keeps an answer, with the reference to the element type, and adds the words that all tensors and descriptors have. */
static int add_answer(Fingerprint *fingerprint, PyObject *value, PyTypeObject *type, PyObject *dtype, unsigned int bits) {
  int first = fingerprint->count;
  if (fingerprint->answer_count == MAX_WORDS / 2 ||
      !add_pair(fingerprint, (uint64_t)(uintptr_t)type | bits, (uint64_t)(uintptr_t)dtype)) {
    Py_DecRef(dtype);
    return 0;
  }
  fingerprint->answers[fingerprint->answer_count++] = (Answer){value, dtype, first};
  return 1;
}

/* HIP's backend asks in Python, which takes other answers than an integer. */
static int ask_tensor(PyObject *value, const KnownTypes *known, const Fingerprint *fingerprint, unsigned int *bits) {
  int small = 0, plain;
  PyObject *answer = call_method(value, names.data_ptr);
  if (!answer)
    return 0;
  plain = !known->stored_type || Py_TYPE(answer) == &PyLong_Type;
  uint64_t address = plain ? PyLong_AsUnsignedLongLong(answer) : 0;
  Py_DecRef(answer);
  if (plain && address == UINT64_MAX && PyErr_Occurred()) {
    if (known->stored_type)
      PyErr_Clear();
    return 0;
  }
  if (!plain || (fingerprint->with_ranges && !is_small(value, known, &small)))
    return 0;
  *bits = (unsigned int)small << 1 | (address % ALIGNMENT == 0);
  return 1;
}

static int add_tensor(PyObject *value, Questions questions, const KnownTypes *known, Fingerprint *fingerprint) {
  PyTypeObject *type = Py_TYPE(value);
  unsigned int bits = 0;
  if (questions == ASK_NOTHING)
    return 0;
  PyObject *dtype = PyObject_GetAttr(value, names.dtype);
  if (!dtype)
    return 0;
  if (questions == ASK_ALL && !ask_tensor(value, known, fingerprint, &bits)) {
    Py_DecRef(dtype);
    return 0;
  }
  /* The questions may have given the object another class. */
  if (Py_TYPE(value) != type) {
    Py_DecRef(dtype);
    return 0;
  }
  return add_answer(fingerprint, value, type, dtype, bits);
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

static int add_descriptor(PyObject *value, Fingerprint *fingerprint) {
  PyTypeObject *type = Py_TYPE(value);
  PyObject *base = PyObject_GetAttr(value, names.base);
  PyObject *dtype = base ? PyObject_GetAttr(base, names.dtype) : NULL;
  PyObject *block = dtype ? PyObject_GetAttr(value, names.block_shape) : NULL;
  uint64_t word;
  int valid = block && block_word(block, &word) && Py_TYPE(value) == type;
  Py_DecRef(block);
  Py_DecRef(base);
  if (!valid) {
    Py_DecRef(dtype);
    return 0;
  }
  return add_answer(fingerprint, value, type, dtype, 0) && add_word(fingerprint, word);
}

/* Running out of room ends the nesting. The items are asked everything, whatever is asked of the parameter. */
static int add_tuple(PyObject *value, int constant, const KnownTypes *known, Fingerprint *fingerprint) {
  Py_ssize_t size = PyTuple_Size(value);
  int valid = add_pair(fingerprint, KIND_TUPLE, (uint64_t)(uintptr_t)Py_TYPE(value)) && add_word(fingerprint, (uint64_t)size);
  for (Py_ssize_t i = 0; valid && i < size; ++i)
    valid = add_value(PyTuple_GetItem(value, i), constant, ASK_ALL, known, fingerprint);
  return valid;
}

int add_default(Fingerprint *fingerprint) { return add_word(fingerprint, KIND_DEFAULT); }

int add_value(PyObject *value, int constant, Questions questions, const KnownTypes *known, Fingerprint *fingerprint) {
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyLong_Type)
    return add_integer(value, constant, fingerprint);
  if (type == &PyFloat_Type)
    return add_float(value, constant, fingerprint);
  if (PyTuple_Check(value))
    return questions != ASK_NOTHING && add_tuple(value, constant, known, fingerprint);
  if (constant || value == Py_None || type == &PyBool_Type)
    return add_pair(fingerprint, KIND_OBJECT, (uint64_t)(uintptr_t)value);
  switch (kind_of(known, type)) {
  case TENSOR_TYPE:
    return add_tensor(value, questions, known, fingerprint);
  case DESCRIPTOR_TYPE:
    return questions != ASK_NOTHING && add_descriptor(value, fingerprint);
  default:
    return 0;
  }
}

/* What block_word made of a block. */
static PyObject *block_of(uint64_t word) {
  Py_ssize_t rank = (Py_ssize_t)(word >> (MAX_RANK * EXTENT_BITS));
  PyObject *block = PyTuple_New(rank);
  for (Py_ssize_t i = 0; block && i < rank; ++i) {
    PyObject *extent = PyLong_FromLong((long)(word >> (i * EXTENT_BITS) & ((1u << EXTENT_BITS) - 1)));
    if (!extent || PyTuple_SetItem(block, i, extent) < 0) {
      Py_DecRef(block);
      return NULL;
    }
  }
  return block;
}

static PyObject *tuple_of_answer(const Fingerprint *fingerprint, const Answer *answer, const KnownTypes *known) {
  PyTypeObject *type = Py_TYPE(answer->value);
  uint64_t bits = fingerprint->words[answer->first] & 3;
  int described = kind_of(known, type) == DESCRIPTOR_TYPE;
  PyObject *block = described ? block_of(fingerprint->words[answer->first + 2]) : new_reference(Py_None);
  if (!block)
    return NULL;
  PyObject *tuple = Py_BuildValue("(OOOiiO)", answer->value, (PyObject *)type, answer->dtype, (int)(bits & 1), (int)(bits >> 1),
                                  block);
  Py_DecRef(block);
  return tuple;
}

PyObject *list_answers(const Fingerprint *fingerprint, const KnownTypes *known) {
  PyObject *list = PyTuple_New(fingerprint->answer_count);
  for (int i = 0; list && i < fingerprint->answer_count; ++i) {
    const Answer *answer = &fingerprint->answers[i];
    /* An object that has another class by now is not what the words say. */
    uint64_t type = fingerprint->words[answer->first] & ~(uint64_t)3;
    PyObject *tuple = type == (uint64_t)(uintptr_t)Py_TYPE(answer->value) ? tuple_of_answer(fingerprint, answer, known) : NULL;
    if (!tuple || PyTuple_SetItem(list, i, tuple) < 0) {
      Py_DecRef(list);
      return NULL;
    }
  }
  return list;
}

void release_answers(Fingerprint *fingerprint) {
  while (fingerprint->answer_count > 0)
    Py_DecRef(fingerprint->answers[--fingerprint->answer_count].dtype);
}
