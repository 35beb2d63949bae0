#include "launch/launch.h"

#include "pack/values.h"

int read_arguments(Packer *packer, PyObject *const *arguments) {
  int first = packer->program->vendor->base_arguments;
  for (int i = 0; i < packer->program->argument_count; ++i)
    if (!read_argument(packer, arguments[i], first + i + 1))
      return 0;
  return 1;
}

void add_scratch(Packer *packer, Settings *settings) {
  packer->parameters[packer->parameter_count] = &settings->global_scratch;
  packer->parameters[packer->parameter_count + 1] = &settings->profile_scratch;
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
  Packer packer;
  int launched = 0;
  if (enter(&packer, program)) {
    launched = program->vendor->run(&packer, arguments);
    leave(&packer);
  }
  return launched ? new_reference(Py_None) : NULL;
}

int launch_known(const Program *program, Settings *settings, const Arguments *arguments, PyObject *scratch, Packer *packer) {
  int first = program->vendor->base_arguments;
  if (arguments->count != program->argument_count || arguments->count > MAX_ARGUMENTS) {
    PyErr_Format(PyExc_TypeError, "function takes exactly %d arguments (%d given)", first + program->argument_count,
                 first + arguments->count);
    return 0;
  }
  if (!program->vendor->begin() || !enter(packer, program))
    return 0;
  int valid = 1;
  for (int i = 0; valid && i < program->argument_count; ++i)
    valid = read_argument(packer, arguments->values[i], first + i + 1);
  settings->profile_scratch = 0;
  valid = valid && read_pointer(program->vendor, scratch, -1, &settings->global_scratch) && read_late(packer) &&
          program->vendor->submit(packer, settings);
  leave(packer);
  return valid;
}
