#include "entry.h"

#include <string.h>

enum { OWNED = 8 };

static void list_owned(const Entry *entry, PyObject **owned) {
  PyObject *const all[OWNED] = {entry->kept,   entry->kernel,    entry->launch,  entry->key,
                                entry->caches, entry->expanders, entry->scratch, entry->watched.source};
  memcpy(owned, all, sizeof all);
}

static int has_size(PyObject *tuple, Py_ssize_t size) { return PyTuple_Check(tuple) && PyTuple_Size(tuple) == size; }

/* Everything that is looked into later is there. */
static int is_whole(const Entry *made, int parameter_count) {
  if (!made->program)
    return 0;
  int whole = made->program->argument_count <= MAX_ARGUMENTS && has_size(made->expanders, parameter_count) &&
              has_size(made->caches, 5) && PyDict_Check(PyTuple_GetItem(made->caches, 0)) &&
              (made->scratch == Py_None || has_size(made->scratch, 3));
  if (!whole)
    PyErr_SetString(PyExc_ValueError, "the recipe does not fit the function");
  return whole;
}

Entry *make_entry(const Tokens *tokens, int parameter_count, PyObject *recipe) {
  Entry made = {.holders = 1, .word_count = tokens->count};
  Settings *settings = &made.settings;
  unsigned long long function;
  PyObject *owned[OWNED], *watched;
  if (!PyArg_ParseTuple(recipe, "OOOO(Kppiii)OOOO", &made.kernel, &made.launch, &made.key, &made.caches, &function,
                        &settings->cooperative, &settings->dependent, &settings->warps, &settings->cluster, &settings->shared,
                        &made.kept, &watched, &made.expanders, &made.scratch))
    return NULL;
  settings->function = function;
  made.program = program_of(made.launch);
  if (!is_whole(&made, parameter_count))
    return NULL;
  size_t size = (size_t)tokens->count * sizeof *tokens->words;
  Entry *entry = PyMem_Malloc(sizeof *entry + size);
  if (!entry) {
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(entry, &made, sizeof *entry);
  memcpy(entry->words, tokens->words, size);
  list_owned(entry, owned);
  for (int i = 0; i < OWNED; ++i)
    Py_IncRef(owned[i]);
  if (watch(&entry->watched, watched))
    return entry;
  release_entry(entry);
  return NULL;
}

/* Looking up a key may run Python code, which may empty the dictionary. */
int is_cached(const Entry *entry, PyObject *caches) {
  if (caches != entry->caches)
    return 0;
  return PyDict_GetItemWithError(PyTuple_GetItem(caches, 0), entry->key) == entry->kernel;
}

int visit_entry(const Entry *entry, visitproc visit, void *argument) {
  PyObject *owned[OWNED];
  list_owned(entry, owned);
  for (int i = 0; i < OWNED; ++i) {
    int result = owned[i] ? visit(owned[i], argument) : 0;
    if (result != 0)
      return result;
  }
  return 0;
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
