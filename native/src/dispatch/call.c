#include "dispatch/call.h"

static int is_bound_by_name(const Dispatcher *dispatcher, Py_ssize_t positional, PyObject *name) {
  for (int i = (int)positional; i < dispatcher->parameter_count; ++i)
    if (PyTuple_GetItem(dispatcher->parameters, i) == name)
      return 1;
  return 0;
}

/* Options of the compiler are constants, all of them. What the base refuses, before it asks an argument anything, is left to it: the
   name of a parameter that has a value already, and those that JITFunction.run takes itself. */
static int options_are_plain(Dispatcher *dispatcher, Py_ssize_t positional, PyObject *keywords) {
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(keywords, &position, &name, &value))
    if (!is_bound_by_name(dispatcher, positional, name) &&
        (PySet_Contains(dispatcher->taken, name) != 0 || !is_plain(value, 1, &dispatcher->known)))
      return 0;
  return 1;
}

static PyObject *value_by_name(const Dispatcher *dispatcher, PyObject *keywords, int parameter, Binding *binding) {
  PyObject *value = PyDict_GetItemWithError(keywords, PyTuple_GetItem(dispatcher->parameters, parameter));
  if (value)
    binding->named[binding->named_count++] = new_reference(value);
  return value;
}

int bind_call(Dispatcher *dispatcher, PyObject *arguments, PyObject *keywords, Binding *binding) {
  Py_ssize_t positional = PyTuple_Size(arguments), named = PyDict_Size(keywords);
  binding->named_count = 0;
  if (positional > dispatcher->parameter_count)
    return 0;
  for (int i = 0; i < dispatcher->parameter_count; ++i) {
    const Parameter *parameter = &dispatcher->kinds[i];
    PyObject *value = i < positional ? PyTuple_GetItem(arguments, i)
                      : named > 0    ? value_by_name(dispatcher, keywords, i, binding)
                                     : NULL;
    binding->values[i] = value;
    if (value ? !is_plain(value, parameter->constant, &dispatcher->known) : !parameter->has_default)
      return 0;
  }
  return named == 0 || (!PyErr_Occurred() && options_are_plain(dispatcher, positional, keywords));
}

void release_binding(Binding *binding) {
  while (binding->named_count > 0)
    Py_DecRef(binding->named[--binding->named_count]);
}

static int read_options(const Dispatcher *dispatcher, Py_ssize_t positional, PyObject *keywords, Fingerprint *fingerprint) {
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(keywords, &position, &name, &value)) {
    if (is_bound_by_name(dispatcher, positional, name))
      continue;
    if (!add_word(fingerprint, (uint64_t)(uintptr_t)name) || !add_value(value, 1, ASK_ALL, &dispatcher->known, fingerprint))
      return 0;
  }
  return 1;
}

int read_call(const Dispatcher *dispatcher, PyObject *arguments, PyObject *keywords, PyObject *const *values,
              Fingerprint *fingerprint) {
  for (int i = 0; i < dispatcher->parameter_count; ++i) {
    const Parameter *parameter = &dispatcher->kinds[i];
    if (values[i] ? !add_value(values[i], parameter->constant, parameter->questions, &dispatcher->known, fingerprint)
                  : !add_default(fingerprint))
      return 0;
  }
  return PyDict_Size(keywords) == 0 || read_options(dispatcher, PyTuple_Size(arguments), keywords, fingerprint);
}

PyObject *bound_arguments(const Dispatcher *dispatcher, PyObject *const *values) {
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
