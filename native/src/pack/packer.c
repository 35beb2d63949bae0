#include "pack/packer.h"

#include "pack/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int enter(Packer *packer, const Program *program) {
  packer->program = program;
  packer->step = packer->leaf = packer->parameter_count = packer->late_count = packer->tuple_count = 0;
  packer->memory = NULL;
  if (program->leaf_count <= INLINE_LEAVES && program->tuple_count <= INLINE_TUPLES) {
    packer->slots = packer->inline_slots;
    packer->parameters = packer->inline_parameters;
    packer->late = packer->inline_late;
    packer->tuples = packer->inline_tuples;
    return 1;
  }
  size_t leaves = (size_t)program->leaf_count, tuples = (size_t)program->tuple_count;
  size_t late = (size_t)program->late_count;
  packer->memory = PyMem_Malloc(leaves * sizeof(Slot) + (leaves + 2) * sizeof(void *) + tuples * sizeof(PyObject *) +
                               late * sizeof(Late));
  if (!packer->memory) {
    PyErr_NoMemory();
    return 0;
  }
  packer->slots = packer->memory;
  packer->parameters = (void **)(packer->slots + leaves);
  packer->tuples = (PyObject **)(packer->parameters + leaves + 2);
  packer->late = (Late *)(packer->tuples + tuples);
  return 1;
}

void leave(Packer *packer) {
  while (packer->tuple_count > 0)
    Py_DecRef(packer->tuples[--packer->tuple_count]);
  PyMem_Free(packer->memory);
}

static int read_leaf(Packer *packer, char kind, PyObject *object, int position) {
  int leaf = packer->leaf++;
  if (kind == STEP_CONSTANT)
    return 1;
  int parameter = packer->parameter_count++;
  Slot *slot = &packer->slots[parameter];
  packer->parameters[parameter] = slot;
  if (kind == STEP_POINTER || kind == STEP_DESCRIPTOR) {
    slot->object = object;
    packer->late[packer->late_count++] = (Late){leaf, kind, parameter};
    return 1;
  }
  if (kind != STEP_HALF && kind != STEP_BRAIN && kind != STEP_SINGLE && kind != STEP_DOUBLE)
    return read_integer(object, kind, position, &slot->bits);
  double number = PyFloat_AsDouble(object);
  if (number == -1.0 && PyErr_Occurred())
    return 0;
  switch (kind) {
  case STEP_HALF:
    slot->number = number;
    packer->late[packer->late_count++] = (Late){leaf, kind, parameter};
    break;
  case STEP_BRAIN:
    slot->bits = pack_brain(number);
    break;
  case STEP_SINGLE:
    slot->bits = pack_single(number);
    break;
  default:
    slot->bits = pack_double(number);
  }
  return 1;
}

/* The name that C code sees: with the module for a type made in C outside of builtins. */
static PyObject *type_name(PyObject *object) {
  PyObject *type = (PyObject *)Py_TYPE(object);
  PyObject *name = PyObject_GetAttrString(type, "__name__");
  if (!name || PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_HEAPTYPE)
    return name;
  PyObject *module = PyObject_GetAttrString(type, "__module__");
  const char *text = module ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
  PyObject *full = NULL;
  if (text)
    full = strcmp(text, "builtins") == 0 ? new_reference(name) : PyUnicode_FromFormat("%S.%S", module, name);
  Py_DecRef(module);
  Py_DecRef(name);
  return full;
}

/* Raises TypeError with a message that ends in the name of the object's type. Takes the reference to the message. */
static void raise_type(PyObject *object, PyObject *message) {
  PyObject *name = message ? type_name(object) : NULL;
  if (name)
    PyErr_Format(PyExc_TypeError, "%S%.50S", message, name);
  Py_DecRef(name);
  Py_DecRef(message);
}

/* CPython 3.14 reads the items of tuples in another way, and has another word for them. */
static int reads_as_sequence(void) {
  const char *version = Py_GetVersion();
  return strncmp(version, "3.", 2) == 0 && strtol(version + 2, NULL, 10) < 14;
}

static const char *items_word(void) { return reads_as_sequence() ? "sequence" : "tuple"; }

static int raise_size(int children, int position, Py_ssize_t size) {
  PyErr_Format(PyExc_TypeError, "argument %d must be %s of length %d, not %zd", position, items_word(), children, size);
  return 0;
}

/* Makes a tuple of the items that a sequence shows, which are not those that a tuple holds where its class says otherwise. */
static PyObject *shown_items(PyObject *object, int children, int position) {
  Py_ssize_t size = PySequence_Size(object);
  if (size != children && (size < 0 || !raise_size(children, position, size)))
    return NULL;
  PyObject *items = PyTuple_New(size);
  for (Py_ssize_t i = 0; items && i < size; ++i) {
    PyObject *item = PySequence_GetItem(object, i);
    if (!item || PyTuple_SetItem(items, i, item) < 0) {
      Py_DecRef(items);
      return NULL;
    }
  }
  return items;
}

/* Borrows the items of a tuple; of another sequence it keeps a tuple until the launch is over. */
static PyObject *tuple_of(Packer *packer, PyObject *object, int children, int position) {
  unsigned long flags = PyType_GetFlags(Py_TYPE(object));
  if (Py_TYPE(object) == &PyTuple_Type || (flags & Py_TPFLAGS_TUPLE_SUBCLASS && !reads_as_sequence()))
    return PyTuple_Size(object) == children || raise_size(children, position, PyTuple_Size(object)) ? object : NULL;
  if (object == Py_None) {
    PyErr_Format(PyExc_TypeError, "argument %d must be %d-item %s, not None", position, children, items_word());
    return NULL;
  }
  if (!PySequence_Check(object) || (flags & Py_TPFLAGS_BYTES_SUBCLASS)) {
    raise_type(object, PyUnicode_FromFormat("argument %d must be %d-item %s, not ", position, children, items_word()));
    return NULL;
  }
  PyObject *items = shown_items(object, children, position);
  if (items)
    packer->tuples[packer->tuple_count++] = items;
  return items;
}

/* Reads one argument with the steps that are its own. Programs nest tuples at most MAX_DEPTH deep. */
int read_argument(Packer *packer, PyObject *object, int position) {
  const Step *step = &packer->program->steps[packer->step++];
  if (step->kind != STEP_TUPLE)
    return read_leaf(packer, step->kind, object, position);
  PyObject *tuple = tuple_of(packer, object, step->children, position);
  if (!tuple)
    return 0;
  for (int i = 0; i < step->children; ++i) {
    if (!read_argument(packer, PyTuple_GetItem(tuple, i), position)) {
      char argument[32], item[64];
      snprintf(argument, sizeof argument, "argument %d", position);
      snprintf(item, sizeof item, "%s, item %d", argument, i);
      replace_start_of_message(argument, item);
      return 0;
    }
  }
  packer->step++; /* the end of the tuple */
  return 1;
}

/* The parameter is what the object holds: nothing changes that while the launch is under way. */
static int read_descriptor(Packer *packer, PyObject *object, int parameter) {
  const Vendor *vendor = packer->program->vendor;
  if ((PyObject *)Py_TYPE(object) != packer->program->descriptor_type) {
    raise_type(object, PyUnicode_FromFormat("object must be of type %s, got ", vendor->descriptor_name));
    return 0;
  }
  char *descriptor = (char *)object + vendor->descriptor_offset;
  uintptr_t beyond = (uintptr_t)descriptor % vendor->descriptor_alignment;
  if (beyond != 0) {
    PyErr_Format(PyExc_ValueError, "CUtensorMap must be aligned to 128B, but got (&map) mod 128 = %ld", (long)beyond);
    return 0;
  }
  packer->parameters[parameter] = descriptor;
  return 1;
}

/* Kind by kind: with several wrong arguments the base's error is raised. */
int read_late(Packer *packer) {
  for (const char *kind = packer->program->vendor->late; *kind; ++kind) {
    for (int i = 0; i < packer->late_count; ++i) {
      const Late *late = &packer->late[i];
      Slot *slot = &packer->slots[late->parameter];
      if (late->kind != *kind)
        continue;
      PyObject *object = slot->object;
      int valid = *kind == STEP_POINTER      ? read_pointer(packer->program->vendor, object, late->leaf, &slot->bits)
                  : *kind == STEP_DESCRIPTOR ? read_descriptor(packer, object, late->parameter)
                                             : pack_half(slot->number, &slot->bits);
      if (!valid)
        return 0;
    }
  }
  return 1;
}
