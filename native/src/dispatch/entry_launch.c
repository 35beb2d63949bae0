#include "dispatch/entry_launch.h"

#include "pack/values.h"
#include "python/names.h"

/* What a launch under way holds. A grid or an allocator may run Python code, which may change anything, the entry included. */
typedef struct {
  PyObject *buffer, *extents, *grid[3];
  PyObject *after_grid; /* a list of the values that a grid left behind, or NULL */
  PyObject *expanded;   /* a list of what descriptors were replaced by, or NULL */
  int count;            /* of values */
} Held;

static void let_go(Held *held) {
  PyObject *const objects[] = {held->buffer,  held->extents,    held->grid[0], held->grid[1],
                               held->grid[2], held->after_grid, held->expanded};
  for (size_t i = 0; i < sizeof objects / sizeof *objects; ++i)
    Py_DecRef(objects[i]);
}

/* The product of Python's numbers, as they may exceed those of C. */
static PyObject *scratch_bytes(const Held *held, PyObject *bytes_of_block) {
  PyObject *bytes = new_reference(held->grid[0]);
  PyObject *const factors[] = {held->grid[1], held->grid[2], bytes_of_block};
  for (size_t i = 0; bytes && i < sizeof factors / sizeof *factors; ++i) {
    PyObject *product = PyNumber_Multiply(bytes, factors[i]);
    Py_DecRef(bytes);
    bytes = product;
  }
  return bytes;
}

/* Asks the allocator for scratch memory. Returns 0 with an exception set where that fails. */
static int allocate_scratch(Held *held, PyObject *scratch, PyObject *stream) {
  if (scratch == Py_None) {
    held->buffer = new_reference(Py_None);
    return 1;
  }
  PyObject *bytes = scratch_bytes(held, PyTuple_GetItem(scratch, 1));
  PyObject *variable = bytes ? PyObject_GetAttr(PyTuple_GetItem(scratch, 0), names._allocator) : NULL;
  PyObject *allocator = variable ? PyObject_CallMethodObjArgs(variable, names.get, NULL) : NULL;
  if (allocator)
    held->buffer = PyObject_CallFunctionObjArgs(allocator, bytes, PyTuple_GetItem(scratch, 2), stream, NULL);
  Py_DecRef(allocator);
  Py_DecRef(variable);
  Py_DecRef(bytes);
  return held->buffer != NULL;
}

/* What is beyond the end is more than any kernel has that is launched here, and only counted. */
static void add_argument(Arguments *arguments, PyObject *value) {
  int at = arguments->count++;
  if (at < MAX_ARGUMENTS)
    arguments->values[at] = value;
}

/* Adds what a descriptor stands for. Returns 0 with an exception set where that fails. */
static int expand(Held *held, PyObject *expander, PyObject *descriptor, Arguments *arguments) {
  if (!held->expanded && !(held->expanded = PyList_New(0)))
    return 0;
  PyObject *list = PyObject_CallFunctionObjArgs(expander, descriptor, NULL);
  PyObject *items = list ? PySequence_Tuple(list) : NULL;
  int added = items && PyList_Append(held->expanded, items) == 0;
  Py_DecRef(list);
  Py_DecRef(items);
  for (Py_ssize_t i = 0; added && i < PyTuple_Size(items); ++i)
    add_argument(arguments, PyTuple_GetItem(items, i));
  return added;
}

/* Calls a grid that is a function. The base goes on with the values that it leaves in its dictionary, and so do we. */
static int call_grid(KnownCall *call, Held *held) {
  PyObject *dictionary = bound_arguments(call->dispatcher, call->space->bound.values);
  held->extents = dictionary ? PyObject_CallFunctionObjArgs(call->grid, dictionary, NULL) : NULL;
  held->after_grid = held->extents ? PyDict_Values(dictionary) : NULL;
  Py_DecRef(dictionary);
  if (!held->after_grid)
    return 0;
  held->count = (int)PyList_Size(held->after_grid);
  for (int i = 0; i < held->count && i < call->dispatcher->parameter_count; ++i)
    call->space->bound.values[i] = PyList_GetItem(held->after_grid, i);
  return 1;
}

static PyObject *list_values(const KnownCall *call, const Held *held) {
  if (held->after_grid)
    return new_reference(held->after_grid);
  PyObject *list = PyList_New(0);
  for (int i = 0; list && i < held->count; ++i) {
    if (PyList_Append(list, call->space->bound.values[i]) < 0) {
      Py_DecRef(list);
      return NULL;
    }
  }
  return list;
}

/* Launches through Python where something is not as it was when it was learned, or a hook is on. Returns a new reference to what the
   launch gives, NULL with an exception set. */
static PyObject *finish(const KnownCall *call, const Held *held, const AfterGrid *after) {
  PyObject *grid = Py_BuildValue("(OOOO)", held->extents, held->grid[0], held->grid[1], held->grid[2]);
  PyObject *values = grid ? list_values(call, held) : NULL;
  PyObject *result =
      values ? PyObject_CallFunctionObjArgs(after->finish, call->entry->kernel, grid, call->stream, values, NULL) : NULL;
  Py_DecRef(values);
  Py_DecRef(grid);
  return result;
}

static int collect_arguments(const KnownCall *call, Held *held, Arguments *arguments) {
  arguments->count = 0;
  for (int i = 0; i < held->count; ++i) {
    PyObject *expander = PyTuple_GetItem(call->entry->expanders, i);
    if (expander == Py_None)
      add_argument(arguments, call->space->bound.values[i]);
    else if (!expand(held, expander, call->space->bound.values[i], arguments))
      return 0;
  }
  return 1;
}

static int read_settings(const KnownCall *call, const Held *held, Settings *settings) {
  *settings = call->entry->settings;
  for (int i = 0; i < 3; ++i)
    if (!read_int(held->grid[i], &settings->grid[i]))
      return 0;
  return read_word(call->stream, 4, &settings->stream);
}

static PyObject *launch_bound(const KnownCall *call, Held *held) {
  Arguments *arguments = &call->space->arguments;
  Settings settings;
  int launched = allocate_scratch(held, call->entry->scratch, call->stream) && collect_arguments(call, held, arguments) &&
                 read_settings(call, held, &settings) &&
                 launch_known(call->entry->program, &settings, arguments, held->buffer, &call->space->packer);
  return launched ? new_reference(call->entry->kernel) : NULL;
}

static PyObject *launch_held(KnownCall *call, Held *held, AfterGrid *after) {
  held->count = call->dispatcher->parameter_count;
  if (!PyCallable_Check(call->grid))
    held->extents = new_reference(call->grid);
  else if (!call_grid(call, held))
    return NULL;
  if (!split_grid(held->extents, held->grid))
    return NULL;
  const Guarded *environment = after->environment, *entry = &call->entry->guarded;
  if (!is_as_guarded(entry, 0, entry->attribute_count))
    drop_entry(call->dispatcher, call->entry); /* the next call of the kind learns anew */
  else if (!is_as_guarded(environment, after->first, environment->attribute_count))
    after->differs = 1;
  else if (held->count == call->dispatcher->parameter_count)
    return launch_bound(call, held);
  return finish(call, held, after);
}

PyObject *launch_entry(KnownCall *call, AfterGrid *after) {
  Held held = {0};
  PyObject *kernel = launch_held(call, &held, after);
  let_go(&held);
  return kernel;
}
