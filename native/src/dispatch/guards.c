#include "dispatch/guards.h"

#include "python/method.h"
#include "python/names.h"

static int is_false(PyObject *value) { return Py_TYPE(value) == &PyBool_Type && PyObject_IsTrue(value) == 0; }

static int is_empty_list(PyObject *value) { return Py_TYPE(value) == &PyList_Type && PyList_Size(value) == 0; }

PyObject *has_own_caches(PyObject *attributes, PyObject *type_of_caches) {
  PyObject *caches = PyDict_GetItemWithError(attributes, names.device_caches);
  if (!caches || (PyObject *)Py_TYPE(caches) != type_of_caches || PyDict_GetItemWithError(attributes, names.run))
    return NULL;
  PyObject *debug = PyDict_GetItemWithError(attributes, names.debug);
  PyObject *hooks = PyDict_GetItemWithError(attributes, names.pre_run_hooks);
  return debug && (debug == Py_None || is_false(debug)) && hooks && is_empty_list(hooks) ? caches : NULL;
}

/* The base compares with `!=`, and so do we, but for equal objects of types where that is known to be no difference. */
static int unchanged(PyObject *now, PyObject *then) {
  if (!now)
    return 0;
  PyTypeObject *type = Py_TYPE(now);
  if (now == then && (type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type || now == Py_None))
    return 1;
  Py_IncRef(now);
  PyObject *differs = PyObject_RichCompare(now, then, Py_NE);
  int truth = differs ? PyObject_IsTrue(differs) : 1;
  Py_DecRef(differs);
  Py_DecRef(now);
  return truth == 0;
}

/* Comparing may run Python code: what it changes in the dictionary ends the fast path. */
int globals_unchanged(PyObject *attributes) {
  PyObject *used = PyDict_GetItemWithError(attributes, names.used_global_vals);
  if (!used || !PyDict_Check(used))
    return 0;
  Py_ssize_t position = 0, size = PyDict_Size(used);
  if (size == 0)
    return 1;
  PyObject *key, *value;
  int same = 1;
  Py_IncRef(used);
  while (same && PyDict_Next(used, &position, &key, &value)) {
    Py_IncRef(key);
    Py_IncRef(value);
    PyObject *now = PyTuple_Check(key) && PyTuple_Check(value) && PyTuple_Size(key) == 2 && PyTuple_Size(value) == 2
                        ? PyDict_GetItemWithError(PyTuple_GetItem(value, 1), PyTuple_GetItem(key, 0))
                        : NULL;
    same = unchanged(now, now ? PyTuple_GetItem(value, 0) : NULL) && PyDict_Size(used) == size;
    Py_DecRef(key);
    Py_DecRef(value);
  }
  Py_DecRef(used);
  return same;
}

int uses_buffer_operations(PyObject *group) {
  PyObject *knob = PyObject_GetAttr(group, names.use_buffer_ops);
  int truth = knob ? PyObject_IsTrue(knob) : -1;
  Py_DecRef(knob);
  return truth;
}

int current_stream(PyObject *driver, PyObject **device, PyObject **stream) {
  *device = call_method(driver, names.get_current_device);
  *stream = *device ? PyObject_CallMethodObjArgs(driver, names.get_current_stream, *device, NULL) : NULL;
  return *stream && Py_TYPE(*device) == &PyLong_Type && Py_TYPE(*stream) == &PyLong_Type;
}

void drop_error_of_looking(void) {
  PyObject *const of_looking[] = {PyExc_AttributeError, PyExc_TypeError, PyExc_OverflowError, PyExc_SystemError};
  for (size_t i = 0; PyErr_Occurred() && i < sizeof of_looking / sizeof *of_looking; ++i)
    if (PyErr_ExceptionMatches(of_looking[i]))
      PyErr_Clear();
}
