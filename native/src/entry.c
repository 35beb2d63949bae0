#include "entry.h"

#include <string.h>

Entry *make_entry(const Call *call, PyObject *recipe) {
  Entry made = {.word_count = call->word_count};
  Settings *settings = &made.settings;
  unsigned long long function;
  PyObject *types;
  if (!PyArg_ParseTuple(recipe, "OOOOOKppiiiOOO", &made.kernel, &made.launcher, &made.launch, &made.key, &made.device, &function,
                        &settings->cooperative, &settings->dependent, &settings->warps, &settings->cluster, &settings->shared,
                        &made.defaults, &made.kept, &types))
    return NULL;
  settings->function = function;
  made.program = program_of(made.launch);
  if (!made.program)
    return NULL;
  size_t size = (size_t)call->word_count * sizeof *call->words;
  Entry *entry = PyMem_Malloc(sizeof *entry + size);
  if (!entry) {
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(entry, &made, sizeof *entry);
  memcpy(entry->words, call->words, size);
  PyObject *owned[] = {entry->kept, entry->kernel, entry->launcher, entry->launch, entry->key, entry->device, entry->defaults};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i)
    Py_IncRef(owned[i]);
  return entry;
}

void free_entry(Entry *entry) {
  PyObject *owned[] = {entry->kept, entry->kernel, entry->launcher, entry->launch, entry->key, entry->device, entry->defaults};
  PyMem_Free(entry);
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i)
    Py_DecRef(owned[i]);
}
