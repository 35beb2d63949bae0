#include "dispatch.h"

#include "call.h"
#include "dispatcher.h"
#include "names.h"

#include <string.h>

/* Returns the number of entries where there is none. */
static int find_entry(const Dispatcher *dispatcher, const Call *call, PyObject *device) {
  size_t size = (size_t)call->word_count * sizeof *call->words;
  int i = 0;
  for (; i < dispatcher->entry_count; ++i) {
    const Entry *entry = dispatcher->entries[i];
    if (entry->word_count == call->word_count && memcmp(entry->words, call->words, size) == 0 &&
        PyLong_AsLongLong(entry->device) == PyLong_AsLongLong(device))
      break;
  }
  return i;
}

/* Launches the kernel of an entry. The result is a new reference to the kernel, or NULL with an exception set. */
static PyObject *launch_entry(const Dispatcher *dispatcher, const Entry *entry, const Call *call, PyObject *grid, uint64_t stream) {
  PyObject *values[MAX_VALUES];
  uint64_t addresses[MAX_VALUES];
  Settings settings = entry->settings;
  settings.stream = stream;
  for (int i = 0; i < dispatcher->parameter_count; ++i) {
    int place = call->places[i];
    values[i] = place >= 0 ? call->values[place] : PyTuple_GetItem(entry->defaults, i);
    addresses[i] = place >= 0 ? call->addresses[place] : NO_ADDRESS;
  }
  /* A grid may run Python code, which may change anything: what is used afterwards is held. */
  PyObject *kernel = new_reference(entry->kernel), *launch = new_reference(entry->launch);
  PyObject *defaults = new_reference(entry->defaults);
  const Program *program = entry->program;
  PyObject *extents = PyCallable_Check(grid) ? call_grid(dispatcher, grid, values) : new_reference(grid);
  int launched = extents && read_grid(extents, &settings) && launch_known(program, &settings, values, addresses);
  Py_DecRef(extents);
  Py_DecRef(defaults);
  Py_DecRef(launch);
  if (launched)
    return kernel;
  Py_DecRef(kernel);
  return NULL;
}

static int launcher_unchanged(const Entry *entry) {
  PyObject *launcher = PyObject_GetAttr(entry->kernel, names._run);
  int same = launcher == entry->launcher;
  Py_DecRef(launcher);
  if (!launcher)
    PyErr_Clear();
  return same;
}

/* Returns 1 where the fast path took the call, with the result; 0 where the base has to. The guards hold. */
static int try_fast(const Dispatcher *dispatcher, Call *call, PyObject *grid, PyObject **result) {
  PyObject *device;
  uint64_t stream;
  if (grid == Py_None || !read_call(dispatcher, call) || !current_stream(&dispatcher->guards, &device, &stream))
    return 0;
  int found = find_entry(dispatcher, call, device);
  const Entry *entry = found < dispatcher->entry_count ? dispatcher->entries[found] : NULL;
  int usable = entry && launcher_unchanged(entry) && still_cached(&dispatcher->guards, device, entry->key, entry->kernel);
  Py_DecRef(device);
  if (usable)
    *result = launch_entry(dispatcher, entry, call, grid, stream);
  return usable;
}

static void learn_types(Dispatcher *dispatcher, PyObject *kept) {
  TensorTypes *known = &dispatcher->tensor_types;
  for (Py_ssize_t i = 0; i < PyTuple_Size(kept); ++i) {
    PyObject *type = PyTuple_GetItem(kept, i);
    int found = known->count == MAX_TENSOR_TYPES;
    for (int j = 0; j < known->count && !found; ++j)
      found = known->types[j] == type;
    if (!found)
      known->types[known->count++] = new_reference(type);
  }
}

/* Remembers what the base chose, in place of what it chose before if the kernel is another one by now. The recipe ends in the types of the tensors among the arguments. */
static void remember(Dispatcher *dispatcher, Call *call, PyObject *recipe) {
  if (recipe == Py_None)
    return;
  Py_ssize_t last = PyTuple_Size(recipe) - 1;
  PyObject *types = last >= 0 ? PyTuple_GetItem(recipe, last) : NULL;
  if (!types || !PyTuple_Check(types)) {
    PyErr_Clear();
    return;
  }
  learn_types(dispatcher, types);
  if (!read_call(dispatcher, call))
    return;
  Entry *entry = make_entry(call, recipe);
  int place = entry ? find_entry(dispatcher, call, entry->device) : MAX_ENTRIES;
  if (place < MAX_ENTRIES) {
    Entry *before = place < dispatcher->entry_count ? dispatcher->entries[place] : NULL;
    dispatcher->entries[place] = entry;
    if (before)
      free_entry(before);
    else
      dispatcher->entry_count += 1;
  } else if (entry) {
    free_entry(entry);
  } else {
    PyErr_Clear(); /* the launch was done: nothing to remember is no reason to fail it */
  }
}

/* `usual` tells that the guards held before: what the base chooses while they do not is not what it chooses when they do. */
static PyObject *go_slow(Dispatcher *dispatcher, Call *call, PyObject *grid, int usual) {
  PyObject *arguments = arguments_of(call), *keywords = arguments ? keywords_of(call) : NULL;
  PyObject *answer = NULL, *kernel = NULL;
  dispatcher->slow_in_a_row += 1;
  if (keywords)
    answer = PyObject_CallFunctionObjArgs(dispatcher->slow, dispatcher->guards.function, grid, arguments, keywords, NULL);
  PyObject *recipe;
  if (answer && PyArg_ParseTuple(answer, "OO", &kernel, &recipe)) {
    Py_IncRef(kernel);
    if (usual && guards_hold(&dispatcher->guards))
      remember(dispatcher, call, recipe);
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
  return go_slow(dispatcher, &call, grid, usual);
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
