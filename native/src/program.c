#include "program.h"

#include "hip_driver.h"
#include "launch.h"

#include <string.h>

#define MAX_STEPS 65536
#define MAX_DEPTH 16

static const char capsule_name[] = "triton._C.fork_native.program";

static void free_program(Program *program) {
  Py_DecRef(program->descriptor_type);
  PyMem_Free(program);
}

static void destroy(PyObject *capsule) { free_program(PyCapsule_GetPointer(capsule, capsule_name)); }

const Program *program_of(PyObject *self) { return PyCapsule_GetPointer(self, capsule_name); }

/* Counts the items of each tuple. Returns 0 where parentheses do not match or a letter is unknown. */
static int compile(const char *text, Program *program) {
  int open[MAX_DEPTH];
  int depth = 0;
  for (; text[program->step_count]; ++program->step_count) {
    Step *step = &program->steps[program->step_count];
    step->kind = text[program->step_count];
    if (step->kind == STEP_END) {
      if (depth-- == 0)
        return 0;
      continue;
    }
    if (!strchr("PTCbhiLBHIKegfd(", step->kind))
      return 0;
    *(depth ? &program->steps[open[depth - 1]].children : &program->argument_count) += 1;
    if (step->kind == STEP_TUPLE) {
      if (depth == MAX_DEPTH)
        return 0;
      open[depth++] = program->step_count;
      program->tuple_count += 1;
    } else {
      program->leaf_count += 1;
      program->late_count += strchr("PTe", step->kind) != NULL;
    }
  }
  return depth == 0;
}

static PyObject *make_launcher(const Vendor *vendor, const char *text, PyObject *descriptor_type, int warp_size) {
  static PyMethodDef definition = {"launch", (PyCFunction)(void (*)(void))launch, METH_FASTCALL,
                                   "Launch a kernel with the signature that this function was made for"};
  size_t length = strlen(text);
  if (length > MAX_STEPS)
    return PyErr_Format(PyExc_ValueError, "a signature with %zu steps", length);
  Program *program = PyMem_Calloc(1, sizeof *program + (length + 1) * sizeof(Step));
  if (!program)
    return PyErr_NoMemory();
  program->vendor = vendor;
  program->warp_size = warp_size;
  program->descriptor_type = new_reference(descriptor_type);
  int valid = compile(text, program);
  if (!valid)
    PyErr_Format(PyExc_ValueError, "no signature: '%.200s'", text);
  PyObject *capsule = valid ? PyCapsule_New(program, capsule_name, destroy) : NULL;
  if (!capsule) {
    free_program(program);
    return NULL;
  }
  PyObject *function = PyCFunction_NewEx(&definition, capsule, NULL);
  Py_DecRef(capsule);
  return function;
}

PyObject *make_cuda_launcher(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *text;
  PyObject *descriptor_type;
  if (!PyArg_ParseTuple(arguments, "sO", &text, &descriptor_type))
    return NULL;
  return make_launcher(&cuda_vendor, text, descriptor_type, 0);
}

PyObject *make_hip_launcher(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *text;
  PyObject *descriptor_type;
  int warp_size;
  if (!PyArg_ParseTuple(arguments, "sOi", &text, &descriptor_type, &warp_size) || !hip_load_launching())
    return NULL;
  return make_launcher(&hip_vendor, text, descriptor_type, warp_size);
}
