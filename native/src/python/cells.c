#include "python/cells.h"

#include "python/names.h"

/* Whether a cell holds an object; an empty one raises ValueError, which means nothing here. */
static int holds(PyObject *cell, PyObject *object) {
  PyObject *now = PyObject_GetAttr(cell, names.cell_contents);
  if (!now && PyErr_ExceptionMatches(PyExc_ValueError))
    PyErr_Clear();
  Py_DecRef(now);
  return now && now == object;
}

int cells_unchanged(PyObject *attributes) {
  PyObject *key = PyDict_GetItemWithError(attributes, names.hash);
  if (!key || key == Py_None || Py_TYPE(key) == &PyUnicode_Type)
    return !PyErr_Occurred(); /* no key yet, or one that depends on no cell */
  Py_IncRef(key);
  PyObject *seen = PyObject_GetAttr(key, names.seen);
  Py_DecRef(key);
  if (!seen && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    return 1; /* what somebody else has set */
  }
  int same = seen && PyTuple_Check(seen);
  for (Py_ssize_t at = 0, size = same ? PyTuple_Size(seen) : 0; same && at + 1 < size; at += 2)
    same = holds(PyTuple_GetItem(seen, at), PyTuple_GetItem(seen, at + 1));
  Py_DecRef(seen);
  return same;
}
