#include "dispatcher.h"

#include "dispatch.h"
#include "names.h"
#include "state.h"

#include <stddef.h>
#include <string.h>

/* Copies and pickles of a function have none of their own yet. */
static PyObject *reduce(PyObject *self, PyObject *arguments) {
  (void)self, (void)arguments;
  return Py_BuildValue("(O())", (PyObject *)Py_TYPE(Py_None));
}

#define VISIT(member)                                                                                                            \
  if ((member) && (result = visit((PyObject *)(member), argument)) != 0)                                                         \
    return result;

static int traverse(PyObject *self, visitproc visit, void *argument) {
  Dispatcher *dispatcher = (Dispatcher *)self;
  int result;
  VISIT(Py_TYPE(self))
  VISIT(dispatcher->guards.function)
  VISIT(dispatcher->guards.attributes)
  VISIT(dispatcher->guards.knobs)
  VISIT(dispatcher->guards.driver)
  VISIT(dispatcher->guards.hook_chain)
  VISIT(dispatcher->guards.run)
  VISIT(dispatcher->slow)
  VISIT(dispatcher->finish)
  for (int i = 0; i < dispatcher->entry_count; ++i) {
    VISIT(dispatcher->entries[i]->kernel)
    VISIT(dispatcher->entries[i]->launcher)
    VISIT(dispatcher->entries[i]->defaults)
    VISIT(dispatcher->entries[i]->kept)
    VISIT(dispatcher->entries[i]->watched)
    VISIT(dispatcher->entries[i]->expanders)
    VISIT(dispatcher->entries[i]->scratch)
  }
  for (int i = 0; i < dispatcher->known.count; ++i)
    VISIT(dispatcher->known.types[i])
  return 0;
}

static void forget(Dispatcher *dispatcher) {
  while (dispatcher->entry_count > 0)
    release_entry(dispatcher->entries[--dispatcher->entry_count]);
  while (dispatcher->known.count > 0)
    Py_DecRef(dispatcher->known.types[--dispatcher->known.count]);
}

/* Only what can be part of a cycle: function -> dispatcher -> kernel or type of tensors -> function. */
static int clear(PyObject *self) {
  Dispatcher *dispatcher = (Dispatcher *)self;
  forget(dispatcher);
  dispatcher->slow_in_a_row = MAX_SLOW_IN_A_ROW + 1;
  PyObject *function = dispatcher->guards.function;
  dispatcher->guards.function = new_reference(Py_None);
  Py_DecRef(function);
  return 0;
}

static void deallocate(PyObject *self) {
  Dispatcher *dispatcher = (Dispatcher *)self;
  PyObject *type = (PyObject *)Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  forget(dispatcher);
  PyObject *owned[] = {dispatcher->guards.function, dispatcher->guards.attributes, dispatcher->guards.knobs,
                       dispatcher->guards.driver,   dispatcher->guards.hook_chain, dispatcher->guards.run,
                       dispatcher->slow,            dispatcher->finish,            dispatcher->parameters,
                       dispatcher->known.descriptor_type, dispatcher->known.stored_type};
  PyObject_GC_Del(self);
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i)
    Py_DecRef(owned[i]);
  Py_DecRef(type);
}

PyObject *dispatcher_type(void) {
  static PyMethodDef methods[] = {
      {"bind", (PyCFunction)(void (*)(void))bind, METH_FASTCALL, "bind(function, grid): what kernel[grid] is, or None"},
      {"__reduce__", reduce, METH_VARARGS, "None takes the place of a dispatcher in a copy"},
      {NULL, NULL, 0, NULL},
  };
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, (void *)deallocate},
      {Py_tp_traverse, (void *)traverse},
      {Py_tp_clear, (void *)clear},
      {Py_tp_methods, methods},
      {0, NULL},
  };
  static PyType_Spec specification = {
      .name = "triton._C.fork_native.Dispatcher",
      .basicsize = sizeof(Dispatcher),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
      .slots = slots,
  };
  return PyType_FromSpec(&specification);
}

PyObject *make_dispatcher(PyObject *module, PyObject *arguments) {
  const ModuleState *state = PyModule_GetState(module);
  PyObject *function, *slow, *finish, *parameters, *knobs, *driver, *hook_chain, *run;
  const char *constant;
  if (!PyArg_ParseTuple(arguments, "OOOOs(OOOO)", &function, &slow, &finish, &parameters, &constant, &knobs, &driver,
                        &hook_chain, &run))
    return NULL;
  Py_ssize_t count = PyTuple_Size(parameters);
  if (count < 0 || count > MAX_VALUES || (size_t)count != strlen(constant)) {
    PyErr_Clear();
    return PyErr_Format(PyExc_ValueError, "no list of up to %d parameters", MAX_VALUES);
  }
  PyObject *attributes = PyObject_GetAttr(function, names.__dict__);
  Dispatcher *dispatcher = attributes ? (Dispatcher *)_PyObject_GC_New((PyTypeObject *)state->dispatcher_type) : NULL;
  if (!dispatcher) {
    Py_DecRef(attributes);
    return NULL;
  }
  memset((char *)dispatcher + sizeof(PyObject), 0, sizeof *dispatcher - sizeof(PyObject));
  dispatcher->guards = (Guards){new_reference(function), attributes,                new_reference(knobs),
                                new_reference(driver),   new_reference(hook_chain), new_reference(run)};
  dispatcher->slow = new_reference(slow);
  dispatcher->finish = new_reference(finish);
  dispatcher->parameters = new_reference(parameters);
  dispatcher->parameter_count = (int)count;
  for (Py_ssize_t i = 0; i < count; ++i)
    dispatcher->constant[i] = constant[i] == 'C';
  PyObject_GC_Track(dispatcher);
  return (PyObject *)dispatcher;
}
