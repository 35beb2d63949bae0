#include "entry.h"

#include "names.h"

#include <string.h>

enum { OWNED = 11 };

static void list_owned(const Entry *entry, PyObject **owned) {
  PyObject *const all[OWNED] = {entry->kept,   entry->kernel,   entry->launcher, entry->call,      entry->launch, entry->key,
                                entry->device, entry->defaults, entry->watched,  entry->expanders, entry->scratch};
  memcpy(owned, all, sizeof all);
}

static int has_size(PyObject *tuple, Py_ssize_t size) { return PyTuple_Check(tuple) && PyTuple_Size(tuple) == size; }

/* Everything that is looked into later is there. */
static int is_whole(const Entry *made, int parameter_count) {
  if (!made->program)
    return 0;
  int whole = made->program->argument_count <= MAX_ARGUMENTS && has_size(made->defaults, parameter_count) &&
              has_size(made->expanders, parameter_count) && PyTuple_Check(made->watched) &&
              (made->scratch == Py_None || has_size(made->scratch, 3)) && PyLong_Check(made->device);
  if (!whole)
    PyErr_SetString(PyExc_ValueError, "the recipe does not fit the function");
  return whole && (PyLong_AsLongLong(made->device) != -1 || !PyErr_Occurred());
}

Entry *make_entry(const Call *call, int parameter_count, PyObject *recipe) {
  Entry made = {.holders = 1, .word_count = call->tokens.count};
  Settings *settings = &made.settings;
  unsigned long long function;
  PyObject *owned[OWNED];
  if (!PyArg_ParseTuple(recipe, "OOOOOO(Kppiii)OOOOO", &made.kernel, &made.launcher, &made.call, &made.launch, &made.key,
                        &made.device, &function, &settings->cooperative, &settings->dependent, &settings->warps, &settings->cluster,
                        &settings->shared, &made.defaults, &made.kept, &made.watched, &made.expanders, &made.scratch))
    return NULL;
  settings->function = function;
  made.program = program_of(made.launch);
  if (!is_whole(&made, parameter_count))
    return NULL;
  size_t size = (size_t)call->tokens.count * sizeof *call->tokens.words;
  Entry *entry = PyMem_Malloc(sizeof *entry + size);
  if (!entry) {
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(entry, &made, sizeof *entry);
  memcpy(entry->words, call->tokens.words, size);
  list_owned(entry, owned);
  for (int i = 0; i < OWNED; ++i)
    Py_IncRef(owned[i]);
  return entry;
}

int is_unchanged(PyObject *launcher, PyObject *call, PyObject *watched) {
  PyObject *called = PyObject_GetAttr((PyObject *)Py_TYPE(launcher), names.__call__);
  Py_DecRef(called);
  int same = called && called == call;
  for (Py_ssize_t i = 0; same && i + 2 < PyTuple_Size(watched); i += 3) {
    PyObject *now = PyObject_GetAttr(PyTuple_GetItem(watched, i), PyTuple_GetItem(watched, i + 1));
    Py_DecRef(now);
    same = now == PyTuple_GetItem(watched, i + 2);
  }
  return same;
}

void release_entry(Entry *entry) {
  if (--entry->holders > 0)
    return;
  PyObject *owned[OWNED];
  list_owned(entry, owned);
  PyMem_Free(entry);
  for (int i = 0; i < OWNED; ++i)
    Py_DecRef(owned[i]);
}
