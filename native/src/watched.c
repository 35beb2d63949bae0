#include "watched.h"

#include "names.h"

#include <string.h>

static unsigned int current_version(const PyTypeObject *type) {
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

PyObject *type_version(PyObject *module, PyObject *type) {
  (void)module;
  if (!(PyType_GetFlags(Py_TYPE(type)) & Py_TPFLAGS_TYPE_SUBCLASS))
    return PyErr_Format(PyExc_TypeError, "no class");
  return PyLong_FromLong((long)version_of((PyTypeObject *)type));
}

static int watch_types(Watched *watched, PyObject *types) {
  watched->type_count = (int)PyTuple_Size(types);
  if (watched->type_count > MAX_WATCHED_TYPES)
    return 0;
  for (int i = 0; i < watched->type_count; ++i) {
    watched->types[i] = (PyTypeObject *)PyTuple_GetItem(types, i);
    watched->versions[i] = version_of(watched->types[i]);
    if (watched->versions[i] == 0)
      return 0;
  }
  return 1;
}

static int watch_names(Watched *watched, PyObject *list) {
  watched->watch_count = (int)PyTuple_Size(list) / 3;
  if (watched->watch_count > MAX_WATCHES)
    return 0;
  for (int i = 0; i < watched->watch_count; ++i) {
    Watch *each = &watched->watches[i];
    PyObject *expected = PyTuple_GetItem(list, 3 * i + 2);
    *each = (Watch){PyTuple_GetItem(list, 3 * i), PyTuple_GetItem(list, 3 * i + 1), expected == Py_Ellipsis ? NULL : expected,
                    Py_TYPE(expected) == &PyList_Type};
    if (!PyDict_Check(each->dictionary))
      return 0;
  }
  return 1;
}

int watch(Watched *watched, PyObject *source) {
  PyObject *types, *list, *before = watched->source;
  watched->source = NULL;
  watched->type_count = watched->watch_count = 0;
  Py_DecRef(before);
  if (!PyArg_ParseTuple(source, "OO", &types, &list) || !watch_types(watched, types) || !watch_names(watched, list)) {
    watched->type_count = watched->watch_count = 0;
    return 0;
  }
  watched->source = new_reference(source);
  return is_as_watched(watched, 0);
}

int is_as_watched(const Watched *watched, int first) {
  if (!watched->source)
    return 0;
  for (int i = 0; i < watched->type_count; ++i)
    if (current_version(watched->types[i]) != watched->versions[i])
      return 0;
  for (int i = first; i < watched->watch_count; ++i) {
    const Watch *each = &watched->watches[i];
    if (PyDict_GetItemWithError(each->dictionary, each->name) != each->expected ||
        (each->is_list && PyList_Size(each->expected) != 0))
      return 0;
  }
  return 1;
}
