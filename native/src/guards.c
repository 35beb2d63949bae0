#include "guards.h"

#include "cells.h"
#include "names.h"

static int is_empty_text(PyObject *value) { return Py_TYPE(value) == &PyUnicode_Type && PyUnicode_GetLength(value) == 0; }

static int is_false(PyObject *value) { return Py_TYPE(value) == &PyBool_Type && PyObject_IsTrue(value) == 0; }

static int is_empty_list(PyObject *value) { return Py_TYPE(value) == &PyList_Type && PyList_Size(value) == 0; }

static int is_true_of(PyObject *object, PyObject *name, int (*predicate)(PyObject *)) {
  PyObject *value = object ? PyObject_GetAttr(object, name) : NULL;
  int holds = value && predicate(value);
  Py_DecRef(value);
  return holds;
}

/* None, or a chain of hooks without any: calling that does nothing. */
static int no_hook(const Guards *guards, PyObject *runtime, PyObject *name) {
  PyObject *hook = PyObject_GetAttr(runtime, name);
  int none = hook == Py_None;
  if (hook && !none && (PyObject *)Py_TYPE(hook) == guards->hook_chain)
    none = is_true_of(hook, names.calls, is_empty_list);
  Py_DecRef(hook);
  return none;
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
static int globals_unchanged(const Guards *guards) {
  PyObject *used = PyDict_GetItemWithError(guards->attributes, names.used_global_vals);
  Py_IncRef(used);
  Py_ssize_t position = 0, size = used ? PyDict_Size(used) : -1;
  PyObject *key, *value;
  int same = size >= 0;
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

/* Borrows a group of knobs; NULL where there is none. */
static PyObject *knobs_of(const Guards *guards, PyObject *name) { return PyDict_GetItemWithError(guards->knobs, name); }

int no_launch_hooks(const Guards *guards) {
  PyObject *runtime = knobs_of(guards, names.runtime);
  Py_IncRef(runtime);
  int none = runtime && no_hook(guards, runtime, names.launch_enter_hook) && no_hook(guards, runtime, names.launch_exit_hook);
  Py_DecRef(runtime);
  return none;
}

int uses_buffer_operations(const Guards *guards) {
  PyObject *amd = knobs_of(guards, names.amd);
  Py_IncRef(amd);
  PyObject *knob = amd ? PyObject_GetAttr(amd, names.use_buffer_ops) : NULL;
  int truth = knob ? PyObject_IsTrue(knob) : -1;
  Py_DecRef(knob);
  Py_DecRef(amd);
  return truth;
}

/* Both knobs are part of a kernel's key as they are: nothing else that is false will do. */
static int knobs_usual(const Guards *guards) {
  PyObject *runtime = knobs_of(guards, names.runtime), *compilation = knobs_of(guards, names.compilation);
  Py_IncRef(runtime);
  Py_IncRef(compilation);
  int usual = is_true_of(runtime, names.debug, is_false) && is_true_of(compilation, names.instrumentation_mode, is_empty_text);
  Py_DecRef(runtime);
  Py_DecRef(compilation);
  return usual && no_launch_hooks(guards);
}

static int run_is_original(const Guards *guards) {
  PyObject *run = PyObject_GetAttr((PyObject *)Py_TYPE(guards->function), names.run);
  Py_DecRef(run);
  return run == guards->run && !PyDict_GetItemWithError(guards->attributes, names.run) && !PyErr_Occurred();
}

static int function_usual(const Guards *guards) {
  PyObject *debug = PyDict_GetItemWithError(guards->attributes, names.debug);
  PyObject *hooks = PyDict_GetItemWithError(guards->attributes, names.pre_run_hooks);
  return debug && (debug == Py_None || is_false(debug)) && hooks && is_empty_list(hooks);
}

int guards_hold(const Guards *guards) {
  return run_is_original(guards) && function_usual(guards) && knobs_usual(guards) && globals_unchanged(guards) &&
         cells_unchanged(guards->attributes);
}

int current_stream(const Guards *guards, PyObject **device, PyObject **stream) {
  PyObject *active = PyObject_GetAttr(guards->driver, names._active);
  *device = *stream = NULL;
  if (active && active != Py_None)
    *device = PyObject_CallMethodObjArgs(active, names.get_current_device, NULL);
  int plain = *device && Py_TYPE(*device) == &PyLong_Type && (PyLong_AsLongLong(*device) != -1 || !PyErr_Occurred());
  if (plain)
    *stream = PyObject_CallMethodObjArgs(active, names.get_current_stream, *device, NULL);
  Py_DecRef(active);
  if (*stream && Py_TYPE(*stream) == &PyLong_Type)
    return 1;
  Py_DecRef(*device);
  Py_DecRef(*stream);
  *device = *stream = NULL;
  return 0;
}

/* Looking up a key may run Python code, which may empty any of the dictionaries. */
int still_cached(const Guards *guards, PyObject *device, PyObject *key, PyObject *kernel) {
  PyObject *caches = PyDict_GetItemWithError(guards->attributes, names.device_caches);
  Py_IncRef(caches);
  PyObject *own = caches && PyDict_Check(caches) ? PyDict_GetItemWithError(caches, device) : NULL;
  PyObject *kernels = own && PyTuple_Check(own) && PyTuple_Size(own) > 0 ? PyTuple_GetItem(own, 0) : NULL;
  Py_IncRef(kernels);
  int found = kernels && PyDict_GetItemWithError(kernels, key) == kernel;
  Py_DecRef(kernels);
  Py_DecRef(caches);
  return found;
}

/* What looking at a call in another way than the base does may raise by itself. */
static int is_of_looking(void) {
  PyObject *const types[] = {PyExc_AttributeError, PyExc_TypeError, PyExc_OverflowError, PyExc_SystemError};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (PyErr_ExceptionMatches(types[i]))
      return 1;
  return 0;
}

int set_aside(Raised *raised) {
  *raised = (Raised){NULL, NULL, NULL};
  if (!PyErr_Occurred())
    return 1;
  if (!PyErr_ExceptionMatches(PyExc_Exception))
    return 0; /* KeyboardInterrupt and its like wait for nothing */
  if (is_of_looking())
    PyErr_Clear();
  else
    PyErr_Fetch(&raised->type, &raised->value, &raised->traceback);
  return 1;
}

PyObject *raise_late(Raised *raised, PyObject *result) {
  if (result && raised->type) {
    Py_DecRef(result);
    PyErr_Restore(raised->type, raised->value, raised->traceback);
    return NULL;
  }
  Py_DecRef(raised->type);
  Py_DecRef(raised->value);
  Py_DecRef(raised->traceback);
  return result;
}
