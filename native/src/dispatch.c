#include "dispatch.h"

#include "call.h"
#include "dispatcher.h"
#include "entry_launch.h"

#include <string.h>

/* Returns the number of entries where there is none. */
static int find_entry(const Dispatcher *dispatcher, const Call *call, PyObject *device) {
  size_t size = (size_t)call->tokens.count * sizeof *call->tokens.words;
  int i = 0;
  for (; i < dispatcher->entry_count; ++i) {
    const Entry *entry = dispatcher->entries[i];
    if (entry->word_count == call->tokens.count && memcmp(entry->words, call->tokens.words, size) == 0 &&
        PyLong_AsLongLong(entry->device) == PyLong_AsLongLong(device))
      break;
  }
  return i;
}

/* Returns 1 where the fast path took the call, with the result; 0, maybe with an exception, where the base has to. The guards
   hold. */
static int try_fast(const Dispatcher *dispatcher, Call *call, PyObject *grid, PyObject **result) {
  PyObject *device, *stream;
  if (grid == Py_None || !read_call(dispatcher, call) || !current_stream(&dispatcher->guards, &device, &stream))
    return 0;
  int found = find_entry(dispatcher, call, device);
  int usable = 0;
  if (found < dispatcher->entry_count) {
    Entry *entry = dispatcher->entries[found];
    entry->holders += 1;
    usable = is_unchanged(entry->launcher, entry->call, entry->watched) &&
             still_cached(&dispatcher->guards, device, entry->key, entry->kernel);
    if (usable)
      *result = launch_entry(dispatcher, entry, call, grid, stream);
    release_entry(entry);
  }
  Py_DecRef(device);
  Py_DecRef(stream);
  return usable;
}

static void learn_type(PyObject **known, PyObject *type) {
  if (type != Py_None && !*known)
    *known = new_reference(type);
}

static int learn_types(Dispatcher *dispatcher, PyObject *tensors, PyObject *descriptor, PyObject *stored) {
  KnownTypes *known = &dispatcher->known;
  if (!PyTuple_Check(tensors))
    return 0;
  for (Py_ssize_t i = 0; i < PyTuple_Size(tensors); ++i) {
    PyObject *type = PyTuple_GetItem(tensors, i);
    int found = known->count == MAX_TENSOR_TYPES;
    for (int j = 0; j < known->count && !found; ++j)
      found = known->types[j] == type;
    if (!found)
      known->types[known->count++] = new_reference(type);
  }
  learn_type(&known->descriptor_type, descriptor);
  learn_type(&known->stored_type, stored);
  return 1;
}

/* Remembers what the base chose, in place of what it chose before if the kernel is another one by now. `lesson` is None, or (types
   of the tensors among the arguments, the type of tensor descriptors or None, for HIP the class of tensors that have a storage and
   else None, a recipe for an entry). The launch was done: an exception that is left here is no reason to fail it by itself. */
static void remember(Dispatcher *dispatcher, Call *call, PyObject *lesson) {
  PyObject *tensors, *descriptor, *stored, *recipe;
  if (lesson == Py_None)
    return;
  if (!PyArg_ParseTuple(lesson, "OOOO", &tensors, &descriptor, &stored, &recipe) ||
      !learn_types(dispatcher, tensors, descriptor, stored))
    return;
  Entry *entry = read_call(dispatcher, call) ? make_entry(call, dispatcher->parameter_count, recipe) : NULL;
  int place = entry ? find_entry(dispatcher, call, entry->device) : MAX_ENTRIES;
  if (place < MAX_ENTRIES) {
    Entry *before = place < dispatcher->entry_count ? dispatcher->entries[place] : NULL;
    dispatcher->entries[place] = entry;
    if (before)
      release_entry(before);
    else
      dispatcher->entry_count += 1;
  } else if (entry) {
    release_entry(entry);
  }
}

/* `usual` tells that the guards held before: what the base chooses while they do not is not what it chooses when they do. */
static PyObject *go_slow(Dispatcher *dispatcher, Call *call, PyObject *grid, int usual) {
  PyObject *arguments = arguments_of(call), *keywords = arguments ? keywords_of(call) : NULL;
  PyObject *answer = NULL, *kernel = NULL;
  dispatcher->slow_in_a_row += dispatcher->slow_in_a_row <= MAX_SLOW_IN_A_ROW;
  if (keywords)
    answer = PyObject_CallFunctionObjArgs(dispatcher->slow, dispatcher->guards.function, grid, arguments, keywords, NULL);
  PyObject *lesson;
  if (answer && PyArg_ParseTuple(answer, "OO", &kernel, &lesson)) {
    Py_IncRef(kernel);
    if (usual && guards_hold(&dispatcher->guards))
      remember(dispatcher, call, lesson);
    Raised raised;
    if (set_aside(&raised)) {
      kernel = raise_late(&raised, kernel);
    } else {
      Py_DecRef(kernel);
      kernel = NULL;
    }
  }
  Py_DecRef(answer);
  Py_DecRef(arguments);
  Py_DecRef(keywords);
  return kernel;
}

/* kernel[grid]: the dispatcher and the grid. */
static PyObject *call_bound(PyObject *self, PyObject *const *values, Py_ssize_t count, PyObject *keywords) {
  Dispatcher *dispatcher = (Dispatcher *)PyTuple_GetItem(self, 0);
  PyObject *grid = PyTuple_GetItem(self, 1), *result;
  Call call;
  call.values = values;
  call.keywords = keywords;
  call.argument_count = (int)count;
  call.value_count = (int)(count + (keywords ? PyTuple_Size(keywords) : 0));
  int usual = count <= dispatcher->parameter_count && call.value_count <= MAX_VALUES && guards_hold(&dispatcher->guards);
  if (usual && try_fast(dispatcher, &call, grid, &result)) {
    dispatcher->slow_in_a_row = 0;
    return result;
  }
  Raised raised;
  return set_aside(&raised) ? raise_late(&raised, go_slow(dispatcher, &call, grid, usual)) : NULL;
}

PyObject *bind(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  static PyMethodDef definition = {"launch", (PyCFunction)(void (*)(void))call_bound, METH_FASTCALL | METH_KEYWORDS,
                                   "Launch the kernel on the grid that was given"};
  Dispatcher *dispatcher = (Dispatcher *)self;
  if (count != 2)
    return PyErr_Format(PyExc_TypeError, "bind takes 2 arguments (%zd given)", count);
  /* A copied function has its original's dispatcher. */
  if (arguments[0] != dispatcher->guards.function || dispatcher->slow_in_a_row > MAX_SLOW_IN_A_ROW)
    return new_reference(Py_None);
  PyObject *pair = PyTuple_New(2);
  if (!pair)
    return NULL;
  PyTuple_SetItem(pair, 0, new_reference(self));
  PyTuple_SetItem(pair, 1, new_reference(arguments[1]));
  PyObject *bound = PyCFunction_NewEx(&definition, pair, NULL);
  Py_DecRef(pair);
  return bound;
}
