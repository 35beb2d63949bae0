#include "pack/program.h"

#include "driver/hip_driver.h"
#include "python/state.h"

#include <string.h>

#define MAX_STEPS 65536
#define MAX_DEPTH 16

typedef struct {
  PyObject base;
  Program *program;
} ProgramObject;

static void deallocate(PyObject *self) {
  PyObject *type = (PyObject *)Py_TYPE(self);
  Program *program = ((ProgramObject *)self)->program;
  if (program)
    Py_DecRef(program->descriptor_type);
  PyMem_Free(program);
  PyObject_Free(self);
  Py_DecRef(type);
}

/* Types of one program's reload and another's differ, what frees them does not. */
const Program *program_of(PyObject *self) {
  if (PyType_GetSlot(Py_TYPE(self), Py_tp_dealloc) == (void *)deallocate)
    return ((ProgramObject *)self)->program;
  PyErr_SetString(PyExc_TypeError, "no packing program");
  return NULL;
}

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

static Program *new_program(const Vendor *vendor, const char *text, PyObject *descriptor_type, int warp_size) {
  size_t length = strlen(text);
  if (length > MAX_STEPS) {
    PyErr_Format(PyExc_ValueError, "a signature with %zu steps", length);
    return NULL;
  }
  Program *program = PyMem_Calloc(1, sizeof *program + (length + 1) * sizeof(Step));
  if (!program) {
    PyErr_NoMemory();
    return NULL;
  }
  program->vendor = vendor;
  program->warp_size = warp_size;
  if (!compile(text, program)) {
    PyMem_Free(program);
    PyErr_Format(PyExc_ValueError, "no signature: '%.200s'", text);
    return NULL;
  }
  program->descriptor_type = new_reference(descriptor_type);
  return program;
}

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  (void)keywords;
  const char *vendor, *text;
  PyObject *descriptor_type;
  int warp_size;
  if (!PyArg_ParseTuple(arguments, "ssOi", &vendor, &text, &descriptor_type, &warp_size))
    return NULL;
  int hip = strcmp(vendor, "hip") == 0;
  if (!hip && strcmp(vendor, "cuda") != 0)
    return PyErr_Format(PyExc_ValueError, "no vendor: '%.20s'", vendor);
  if (hip && !hip_load_launching())
    return NULL;
  const ModuleState *state = PyType_GetModuleState(type);
  if (!state)
    return NULL;
  PyObject *own_type = hip ? state->tdm_descriptor_type : state->tensor_map_type;
  /* Descriptors are looked into: only those of this module have what is looked for. */
  if (descriptor_type == Py_None || !strchr(text, STEP_DESCRIPTOR))
    descriptor_type = own_type;
  else if (descriptor_type != own_type)
    return PyErr_Format(PyExc_ValueError, "no type of descriptors of this module");
  Program *program = new_program(hip ? &hip_vendor : &cuda_vendor, text, descriptor_type, warp_size);
  PyObject *self = program ? PyType_GenericAlloc(type, 0) : NULL;
  if (self)
    ((ProgramObject *)self)->program = program;
  else if (program) {
    Py_DecRef(descriptor_type);
    PyMem_Free(program);
  }
  return self;
}

/* A compiled kernel that was launched can be pickled with the base's launcher, and so with this one. */
static PyObject *reduce(PyObject *self, PyObject *arguments) {
  (void)arguments;
  const Program *program = ((ProgramObject *)self)->program;
  char *text = PyMem_Calloc(1, (size_t)program->step_count + 1);
  if (!text)
    return PyErr_NoMemory();
  for (int i = 0; i < program->step_count; ++i)
    text[i] = program->steps[i].kind;
  PyObject *result = Py_BuildValue("(O(ssOi))", (PyObject *)Py_TYPE(self), program->vendor == &hip_vendor ? "hip" : "cuda", text,
                                   Py_None, program->warp_size);
  PyMem_Free(text);
  return result;
}

PyObject *program_type(PyObject *module, PyMethodDef launch) {
  static PyMethodDef methods[] = {
      {NULL, NULL, 0, NULL}, /* launch */
      {"__reduce__", reduce, METH_VARARGS, "The arguments that make such a program"},
      {NULL, NULL, 0, NULL},
  };
  methods[0] = launch;
  static PyType_Slot slots[] = {
      {Py_tp_new, (void *)create},
      {Py_tp_dealloc, (void *)deallocate},
      {Py_tp_methods, methods},
      {Py_tp_doc, "Program(vendor, text, type of descriptors or None, warp size): how the arguments of a signature are packed"},
      {0, NULL},
  };
  static PyType_Spec specification = {
      .name = "triton._C.fork_native.Program",
      .basicsize = sizeof(ProgramObject),
      .flags = Py_TPFLAGS_DEFAULT,
      .slots = slots,
  };
  return PyType_FromModuleAndSpec(module, &specification, NULL);
}
