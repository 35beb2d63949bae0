#include "dispatch.h"

#include "entry.h"
#include "guards.h"
#include "names.h"
#include "state.h"
#include "values.h"

#include <stddef.h>
#include <string.h>

#define MAX_ENTRIES 64
/* So many calls in a row that had to go the base's way show that the fast path is of no use to the function. */
#define MAX_SLOW_IN_A_ROW 32

typedef struct {
  PyObject base;
  Guards guards;
  PyObject *slow;
  PyObject *parameters;
  int parameter_count;
  char constant[MAX_VALUES];
  TensorTypes tensor_types;
  Entry *entries[MAX_ENTRIES];
  int entry_count;
  int slow_in_a_row;
} Dispatcher;

static int parameter_named(const Dispatcher *dispatcher, PyObject *name) {
  for (int i = 0; i < dispatcher->parameter_count; ++i)
    if (PyTuple_GetItem(dispatcher->parameters, i) == name)
      return i;
  return -1;
}

/* Looks at the values of a call. Returns 0, without an exception, where one has no token or the binding is not plain. */
static int read_call(const Dispatcher *dispatcher, Call *call) {
  memset(call->places, -1, sizeof call->places);
  call->word_count = 0;
  call->words[call->word_count++] = (uint64_t)call->argument_count;
  for (int i = 0; i < call->value_count; ++i) {
    int parameter = i;
    if (i >= call->argument_count) {
      PyObject *name = PyTuple_GetItem(call->keywords, i - call->argument_count);
      parameter = parameter_named(dispatcher, name);
      call->words[call->word_count++] = (uint64_t)(uintptr_t)name;
    }
    if (parameter >= 0) {
      if (call->places[parameter] >= 0)
        return 0;
      call->places[parameter] = (int8_t)i;
    }
    int constant = parameter < 0 || dispatcher->constant[parameter];
    uint64_t *words = &call->words[call->word_count];
    if (!make_token(call->values[i], constant, &dispatcher->tensor_types, words, &call->addresses[i]))
      return 0;
    call->word_count += TOKEN_WORDS;
  }
  return 1;
}

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

/* Runs a grid that is a function: it gets the values of all parameters by name. */
static PyObject *call_grid(const Dispatcher *dispatcher, PyObject *grid, PyObject *const *values) {
  PyObject *bound = PyDict_New();
  for (int i = 0; bound && i < dispatcher->parameter_count; ++i) {
    if (PyDict_SetItem(bound, PyTuple_GetItem(dispatcher->parameters, i), values[i]) < 0) {
      Py_DecRef(bound);
      return NULL;
    }
  }
  PyObject *extents = bound ? PyObject_CallFunctionObjArgs(grid, bound, NULL) : NULL;
  Py_DecRef(bound);
  return extents;
}

static int read_grid(PyObject *extents, Settings *settings) {
  Py_ssize_t dimensions = PyObject_Size(extents);
  if (dimensions < 0)
    return 0;
  for (int i = 0; i < 3; ++i) {
    settings->grid[i] = 1;
    if (i > 0 && i >= dimensions)
      continue;
    PyObject *extent = PySequence_GetItem(extents, i);
    int valid = extent && read_int(extent, &settings->grid[i]);
    Py_DecRef(extent);
    if (!valid)
      return 0;
  }
  return 1;
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

static PyObject *keywords_of(const Call *call) {
  PyObject *keywords = PyDict_New();
  for (int i = call->argument_count; keywords && i < call->value_count; ++i) {
    if (PyDict_SetItem(keywords, PyTuple_GetItem(call->keywords, i - call->argument_count), call->values[i]) < 0) {
      Py_DecRef(keywords);
      return NULL;
    }
  }
  return keywords;
}

static PyObject *arguments_of(const Call *call) {
  PyObject *arguments = PyTuple_New(call->argument_count);
  for (int i = 0; arguments && i < call->argument_count; ++i)
    PyTuple_SetItem(arguments, i, new_reference(call->values[i]));
  return arguments;
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

static PyObject *bind(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
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
  VISIT(dispatcher->guards.knobs)
  VISIT(dispatcher->guards.driver)
  VISIT(dispatcher->guards.hook_chain)
  VISIT(dispatcher->guards.run)
  VISIT(dispatcher->slow)
  for (int i = 0; i < dispatcher->entry_count; ++i) {
    VISIT(dispatcher->entries[i]->kernel)
    VISIT(dispatcher->entries[i]->launcher)
    VISIT(dispatcher->entries[i]->defaults)
    VISIT(dispatcher->entries[i]->kept)
  }
  return 0;
}

/* Only what can be part of a cycle: function -> dispatcher -> kernel -> function. */
static int clear(PyObject *self) {
  Dispatcher *dispatcher = (Dispatcher *)self;
  while (dispatcher->entry_count > 0)
    free_entry(dispatcher->entries[--dispatcher->entry_count]);
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
  while (dispatcher->entry_count > 0)
    free_entry(dispatcher->entries[--dispatcher->entry_count]);
  while (dispatcher->tensor_types.count > 0)
    Py_DecRef(dispatcher->tensor_types.types[--dispatcher->tensor_types.count]);
  PyObject *owned[] = {dispatcher->guards.function,   dispatcher->guards.knobs, dispatcher->guards.driver,
                       dispatcher->guards.hook_chain, dispatcher->guards.run,   dispatcher->slow,
                       dispatcher->parameters};
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
  PyObject *function, *slow, *parameters, *knobs, *driver, *hook_chain, *run;
  const char *constant;
  if (!PyArg_ParseTuple(arguments, "OOOs(OOOO)", &function, &slow, &parameters, &constant, &knobs, &driver, &hook_chain, &run))
    return NULL;
  Py_ssize_t count = PyTuple_Size(parameters);
  if (count < 0 || count > MAX_VALUES || (size_t)count != strlen(constant)) {
    PyErr_Clear();
    return PyErr_Format(PyExc_ValueError, "no list of up to %d parameters", MAX_VALUES);
  }
  Dispatcher *dispatcher = (Dispatcher *)_PyObject_GC_New((PyTypeObject *)state->dispatcher_type);
  if (!dispatcher)
    return NULL;
  memset((char *)dispatcher + sizeof(PyObject), 0, sizeof *dispatcher - sizeof(PyObject));
  dispatcher->guards = (Guards){new_reference(function), new_reference(knobs), new_reference(driver), new_reference(hook_chain),
                                new_reference(run)};
  dispatcher->slow = new_reference(slow);
  dispatcher->parameters = new_reference(parameters);
  dispatcher->parameter_count = (int)count;
  for (Py_ssize_t i = 0; i < count; ++i)
    dispatcher->constant[i] = constant[i] == 'C';
  PyObject_GC_Track(dispatcher);
  return (PyObject *)dispatcher;
}
