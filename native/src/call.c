#include "call.h"

#include <string.h>

static int parameter_named(const Dispatcher *dispatcher, PyObject *name) {
  for (int i = 0; i < dispatcher->parameter_count; ++i)
    if (PyTuple_GetItem(dispatcher->parameters, i) == name)
      return i;
  return -1;
}

int read_call(const Dispatcher *dispatcher, Call *call) {
  memset(call->places, -1, sizeof call->places);
  call->tokens.count = 0;
  call->tokens.with_ranges = dispatcher->known.stored_type ? uses_buffer_operations(&dispatcher->guards) : 0;
  if (call->tokens.with_ranges < 0)
    return 0;
  add_word(&call->tokens, (uint64_t)call->tokens.with_ranges << 32 | (uint64_t)call->argument_count);
  for (int i = 0; i < call->value_count; ++i) {
    int parameter = i;
    if (i >= call->argument_count) {
      PyObject *name = PyTuple_GetItem(call->keywords, i - call->argument_count);
      parameter = parameter_named(dispatcher, name);
      if (!add_word(&call->tokens, (uint64_t)(uintptr_t)name))
        return 0;
    }
    if (parameter >= 0) {
      if (call->places[parameter] >= 0)
        return 0;
      call->places[parameter] = (int8_t)i;
    }
    int constant = parameter < 0 || dispatcher->constant[parameter];
    if (!add_token(call->values[i], constant, &dispatcher->known, &call->tokens, &call->addresses[i]))
      return 0;
  }
  return 1;
}

PyObject *bind_values(const Dispatcher *dispatcher, PyObject *const *values) {
  PyObject *bound = PyDict_New();
  for (int i = 0; bound && i < dispatcher->parameter_count; ++i) {
    if (PyDict_SetItem(bound, PyTuple_GetItem(dispatcher->parameters, i), values[i]) < 0) {
      Py_DecRef(bound);
      return NULL;
    }
  }
  return bound;
}

/* extents[i], whatever has such a thing. */
static PyObject *extent_of(PyObject *extents, Py_ssize_t i) {
  if (Py_TYPE(extents) == &PyTuple_Type)
    return PySequence_GetItem(extents, i);
  PyObject *index = PyLong_FromLong(i);
  PyObject *extent = index ? PyObject_GetItem(extents, index) : NULL;
  Py_DecRef(index);
  return extent;
}

int split_grid(PyObject *extents, PyObject **split) {
  Py_ssize_t dimensions = PyObject_Size(extents);
  if (dimensions < 0)
    return 0;
  for (int i = 0; i < 3; ++i)
    if (!(split[i] = i == 0 || i < dimensions ? extent_of(extents, i) : PyLong_FromLong(1)))
      return 0;
  return 1;
}

PyObject *keywords_of(const Call *call) {
  PyObject *keywords = PyDict_New();
  for (int i = call->argument_count; keywords && i < call->value_count; ++i) {
    if (PyDict_SetItem(keywords, PyTuple_GetItem(call->keywords, i - call->argument_count), call->values[i]) < 0) {
      Py_DecRef(keywords);
      return NULL;
    }
  }
  return keywords;
}

PyObject *arguments_of(const Call *call) {
  PyObject *arguments = PyTuple_New(call->argument_count);
  for (int i = 0; arguments && i < call->argument_count; ++i)
    PyTuple_SetItem(arguments, i, new_reference(call->values[i]));
  return arguments;
}
