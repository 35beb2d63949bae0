#include "driver/tensor_map.h"

#include "driver/cuda_driver.h"
#include "python/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK 5
#define ALIGNMENT 128

_Static_assert(sizeof(TensorMapObject) == 256 && offsetof(TensorMapObject, map) == ALIGNMENT, "the base's layout");

static PyObject *allocate(PyTypeObject *type, Py_ssize_t items) {
  (void)items;
  void *memory = NULL;
  if (posix_memalign(&memory, ALIGNMENT, sizeof(TensorMapObject)) != 0)
    return PyErr_NoMemory();
  memset(memory, 0, sizeof(TensorMapObject));
  return PyObject_Init(memory, type);
}

static void deallocate(PyObject *self) {
  PyObject *type = (PyObject *)Py_TYPE(self);
  free(self);
  Py_DecRef(type);
}

PyObject *tensor_map_type(void) {
  static PyType_Slot slots[] = {
      {Py_tp_alloc, (void *)allocate},
      {Py_tp_dealloc, (void *)deallocate},
      {Py_tp_doc, "<PyCUtensorMap object>"},
      {0, NULL},
  };
  static PyType_Spec specification = {
      .name = "triton.backends.nvidia.PyCUtensorMap",
      .basicsize = sizeof(TensorMapObject),
      .flags = Py_TPFLAGS_DEFAULT,
      .slots = slots,
  };
  return PyType_FromSpec(&specification);
}

/* The driver wants the innermost dimension first, Python has it last. */
typedef struct {
  int rank;
  uint32_t block[MAX_RANK];
  uint64_t shape[MAX_RANK];
  uint64_t strides[MAX_RANK];
} Extents;

/* Reads the first `count` integers of a sequence in reverse. Returns 0 with an exception set for anything else. */
static int read_reversed(PyObject *sequence, int count, const char *message, uint64_t *values) {
  for (int i = 0; i < count; ++i) {
    PyObject *item = PySequence_GetItem(sequence, i);
    if (!item)
      return 0;
    long long value = -1;
    if (PyLong_Check(item))
      value = PyLong_AsLongLong(item);
    else
      PyErr_SetString(PyExc_TypeError, message);
    Py_DecRef(item);
    if (value == -1 && PyErr_Occurred())
      return 0;
    values[count - i - 1] = (uint64_t)value;
  }
  return 1;
}

static PyObject *sequence_of(PyObject *object, int rank, const char *message) {
  PyObject *sequence = PySequence_Fast(object, message);
  if (sequence && PySequence_Size(sequence) != rank) {
    PyErr_SetString(PyExc_RuntimeError, "Rank mismatch");
    Py_DecRef(sequence);
    return NULL;
  }
  return sequence;
}

static int read_block(PyObject *object, Extents *extents) {
  PyObject *sequence = PySequence_Fast(object, "blockSize must be a sequence");
  if (!sequence)
    return 0;
  Py_ssize_t rank = PySequence_Size(sequence);
  int valid = 0;
  if (rank > MAX_RANK) {
    PyErr_Format(PyExc_RuntimeError, "Triton Error [CUDA]: Failed to create tensor map descriptor: rank %zd is above %d", rank,
                 MAX_RANK);
  } else {
    uint64_t values[MAX_RANK];
    extents->rank = (int)rank;
    valid = read_reversed(sequence, extents->rank, "block size must be an int", values);
    for (int i = 0; valid && i < extents->rank; ++i)
      extents->block[i] = (uint32_t)values[i];
  }
  Py_DecRef(sequence);
  return valid;
}

static int read_shape(PyObject *object, Extents *extents) {
  PyObject *sequence = sequence_of(object, extents->rank, "shape must be a sequence");
  if (!sequence)
    return 0;
  int valid = read_reversed(sequence, extents->rank, "shape must be an int", extents->shape);
  Py_DecRef(sequence);
  return valid;
}

/* Strides come in elements, the innermost is 1 and left out; the driver wants bytes. The outermost one, which it does not
   read, is the size of the whole as in the base, for the message of an error. */
static int read_strides(PyObject *object, int element_bytes, Extents *extents) {
  int rank = extents->rank;
  PyObject *sequence = sequence_of(object, rank, "strides must be a sequence");
  if (!sequence)
    return 0;
  int valid = read_reversed(sequence, rank > 0 ? rank - 1 : 0, "shape must be an int", extents->strides);
  Py_DecRef(sequence);
  for (int i = 0; valid && i + 1 < rank; ++i)
    extents->strides[i] *= (uint64_t)(int64_t)element_bytes;
  if (valid && rank > 0)
    extents->strides[rank - 1] =
        extents->shape[rank - 1] * (rank == 1 ? (uint64_t)(int64_t)element_bytes : extents->strides[rank - 2]);
  return valid;
}

typedef struct {
  char text[4096];
  size_t length;
} Message;

static void append(Message *message, const char *format, const char *text, unsigned long long number) {
  size_t room = sizeof message->text - message->length;
  int written = text ? snprintf(message->text + message->length, room, format, text)
                     : snprintf(message->text + message->length, room, format, number);
  if (written > 0)
    message->length += (size_t)written < room ? (size_t)written : room - 1;
}

static void append_list(Message *message, const char *name, int rank, const uint64_t *wide, const uint32_t *narrow,
                        const char *end) {
  append(message, "%s=[", name, 0);
  for (int i = 0; i < rank; ++i) {
    append(message, "%llu", NULL, wide ? wide[i] : narrow[i]);
    append(message, "%s", i + 1 < rank ? ", " : "", 0);
  }
  append(message, "%s", end, 0);
}

typedef struct {
  unsigned long long address;
  int swizzle, element_bytes, element_type, padding;
} Encoding;

static void raise_refused(CudaResult error, const Encoding *encoding, const Extents *extents, const uint32_t *element_strides) {
  const char *text = NULL;
  if (cuda_driver()->cuGetErrorString(error, &text) != CUDA_OK || !text)
    text = "Unknown error";
  Message message = {.length = 0};
  append(&message, "Triton Error [CUDA]: Failed to create tensor map descriptor: %s\n", text, 0);
  char line[256];
  (void)snprintf(line, sizeof line, "elemType=%d rank=%d global_address=0x%llx elemSize=%d swizzle=%d padding=%d\n",
                 encoding->element_type, extents->rank, encoding->address, encoding->element_bytes, encoding->swizzle,
                 encoding->padding);
  append(&message, "%s", line, 0);
  append_list(&message, "shape", extents->rank, extents->shape, NULL, "]\n");
  append_list(&message, "strides", extents->rank, extents->strides, NULL, "]\n");
  append_list(&message, "blockSize", extents->rank, NULL, extents->block, "] ");
  append_list(&message, "elementStrides", extents->rank, NULL, element_strides, "]\n");
  PyErr_SetString(PyExc_RuntimeError, message.text);
}

static int encode(TensorMapObject *object, const Encoding *encoding, const Extents *extents) {
  static const uint32_t element_strides[MAX_RANK] = {1, 1, 1, 1, 1};
  const CudaDriver *driver = cuda_driver();
  if (!driver)
    return 0;
  if (!driver->cuTensorMapEncodeTiled) {
    cuda_raise_missing("cuTensorMapEncodeTiled");
    return 0;
  }
  CudaResult result = driver->cuTensorMapEncodeTiled(
      &object->map, encoding->element_type, (uint32_t)extents->rank, (void *)(uintptr_t)encoding->address, extents->shape,
      extents->strides, extents->block, element_strides, TENSOR_MAP_INTERLEAVE_NONE, encoding->swizzle,
      TENSOR_MAP_PROMOTION_128B, encoding->padding == 1 ? TENSOR_MAP_FILL_NAN : TENSOR_MAP_FILL_ZERO);
  if (result != CUDA_OK)
    raise_refused(result, encoding, extents, element_strides);
  return result == CUDA_OK;
}

PyObject *fill_tma_descriptor(PyObject *module, PyObject *arguments) {
  Encoding encoding;
  Extents extents = {0};
  PyObject *block, *shape, *strides;
  if (!PyArg_ParseTuple(arguments, "KiiiOOOi", &encoding.address, &encoding.swizzle, &encoding.element_bytes,
                        &encoding.element_type, &block, &shape, &strides, &encoding.padding))
    return NULL;
  if (!read_block(block, &extents) || !read_shape(shape, &extents) || !read_strides(strides, encoding.element_bytes, &extents))
    return NULL;
  const ModuleState *state = PyModule_GetState(module);
  PyObject *object = PyObject_CallObject(state->tensor_map_type, NULL);
  if (object && !encode((TensorMapObject *)object, &encoding, &extents)) {
    Py_DecRef(object);
    return NULL;
  }
  return object;
}
