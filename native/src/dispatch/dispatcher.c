#include "dispatch/dispatcher.h"

#include <string.h>

/* Found by the address of the binder, which a dispatcher here holds: no other one has that address. */
#define RECENT 64
static Dispatcher *recent[RECENT];

static Dispatcher **place_of(const PyObject *binder) { return &recent[(uintptr_t)binder / 16 % RECENT]; }

Dispatcher *recent_dispatcher(PyObject *binder) {
  Dispatcher *found = *place_of(binder);
  return found && found->binder == binder ? found : NULL;
}

/* Copies and pickles of what holds a dispatcher have none of their own yet. */
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
  VISIT(dispatcher->binder)
  VISIT(dispatcher->defaults)
  VISIT(dispatcher->taken)
  VISIT(dispatcher->known.classify)
  VISIT(dispatcher->known.stored_type)
  for (int i = 0; i < dispatcher->known.count; ++i)
    VISIT(dispatcher->known.types[i])
  for (int i = 0; i < dispatcher->entry_count; ++i)
    if ((result = visit_entry(dispatcher->entries[i], visit, argument)) != 0)
      return result;
  return 0;
}

/* Calls under way hold the dispatcher: what they still look at stays in place. */
static int clear(PyObject *self) {
  Dispatcher *dispatcher = (Dispatcher *)self;
  while (dispatcher->entry_count > 0)
    release_entry(dispatcher->entries[--dispatcher->entry_count]);
  while (dispatcher->known.count > 0)
    Py_DecRef(dispatcher->known.types[--dispatcher->known.count]);
  PyObject *binder = dispatcher->binder;
  if (*place_of(binder) == dispatcher)
    *place_of(binder) = NULL;
  dispatcher->binder = NULL;
  Py_DecRef(binder);
  return 0;
}

static void deallocate(PyObject *self) {
  Dispatcher *dispatcher = (Dispatcher *)self;
  PyObject *type = (PyObject *)Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  PyObject *owned[] = {dispatcher->parameters, dispatcher->taken, dispatcher->defaults, dispatcher->known.classify,
                       dispatcher->known.stored_type};
  PyObject_GC_Del(self);
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i)
    Py_DecRef(owned[i]);
  Py_DecRef(type);
}

PyObject *dispatcher_type(void) {
  static PyMethodDef methods[] = {
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

static Parameter parameter_of(const char *letters) {
  return (Parameter){
      .constant = letters[0] == 'C',
      .has_default = letters[1] == 'D',
      .questions = letters[0] == 'N' ? ASK_NOTHING : letters[0] == 'T' ? ASK_TYPE : ASK_ALL,
  };
}

PyObject *make_dispatcher(PyObject *type, PyObject *description) {
  PyObject *binder, *parameters, *taken, *defaults, *classify, *stored;
  const char *letters;
  if (!PyArg_ParseTuple(description, "OOOsOOO", &binder, &parameters, &taken, &letters, &defaults, &classify, &stored))
    return NULL;
  Py_ssize_t count = PyTuple_Size(parameters);
  if (count < 0 || count > MAX_VALUES || 2 * (size_t)count != strlen(letters) || PyTuple_Size(defaults) != count) {
    PyErr_Clear();
    return PyErr_Format(PyExc_ValueError, "no list of up to %d parameters", MAX_VALUES);
  }
  Dispatcher *dispatcher = (Dispatcher *)_PyObject_GC_New((PyTypeObject *)type);
  if (!dispatcher)
    return NULL;
  memset((char *)dispatcher + sizeof(PyObject), 0, sizeof *dispatcher - sizeof(PyObject));
  dispatcher->binder = new_reference(binder);
  dispatcher->parameters = new_reference(parameters);
  dispatcher->taken = new_reference(taken);
  dispatcher->defaults = new_reference(defaults);
  dispatcher->parameter_count = (int)count;
  dispatcher->known.classify = new_reference(classify);
  dispatcher->known.stored_type = stored == Py_None ? NULL : new_reference(stored);
  for (Py_ssize_t i = 0; i < count; ++i)
    dispatcher->kinds[i] = parameter_of(letters + 2 * i);
  *place_of(binder) = dispatcher;
  PyObject_GC_Track(dispatcher);
  return (PyObject *)dispatcher;
}

int find_entry(const Dispatcher *dispatcher, const Fingerprint *fingerprint) {
  size_t size = (size_t)fingerprint->count * sizeof *fingerprint->words;
  int i = 0;
  for (; i < dispatcher->entry_count; ++i) {
    const Entry *entry = dispatcher->entries[i];
    if (entry->word_count == fingerprint->count && memcmp(entry->words, fingerprint->words, size) == 0)
      break;
  }
  return i;
}

void add_entry(Dispatcher *dispatcher, Entry *entry, int place) {
  if (place == MAX_ENTRIES) {
    place = dispatcher->oldest;
    dispatcher->oldest = (dispatcher->oldest + 1) % MAX_ENTRIES;
  }
  if (place == dispatcher->entry_count) {
    dispatcher->entries[dispatcher->entry_count++] = entry;
    return;
  }
  Entry *before = dispatcher->entries[place];
  dispatcher->entries[place] = entry;
  release_entry(before);
}

/* From the end on, as the last entry takes the place of one that goes. Looking up a key may run Python code, which may do the same. */
void drop_uncached(Dispatcher *dispatcher, PyObject *caches) {
  for (int i = dispatcher->entry_count - 1; i >= 0; --i) {
    Entry *entry = i < dispatcher->entry_count ? dispatcher->entries[i] : NULL;
    if (!entry)
      continue;
    entry->holders += 1;
    if (!is_cached(entry, caches) && !PyErr_Occurred())
      drop_entry(dispatcher, entry);
    release_entry(entry);
    if (PyErr_Occurred())
      return;
  }
}

void drop_entry(Dispatcher *dispatcher, const Entry *entry) {
  for (int i = 0; i < dispatcher->entry_count; ++i) {
    Entry *dropped = dispatcher->entries[i];
    if (dropped != entry)
      continue;
    dispatcher->entries[i] = dispatcher->entries[--dispatcher->entry_count];
    release_entry(dropped);
    return;
  }
}
