#include "entry.h"

#include "names.h"

#include <string.h>

enum { OWNED = 11 };

static void list_owned(const Entry *entry, PyObject **owned) {
  PyObject *const all[OWNED] = {entry->kept,   entry->kernel,   entry->launcher, entry->call,      entry->launch, entry->key,
                                entry->device, entry->defaults, entry->watched,  entry->expanders, entry->scratch};
  memcpy(owned, all, sizeof all);
}

Entry *make_entry(const Call *call, PyObject *recipe) {
  Entry made = {.word_count = call->tokens.count};
  Settings *settings = &made.settings;
  unsigned long long function;
  PyObject *owned[OWNED];
  if (!PyArg_ParseTuple(recipe, "OOOOOO(Kppiii)OOOOO", &made.kernel, &made.launcher, &made.call, &made.launch, &made.key,
                        &made.device, &function, &settings->cooperative, &settings->dependent, &settings->warps, &settings->cluster,
                        &settings->shared, &made.defaults, &made.kept, &made.watched, &made.expanders, &made.scratch))
    return NULL;
  settings->function = function;
  made.program = program_of(made.launch);
  if (!made.program)
    return NULL;
  if (made.program->argument_count > MAX_ARGUMENTS) {
    PyErr_Format(PyExc_ValueError, "more than %d arguments", MAX_ARGUMENTS);
    return NULL;
  }
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
  int same = called == call;
  for (Py_ssize_t i = 0; same && i + 2 < PyTuple_Size(watched); i += 3)
    same = PyDict_GetItemWithError(PyTuple_GetItem(watched, i), PyTuple_GetItem(watched, i + 1)) == PyTuple_GetItem(watched, i + 2);
  if (!same)
    PyErr_Clear();
  return same;
}

void free_entry(Entry *entry) {
  PyObject *owned[OWNED];
  list_owned(entry, owned);
  PyMem_Free(entry);
  for (int i = 0; i < OWNED; ++i)
    Py_DecRef(owned[i]);
}
