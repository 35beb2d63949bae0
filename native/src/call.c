#include "call.h"

#include "values.h"

#include <string.h>

static int parameter_named(const Dispatcher *dispatcher, PyObject *name) {
  for (int i = 0; i < dispatcher->parameter_count; ++i)
    if (PyTuple_GetItem(dispatcher->parameters, i) == name)
      return i;
  return -1;
}

int read_call(const Dispatcher *dispatcher, Call *call) {
  memset(call->places, -1, sizeof call->places);
  call->word_count = 0;
  call->words[call->word_count++] = (uint64_t)call->argument_count;
  for (int i = 0; i < call->value_count; ++i) {
    int parameter = i;
    if (i >= call->argument_count) {
      PyObject *name = PyTuple_GetItem(call->keywords, i - call->argument_count);
      parameter = parameter_named(dispatcher, name);
      call->words[call->word_count++] = (uint64_t)(uintptr_t)name;
    }
    if (parameter >= 0) {
      if (call->places[parameter] >= 0)
        return 0;
      call->places[parameter] = (int8_t)i;
    }
    int constant = parameter < 0 || dispatcher->constant[parameter];
    uint64_t *words = &call->words[call->word_count];
    if (!make_token(call->values[i], constant, &dispatcher->tensor_types, words, &call->addresses[i]))
      return 0;
    call->word_count += TOKEN_WORDS;
  }
  return 1;
}

PyObject *call_grid(const Dispatcher *dispatcher, PyObject *grid, PyObject *const *values) {
  PyObject *bound = PyDict_New();
  for (int i = 0; bound && i < dispatcher->parameter_count; ++i) {
    if (PyDict_SetItem(bound, PyTuple_GetItem(dispatcher->parameters, i), values[i]) < 0) {
      Py_DecRef(bound);
      return NULL;
    }
  }
  PyObject *extents = bound ? PyObject_CallFunctionObjArgs(grid, bound, NULL) : NULL;
  Py_DecRef(bound);
  return extents;
}

int read_grid(PyObject *extents, Settings *settings) {
  Py_ssize_t dimensions = PyObject_Size(extents);
  if (dimensions < 0)
    return 0;
  for (int i = 0; i < 3; ++i) {
    settings->grid[i] = 1;
    if (i > 0 && i >= dimensions)
      continue;
    PyObject *extent = PySequence_GetItem(extents, i);
    int valid = extent && read_int(extent, &settings->grid[i]);
    Py_DecRef(extent);
    if (!valid)
      return 0;
  }
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
