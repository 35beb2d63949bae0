#include "driver/tdm_descriptor.h"

#include "python/state.h"

#define RANK 2 /* the only one that the base knows to encode */

_Static_assert(sizeof(TdmDescriptorObject) == 64 && offsetof(TdmDescriptorObject, descriptor) == 16, "the base's layout");

/* As in the base, whatever the arguments are. */
static PyObject *make_empty(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  (void)arguments, (void)keywords;
  return PyType_GenericAlloc(type, 0);
}

static void deallocate(PyObject *self) {
  PyObject *type = (PyObject *)Py_TYPE(self);
  PyObject_Free(self);
  Py_DecRef(type);
}

PyObject *tdm_descriptor_type(void) {
  static PyType_Slot slots[] = {
      {Py_tp_new, (void *)make_empty},
      {Py_tp_dealloc, (void *)deallocate},
      {Py_tp_doc, "PyObject for TDMDescriptor"},
      {0, NULL},
  };
  static PyType_Spec specification = {
      .name = "triton.backends.amd.PyTDMDescriptor",
      .basicsize = sizeof(TdmDescriptorObject),
      .flags = Py_TPFLAGS_DEFAULT,
      .slots = slots,
  };
  return PyType_FromSpec(&specification);
}

/* Outer dimension first, as in Python. */
typedef struct {
  int element_bits, warps, padding_interval, padding;
  uint32_t block[RANK], shape[RANK], strides[RANK];
  unsigned long long address;
} Tile;

/* Reads the low 32 bits of two integers. Returns 0 with an exception set for anything else. */
static int read_pair(PyObject *object, const char *not_sequence, const char *not_two, const char *not_integer, uint32_t *values) {
  PyObject *sequence = PySequence_Fast(object, not_sequence);
  if (!sequence)
    return 0;
  int valid = PySequence_Size(sequence) == RANK;
  if (!valid)
    PyErr_SetString(PyExc_RuntimeError, not_two);
  for (int i = 0; valid && i < RANK; ++i) {
    PyObject *item = PySequence_GetItem(sequence, i);
    long value = -1;
    if (item && PyLong_Check(item))
      value = PyLong_AsLong(item);
    else if (item)
      PyErr_SetString(PyExc_TypeError, not_integer);
    Py_DecRef(item);
    valid = value != -1 || !PyErr_Occurred();
    values[i] = (uint32_t)value;
  }
  Py_DecRef(sequence);
  return valid;
}

/* The exponent of the greatest power of two that is not above a number; 0 for those below one. */
static uint32_t binary_exponent(int number) { return number > 0 ? 31u - (uint32_t)__builtin_clz((unsigned int)number) : 0; }

/* How many 32-bit words so many elements take, with the base's arithmetic of 32 bits. */
static int words_of(int elements, int element_bits) { return (int)((uint32_t)elements * (uint32_t)element_bits) / 32; }

/* In 32 bits, as in the base: a block of nearly 2**32 becomes none. */
static uint32_t share(uint32_t extent, uint32_t parts) { return (extent + parts - 1) / parts; }

/* Shares the block out among the warps, as many as there can be along the outer dimension. Returns 0 where it does not go. */
static int divide_block(const Tile *tile, uint32_t *rows, uint32_t *columns) {
  uint32_t along_rows = (uint32_t)tile->warps;
  while (along_rows > tile->block[0])
    along_rows /= 2;
  uint32_t along_columns = along_rows > 0 ? (uint32_t)tile->warps / along_rows : 0;
  if (along_columns == 0 || tile->block[1] % along_columns != 0)
    return 0;
  *rows = share(tile->block[0], along_rows);
  *columns = share(tile->block[1], along_columns);
  return 1;
}

/* The fields, by bits of their group. Group 0: 64-120 address, 126-127 kind of descriptor. Group 1: 16-17 exponent of an element's
   bytes, 20 whether rows are padded, 22-24 exponent of the interval in words less 1, 25-31 padding in words less 1, 48-79 inner
   and 80-111 outer extent of the tensor, 112-127 inner and 128-143 outer extent of the block, 160-207 outer stride. */
static int encode(TdmDescriptor *descriptor, const Tile *tile) {
  uint32_t rows, columns;
  if (!divide_block(tile, &rows, &columns))
    return 0;
  descriptor->group0[2] = (uint32_t)tile->address;
  descriptor->group0[3] = ((uint32_t)(tile->address >> 32) & 0x01ffffff) | 1u << 31;
  uint32_t *group1 = descriptor->group1;
  int interval = words_of(tile->padding_interval, tile->element_bits), padding = words_of(tile->padding, tile->element_bits);
  group1[0] = binary_exponent(tile->element_bits / 8) << 16;
  if (interval > 0 && padding > 0)
    group1[0] |= 1u << 20 | (binary_exponent(interval) - 1) << 22 | (uint32_t)(padding - 1) << 25;
  group1[1] = tile->shape[1] << 16;
  group1[2] = tile->shape[1] >> 16 | tile->shape[0] << 16;
  group1[3] = tile->shape[0] >> 16 | columns << 16;
  group1[4] = rows & 0xffff;
  group1[5] = tile->strides[0];
  return 1;
}

PyObject *create_tdm_descriptor(PyObject *module, PyObject *arguments) {
  Tile tile;
  PyObject *block, *shape, *strides;
  if (!PyArg_ParseTuple(arguments, "iOiiiOOK", &tile.element_bits, &block, &tile.warps, &tile.padding_interval, &tile.padding,
                        &shape, &strides, &tile.address))
    return NULL;
  if (!read_pair(block, "blockSize must be a sequence", "rank must be 2", "block size must be an int", tile.block) ||
      !read_pair(shape, "shape must be a sequence", "rank mismatch", "shape must be an int", tile.shape) ||
      !read_pair(strides, "strides must be a sequence", "rank mismatch", "shape must be an int", tile.strides))
    return NULL;
  const ModuleState *state = PyModule_GetState(module);
  PyObject *object = PyObject_CallObject(state->tdm_descriptor_type, NULL);
  if (object && !encode(&((TdmDescriptorObject *)object)->descriptor, &tile)) {
    PyErr_SetString(PyExc_RuntimeError, "Failed to encode TDM descriptor");
    Py_DecRef(object);
    return NULL;
  }
  return object;
}
