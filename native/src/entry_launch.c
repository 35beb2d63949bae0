#include "entry_launch.h"

#include "call.h"
#include "names.h"
#include "values.h"

/* What a launch under way holds. A grid or an allocator may run Python code, which may change anything, the entry included. */
typedef struct {
  PyObject *kernel, *launcher, *call, *launch, *defaults, *watched, *expanders, *scratch, *buffer;
  PyObject *extents, *grid[3];
  PyObject *after_grid; /* a list of the values that a grid left behind, or NULL */
  PyObject *expanded[MAX_VALUES];
  int expanded_count;
  const Program *program; /* of `launch` */
  Settings settings;
} Held;

static Held hold(const Entry *entry) {
  return (Held){
      .kernel = new_reference(entry->kernel),
      .launcher = new_reference(entry->launcher),
      .call = new_reference(entry->call),
      .launch = new_reference(entry->launch),
      .defaults = new_reference(entry->defaults),
      .watched = new_reference(entry->watched),
      .expanders = new_reference(entry->expanders),
      .scratch = new_reference(entry->scratch),
      .program = entry->program,
      .settings = entry->settings,
  };
}

/* All but the kernel. */
static void let_go(Held *held) {
  PyObject *const objects[] = {held->launcher, held->call,    held->launch,  held->defaults, held->watched,
                               held->expanders, held->scratch, held->buffer, held->extents,  held->grid[0],
                               held->grid[1],   held->grid[2], held->after_grid};
  for (size_t i = 0; i < sizeof objects / sizeof *objects; ++i)
    Py_DecRef(objects[i]);
  for (int i = 0; i < held->expanded_count; ++i)
    Py_DecRef(held->expanded[i]);
}

/* The product of Python's numbers, as they may exceed those of C. */
static PyObject *scratch_bytes(const Held *held) {
  PyObject *bytes = new_reference(held->grid[0]);
  PyObject *const factors[] = {held->grid[1], held->grid[2], PyTuple_GetItem(held->scratch, 1)};
  for (size_t i = 0; bytes && i < sizeof factors / sizeof *factors; ++i) {
    PyObject *product = PyNumber_Multiply(bytes, factors[i]);
    Py_DecRef(bytes);
    bytes = product;
  }
  return bytes;
}

/* Asks the allocator for scratch memory. Returns 0 with an exception set where that fails. */
static int allocate_scratch(Held *held, PyObject *stream) {
  if (held->scratch == Py_None) {
    held->buffer = new_reference(Py_None);
    return 1;
  }
  PyObject *bytes = scratch_bytes(held);
  PyObject *variable = bytes ? PyObject_GetAttr(PyTuple_GetItem(held->scratch, 0), names._allocator) : NULL;
  PyObject *allocator = variable ? PyObject_CallMethodObjArgs(variable, names.get, NULL) : NULL;
  if (allocator)
    held->buffer = PyObject_CallFunctionObjArgs(allocator, bytes, PyTuple_GetItem(held->scratch, 2), stream, NULL);
  Py_DecRef(allocator);
  Py_DecRef(variable);
  Py_DecRef(bytes);
  return held->buffer != NULL;
}

/* What is beyond the end is more than any kernel has that is launched here, and only counted. */
static void add_argument(Arguments *arguments, PyObject *value, uint64_t address) {
  int at = arguments->count++;
  if (at < MAX_ARGUMENTS) {
    arguments->values[at] = value;
    arguments->addresses[at] = address;
  }
}

/* Adds what a descriptor stands for. Returns 0 with an exception set where that fails. */
static int expand(Held *held, PyObject *expander, PyObject *descriptor, Arguments *arguments) {
  PyObject *list = PyObject_CallFunctionObjArgs(expander, descriptor, NULL);
  PyObject *items = list ? PySequence_Tuple(list) : NULL;
  Py_DecRef(list);
  if (!items)
    return 0;
  held->expanded[held->expanded_count++] = items;
  for (Py_ssize_t i = 0; i < PyTuple_Size(items); ++i)
    add_argument(arguments, PyTuple_GetItem(items, i), NO_ADDRESS);
  return 1;
}

/* The values of a call, as its kernel gets them. */
typedef struct {
  PyObject *values[MAX_VALUES];
  uint64_t addresses[MAX_VALUES];
  int count;
} Bound;

static void bind_call(const Call *call, const Entry *entry, int count, Bound *bound) {
  bound->count = count;
  for (int i = 0; i < count; ++i) {
    int place = call->places[i];
    bound->values[i] = place >= 0 ? call->values[place] : PyTuple_GetItem(entry->defaults, i);
    bound->addresses[i] = place >= 0 ? call->addresses[place] : NO_ADDRESS;
  }
}

/* Calls a grid that is a function. The base goes on with the values that it leaves in its dictionary, and so do we. */
static int call_grid(const Dispatcher *dispatcher, Held *held, PyObject *grid, Bound *bound) {
  PyObject *dictionary = bind_values(dispatcher, bound->values);
  held->extents = dictionary ? PyObject_CallFunctionObjArgs(grid, dictionary, NULL) : NULL;
  held->after_grid = held->extents ? PyDict_Values(dictionary) : NULL;
  Py_DecRef(dictionary);
  if (!held->after_grid)
    return 0;
  bound->count = (int)PyList_Size(held->after_grid);
  for (int i = 0; i < bound->count && i < dispatcher->parameter_count; ++i) {
    PyObject *value = PyList_GetItem(held->after_grid, i);
    if (value != bound->values[i])
      bound->addresses[i] = NO_ADDRESS;
    bound->values[i] = value;
  }
  return 1;
}

/* Launches through Python where the grid changed something that the base reads after it. */
static PyObject *finish(const Dispatcher *dispatcher, Held *held, PyObject *stream) {
  return PyObject_CallFunctionObjArgs(dispatcher->finish, held->kernel, held->extents, stream, held->after_grid, NULL);
}

static int collect_arguments(Held *held, const Bound *bound, Arguments *arguments) {
  arguments->count = 0;
  for (int i = 0; i < bound->count; ++i) {
    PyObject *expander = PyTuple_GetItem(held->expanders, i);
    if (expander == Py_None)
      add_argument(arguments, bound->values[i], bound->addresses[i]);
    else if (!expand(held, expander, bound->values[i], arguments))
      return 0;
  }
  return 1;
}

static int read_numbers(Held *held, PyObject *stream) {
  for (int i = 0; i < 3; ++i)
    if (!read_int(held->grid[i], &held->settings.grid[i]))
      return 0;
  return read_word(stream, 4, &held->settings.stream);
}

static int launch_bound(Held *held, const Bound *bound, PyObject *stream) {
  Arguments arguments;
  return split_grid(held->extents, held->grid) && allocate_scratch(held, stream) &&
         collect_arguments(held, bound, &arguments) && read_numbers(held, stream) &&
         launch_known(held->program, &held->settings, &arguments, held->buffer);
}

static int launch_held(const Dispatcher *dispatcher, Held *held, Bound *bound, PyObject *grid, PyObject *stream) {
  if (!PyCallable_Check(grid)) {
    held->extents = new_reference(grid);
    return launch_bound(held, bound, stream);
  }
  if (!call_grid(dispatcher, held, grid, bound))
    return 0;
  int usual = bound->count == dispatcher->parameter_count && no_launch_hooks(&dispatcher->guards) &&
              is_unchanged(held->launcher, held->call, held->watched);
  if (usual)
    return launch_bound(held, bound, stream);
  Raised raised;
  if (!set_aside(&raised))
    return 0;
  PyObject *result = raise_late(&raised, finish(dispatcher, held, stream));
  Py_DecRef(result);
  return result != NULL;
}

PyObject *launch_entry(const Dispatcher *dispatcher, const Entry *entry, const Call *call, PyObject *grid, PyObject *stream) {
  Bound bound;
  bind_call(call, entry, dispatcher->parameter_count, &bound);
  Held held = hold(entry);
  int launched = launch_held(dispatcher, &held, &bound, grid, stream);
  let_go(&held);
  if (launched)
    return held.kernel;
  Py_DecRef(held.kernel);
  return NULL;
}
