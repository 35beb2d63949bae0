#include "dispatch/entry.h"

#include <string.h>

enum { OWNED = 8 };

static void list_owned(const Entry *entry, PyObject **owned) {
  PyObject *const all[OWNED] = {entry->keepalive, entry->kernel,    entry->launch,  entry->key,
                                entry->caches,    entry->expanders, entry->scratch, entry->guarded.source};
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
    PyErr_SetString(PyExc_ValueError, "the specification does not fit the function");
  return whole;
}

/* NULL with an exception set where the name is missing. */
static PyObject *named(PyObject *specification, const char *name) {
  PyObject *item = PyDict_GetItemString(specification, name);
  if (!item && !PyErr_Occurred())
    PyErr_Format(PyExc_ValueError, "the specification has no '%s'", name);
  return item;
}

/* Takes all out of a specification, without holding it. Returns 0 with an exception set where something does not fit. */
static int read_specification(Entry *made, PyObject *specification, PyObject **guarded) {
  Settings *settings = &made->settings;
  const struct {
    const char *name;
    PyObject **place;
  } objects[] = {{"kernel", &made->kernel},       {"launcher", &made->launch},     {"key", &made->key},
                 {"caches", &made->caches},       {"keepalive", &made->keepalive}, {"guarded", guarded},
                 {"expanders", &made->expanders}, {"scratch", &made->scratch}};
  const struct {
    const char *name;
    int *place;
  } numbers[] = {{"cooperative", &settings->cooperative}, {"dependent", &settings->dependent}, {"warps", &settings->warps},
                 {"cluster", &settings->cluster},         {"shared", &settings->shared}};
  /* Numbers first: what is no number may run Python code, and what the objects are in may lose them. */
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    PyObject *item = named(specification, numbers[i].name);
    Py_IncRef(item);
    *numbers[i].place = item ? (int)PyLong_AsLong(item) : 0;
    Py_DecRef(item);
    if (PyErr_Occurred())
      return 0;
  }
  PyObject *function = named(specification, "function");
  Py_IncRef(function);
  settings->function = function ? PyLong_AsUnsignedLongLong(function) : 0;
  Py_DecRef(function);
  if (PyErr_Occurred())
    return 0;
  for (size_t i = 0; i < sizeof objects / sizeof *objects; ++i)
    if (!(*objects[i].place = named(specification, objects[i].name)))
      return 0;
  return 1;
}

Entry *make_entry(const Fingerprint *fingerprint, int parameter_count, PyObject *specification) {
  Entry made = {.holders = 1, .word_count = fingerprint->count};
  PyObject *owned[OWNED], *guarded;
  if (!read_specification(&made, specification, &guarded))
    return NULL;
  made.program = program_of(made.launch);
  if (!is_whole(&made, parameter_count))
    return NULL;
  size_t size = (size_t)fingerprint->count * sizeof *fingerprint->words;
  Entry *entry = PyMem_Malloc(sizeof *entry + size);
  if (!entry) {
    PyErr_NoMemory();
    return NULL;
  }
  memcpy(entry, &made, sizeof *entry);
  memcpy(entry->words, fingerprint->words, size);
  list_owned(entry, owned);
  for (int i = 0; i < OWNED; ++i)
    Py_IncRef(owned[i]);
  if (watch(&entry->guarded, guarded))
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
