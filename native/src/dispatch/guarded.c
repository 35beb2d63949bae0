#include "dispatch/guarded.h"

#include "python/names.h"

#include <string.h>

#define INTERVAL 64
#define SOON 8

static int is_class(PyObject *object) { return (PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_TYPE_SUBCLASS) != 0; }

unsigned int current_version(const PyTypeObject *type) {
  unsigned int version;
  memcpy(&version, (const char *)type + TYPE_VERSION_OFFSET, sizeof version);
  return version;
}

/* A class gets its number when something is looked up in it. */
unsigned int version_of(PyTypeObject *type) {
  PyObject *found = PyObject_GetAttr((PyObject *)type, names.__init__);
  Py_DecRef(found);
  return found ? current_version(type) : 0;
}

unsigned int version_of_type(PyObject *object) {
  PyObject *found = PyObject_GenericGetAttr(object, names._fork_absent);
  if (!found)
    PyErr_Clear();
  Py_DecRef(found);
  return current_version(Py_TYPE(object));
}

PyObject *type_version(PyObject *module, PyObject *type) {
  (void)module;
  if (!is_class(type))
    return PyErr_Format(PyExc_TypeError, "no class");
  return PyLong_FromLong((long)version_of((PyTypeObject *)type));
}

static int watch_types(Guarded *guarded, PyObject *types) {
  Py_ssize_t count = PyTuple_Check(types) ? PyTuple_Size(types) : -1;
  if (count < 0 || count > MAX_GUARDED_TYPES)
    return 0;
  guarded->type_count = (int)count;
  for (int i = 0; i < guarded->type_count; ++i) {
    PyObject *type = PyTuple_GetItem(types, i);
    guarded->types[i] = (PyTypeObject *)type;
    if (!is_class(type) || (guarded->versions[i] = version_of(guarded->types[i])) == 0)
      return 0;
  }
  return 1;
}

static int watch_names(Guarded *guarded, PyObject *list) {
  Py_ssize_t count = PyTuple_Check(list) ? PyTuple_Size(list) : -1;
  if (count < 0 || count > 3 * MAX_GUARDED_ATTRIBUTES || count % 3 != 0)
    return 0;
  guarded->attribute_count = (int)(count / 3);
  for (int i = 0; i < guarded->attribute_count; ++i) {
    GuardedAttribute *each = &guarded->attributes[i];
    PyObject *expected = PyTuple_GetItem(list, 3 * i + 2);
    *each = (GuardedAttribute){PyTuple_GetItem(list, 3 * i), PyTuple_GetItem(list, 3 * i + 1),
                               expected == Py_Ellipsis ? NULL : expected,
                    Py_TYPE(expected) == &PyList_Type};
    if (!PyDict_Check(each->dictionary) || Py_TYPE(each->name) != &PyUnicode_Type)
      return 0;
  }
  return 1;
}

int watch(Guarded *guarded, PyObject *source) {
  PyObject *types, *list, *before = guarded->source;
  if (!PyTuple_Check(source))
    return 0;
  guarded->source = NULL;
  guarded->type_count = guarded->attribute_count = 0;
  Py_DecRef(before);
  if (!PyArg_ParseTuple(source, "OO", &types, &list) || !watch_types(guarded, types) || !watch_names(guarded, list)) {
    guarded->type_count = guarded->attribute_count = 0;
    return 0;
  }
  guarded->source = new_reference(source);
  return 1;
}

static int holds(const GuardedAttribute *each) {
  return PyDict_GetItemWithError(each->dictionary, each->name) == each->expected &&
         (!each->is_list || PyList_Size(each->expected) == 0);
}

int is_as_guarded(const Guarded *guarded, int first, int end) {
  if (!guarded->source)
    return 0;
  for (int i = 0; i < guarded->type_count; ++i)
    if (current_version(guarded->types[i]) != guarded->versions[i])
      return 0;
  for (int i = first; i < end; ++i)
    if (!holds(&guarded->attributes[i]))
      return 0;
  return 1;
}

Difference difference(const Guarded *guarded) {
  for (int i = 0; i < guarded->type_count; ++i)
    if (current_version(guarded->types[i]) != guarded->versions[i])
      return (Difference){i - MAX_GUARDED_TYPES, current_version(guarded->types[i])};
  for (int i = 0; i < guarded->attribute_count; ++i) {
    const GuardedAttribute *each = &guarded->attributes[i];
    if (!holds(each))
      return (Difference){i, (uintptr_t)PyDict_GetItemWithError(each->dictionary, each->name)};
  }
  return (Difference){-MAX_GUARDED_TYPES - 1, 0};
}

int try_again(Patience *patience, Difference met) {
  unsigned int failures = ++patience->failures;
  int other = met.place != patience->met.place || met.found != patience->met.found;
  int again = failures <= PATIENCE || failures % INTERVAL == 0 || (other && failures - patience->last_try >= SOON);
  if (again) {
    patience->last_try = failures;
    patience->met = met;
  }
  return again;
}
