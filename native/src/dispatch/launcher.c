#include "dispatch/launcher.h"

#include "dispatch/answers.h"
#include "dispatch/dispatch.h"
#include "python/state.h"

#include <string.h>

int learn_environment(Launcher *launcher) {
  PyObject *guarded, *driver, *knobs, *source = PyObject_CallFunctionObjArgs(launcher->owned[ENVIRONMENT], NULL);
  int first;
  if (source && !PyTuple_Check(source)) {
    Py_DecRef(source);
    return 0;
  }
  if (!source || !PyArg_ParseTuple(source, "OiOO", &guarded, &first, &driver, &knobs) ||
      !PyDict_Check(driver) || !PyDict_Check(knobs) || !watch(&launcher->environment, guarded)) {
    if (source)
      PyErr_Clear();
    Py_DecRef(source);
    return 0;
  }
  PyObject *before = launcher->source;
  launcher->source = source;
  launcher->first_after_grid = first >= 0 && first <= launcher->environment.attribute_count ? first : 0;
  launcher->driver = driver;
  launcher->knobs = knobs;
  launcher->patience = (Patience){0};
  Py_DecRef(before);
  return 1;
}

int environment_holds(Launcher *launcher) {
  const Guarded *environment = &launcher->environment;
  return is_as_guarded(environment, 0, launcher->first_after_grid) ||
         (try_again(&launcher->patience, difference(environment)) && learn_environment(launcher));
}

/* A class that is new takes the place of the one that came longest ago. */
static FunctionType *find_type(Launcher *launcher, PyObject *type) {
  for (int i = 0; i < MAX_FUNCTION_TYPES; ++i)
    if (launcher->types[i].type == type)
      return &launcher->types[i];
  FunctionType *place = &launcher->types[launcher->next_type++ % MAX_FUNCTION_TYPES];
  PyObject *before = place->type, *source = place->guarded.source;
  *place = (FunctionType){.type = new_reference(type)};
  Py_DecRef(before);
  Py_DecRef(source);
  return place->type == type ? place : NULL;
}

/* Looks at a class, which runs Python code: meanwhile another class may have taken its place. */
static int learn_type(Launcher *launcher, PyObject *type) {
  Guarded guarded = {0};
  PyObject *source = PyObject_CallFunctionObjArgs(launcher->owned[GUARDS_OK], type, NULL);
  int guards_ok = source && watch(&guarded, source);
  if (source && !guards_ok)
    PyErr_Clear();
  Py_DecRef(source);
  FunctionType *found = guards_ok ? find_type(launcher, type) : NULL;
  PyObject *before = guarded.source;
  if (found) {
    before = found->guarded.source;
    found->guarded = guarded;
    found->patience = (Patience){0};
  }
  Py_DecRef(before);
  return found != NULL;
}

int type_is_unpatched(Launcher *launcher, PyObject *function) {
  PyObject *type = (PyObject *)Py_TYPE(function);
  FunctionType *found = find_type(launcher, type);
  if (!found || is_as_guarded(&found->guarded, 0, 0))
    return found != NULL;
  return try_again(&found->patience, difference(&found->guarded)) && learn_type(launcher, type);
}

static int traverse(PyObject *self, visitproc visit, void *argument) {
  Launcher *launcher = (Launcher *)self;
  int result = visit((PyObject *)Py_TYPE(self), argument);
  for (int i = 0; result == 0 && i < OWNED; ++i)
    result = launcher->owned[i] ? visit(launcher->owned[i], argument) : 0;
  if (result == 0 && launcher->source)
    result = visit(launcher->source, argument);
  for (int i = 0; result == 0 && i < MAX_FUNCTION_TYPES; ++i) {
    result = launcher->types[i].type ? visit(launcher->types[i].type, argument) : 0;
    if (result == 0 && launcher->types[i].guarded.source)
      result = visit(launcher->types[i].guarded.source, argument);
  }
  return result == 0 && launcher->environment.source ? visit(launcher->environment.source, argument) : result;
}

static void deallocate(PyObject *self) {
  Launcher *launcher = (Launcher *)self;
  PyObject *type = (PyObject *)Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  for (int i = 0; i < OWNED; ++i)
    Py_DecRef(launcher->owned[i]);
  for (int i = 0; i < MAX_FUNCTION_TYPES; ++i) {
    Py_DecRef(launcher->types[i].type);
    Py_DecRef(launcher->types[i].guarded.source);
  }
  Py_DecRef(launcher->source);
  Py_DecRef(launcher->environment.source);
  PyMem_Free(launcher->spare);
  PyObject_GC_Del(self);
  Py_DecRef(type);
}

PyObject *launcher_type(void) {
  static PyMethodDef methods[] = {
      {"launch", (PyCFunction)(void (*)(void))launch_function, METH_FASTCALL,
       "launch(function, grid, arguments, keywords): the kernel that was launched, None where the base has to"},
      {"answers", (PyCFunction)(void (*)(void))take_answers, METH_FASTCALL,
       "answers(function, grid): device and stream that the driver gave for the launch which was left to the base just now, or None"},
      {NULL, NULL, 0, NULL},
  };
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, (void *)deallocate},
      {Py_tp_traverse, (void *)traverse},
      {Py_tp_methods, methods},
      {0, NULL},
  };
  static PyType_Spec specification = {
      .name = "triton._C.fork_native.Launcher",
      .basicsize = sizeof(Launcher),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
      .slots = slots,
  };
  return PyType_FromSpec(&specification);
}

PyObject *make_launcher(PyObject *module, PyObject *arguments) {
  const ModuleState *state = PyModule_GetState(module);
  PyObject *o[OWNED];
  if (!PyArg_ParseTuple(arguments, "OOOOOOO", &o[ENVIRONMENT], &o[GUARDS_OK], &o[DESCRIBE], &o[SPECIFY], &o[FINISH],
                        &o[TYPE_OF_CACHES], &o[TYPE_OF_FUNCTIONS]))
    return NULL;
  o[DISPATCHER_TYPE] = state->dispatcher_type;
  Launcher *launcher = (Launcher *)_PyObject_GC_New((PyTypeObject *)state->launcher_type);
  if (!launcher)
    return NULL;
  memset((char *)launcher + sizeof(PyObject), 0, sizeof *launcher - sizeof(PyObject));
  for (int i = 0; i < OWNED; ++i)
    launcher->owned[i] = new_reference(o[i]);
  PyObject_GC_Track(launcher);
  return (PyObject *)launcher;
}
