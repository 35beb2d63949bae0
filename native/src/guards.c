#include "guards.h"

#include "names.h"
#include "values.h"

/* Tells whether an attribute is false; an error counts as no. */
static int is_false(PyObject *object, PyObject *name) {
  PyObject *value = object ? PyObject_GetAttr(object, name) : NULL;
  int truth = value ? PyObject_IsTrue(value) : 1;
  Py_DecRef(value);
  return truth == 0;
}

/* None, or a chain of hooks without any: calling that does nothing. */
static int no_hook(const Guards *guards, PyObject *runtime, PyObject *name) {
  PyObject *hook = PyObject_GetAttr(runtime, name);
  int none = hook == Py_None;
  if (hook && !none && (PyObject *)Py_TYPE(hook) == guards->hook_chain)
    none = is_false(hook, names.calls);
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

static int globals_unchanged(const Guards *guards) {
  PyObject *used = PyObject_GetAttr(guards->function, names.used_global_vals);
  Py_ssize_t position = 0, size = used ? PyDict_Size(used) : -1;
  PyObject *key, *value;
  int same = size >= 0;
  /* Comparing may run Python code: what it changes in the dictionary ends the fast path. */
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

static int knobs_usual(const Guards *guards) {
  PyObject *runtime = PyDict_GetItemWithError(guards->knobs, names.runtime);
  PyObject *compilation = PyDict_GetItemWithError(guards->knobs, names.compilation);
  if (!runtime || !compilation)
    return 0;
  Py_IncRef(runtime);
  Py_IncRef(compilation);
  int usual = is_false(runtime, names.debug) && is_false(compilation, names.instrumentation_mode) &&
              no_hook(guards, runtime, names.launch_enter_hook) && no_hook(guards, runtime, names.launch_exit_hook);
  Py_DecRef(runtime);
  Py_DecRef(compilation);
  return usual;
}

static int run_is_original(const Guards *guards) {
  PyObject *run = PyObject_GetAttr((PyObject *)Py_TYPE(guards->function), names.run);
  Py_DecRef(run);
  return run == guards->run;
}

int guards_hold(const Guards *guards) {
  int usual = knobs_usual(guards) && run_is_original(guards) && is_false(guards->function, names.debug) &&
              is_false(guards->function, names.pre_run_hooks) && globals_unchanged(guards);
  if (!usual)
    PyErr_Clear();
  return usual;
}

int current_stream(const Guards *guards, PyObject **device, uint64_t *stream) {
  PyObject *active = PyObject_GetAttr(guards->driver, names._active);
  PyObject *answer = NULL;
  *device = NULL;
  if (active && active != Py_None)
    *device = PyObject_CallMethodObjArgs(active, names.get_current_device, NULL);
  if (*device && Py_TYPE(*device) == &PyLong_Type)
    answer = PyObject_CallMethodObjArgs(active, names.get_current_stream, *device, NULL);
  int plain = answer && Py_TYPE(answer) == &PyLong_Type && read_word(answer, 4, stream);
  Py_DecRef(active);
  Py_DecRef(answer);
  if (!plain) {
    PyErr_Clear();
    Py_DecRef(*device);
    *device = NULL;
  }
  return plain;
}

int still_cached(const Guards *guards, PyObject *device, PyObject *key, PyObject *kernel) {
  PyObject *caches = PyObject_GetAttr(guards->function, names.device_caches);
  PyObject *own = caches ? PyDict_GetItemWithError(caches, device) : NULL;
  PyObject *kernels = own && PyTuple_Check(own) && PyTuple_Size(own) > 0 ? PyTuple_GetItem(own, 0) : NULL;
  int found = kernels && PyDict_GetItemWithError(kernels, key) == kernel;
  Py_DecRef(caches);
  if (!found)
    PyErr_Clear();
  return found;
}
