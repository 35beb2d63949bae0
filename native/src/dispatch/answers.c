#include "dispatch/answers.h"

static _Thread_local struct {
  PyObject *function, *grid, *device, *stream;
} answered;

void forget_answers(void) {
  if (!answered.function)
    return;
  PyObject *const held[] = {answered.function, answered.grid, answered.device, answered.stream};
  answered.function = answered.grid = answered.device = answered.stream = NULL;
  for (size_t i = 0; i < sizeof held / sizeof *held; ++i)
    Py_DecRef(held[i]);
}

void keep_answers(PyObject *function, PyObject *grid, PyObject *device, PyObject *stream) {
  answered.function = new_reference(function);
  answered.grid = new_reference(grid);
  answered.device = new_reference(device);
  answered.stream = new_reference(stream);
}

PyObject *take_answers(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  (void)self;
  if (count != 2)
    return PyErr_Format(PyExc_TypeError, "answers takes a function and a grid");
  int fits = answered.stream && answered.function == arguments[0] && answered.grid == arguments[1];
  PyObject *answers = fits ? PyTuple_Pack(2, answered.device, answered.stream) : new_reference(Py_None);
  forget_answers();
  return answers;
}
