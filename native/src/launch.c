#include "launch.h"

int read_arguments(Frame *frame, PyObject *const *arguments) {
  int first = frame->program->vendor->base_arguments;
  for (int i = 0; i < frame->program->argument_count; ++i)
    if (!read_argument(frame, arguments[i], first + i + 1))
      return 0;
  return 1;
}

void add_scratch(Frame *frame, Settings *settings) {
  frame->parameters[frame->parameter_count] = &settings->global_scratch;
  frame->parameters[frame->parameter_count + 1] = &settings->profile_scratch;
}

int call_hook(PyObject *hook, PyObject *metadata) {
  if (hook == Py_None)
    return 1;
  PyObject *answer = PyObject_CallFunctionObjArgs(hook, metadata, NULL);
  Py_DecRef(answer);
  return answer != NULL;
}

PyObject *launch(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  const Program *program = program_of(self);
  if (!program || !program->vendor->begin())
    return NULL;
  int expected = program->vendor->base_arguments + program->argument_count;
  if (count != expected)
    return PyErr_Format(PyExc_TypeError, "function takes exactly %d arguments (%zd given)", expected, count);
  Frame frame;
  int launched = 0;
  if (enter(&frame, program)) {
    launched = program->vendor->run(&frame, arguments);
    leave(&frame);
  }
  return launched ? new_reference(Py_None) : NULL;
}

int launch_known(const Program *program, Settings *settings, PyObject *const *values, const uint64_t *addresses) {
  Frame frame;
  if (!program->vendor->begin() || !enter(&frame, program))
    return 0;
  frame.addresses = addresses;
  int launched = read_arguments(&frame, values) && read_late(&frame) && program->vendor->submit(&frame, settings);
  leave(&frame);
  return launched;
}
