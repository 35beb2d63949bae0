#include "dispatch/dispatch.h"

#include "dispatch/answers.h"
#include "dispatch/guards.h"
#include "dispatch/launcher.h"
#include "python/cells.h"
#include "python/names.h"

/* Grids and arguments may launch, their own kernel as well, and so without end. The base does that in Python, which tells when it is
   too deep and needs little of the stack: what is nested deeper than this goes its way. */
#define MAX_NESTED 8
static _Thread_local int nested;

/* The arguments of `launch`, and what has been found out so far; all of that is held. */
typedef struct {
  Launcher *launcher;
  PyObject *function, *arguments, *keywords;
  PyObject *attributes, *device, *caches;
  KnownCall known;
} Attempt;

/* The dispatcher of a binder is among its globals. Returns a new reference, NULL where there is none, maybe with an exception. */
static PyObject *find_dispatcher(const Attempt *attempt) {
  PyObject **owned = attempt->launcher->owned, *binder = PyTuple_GetItem(attempt->caches, 4);
  if ((PyObject *)Py_TYPE(binder) != owned[TYPE_OF_FUNCTIONS])
    return NULL;
  PyObject *recent = (PyObject *)recent_dispatcher(binder);
  if (recent && (PyObject *)Py_TYPE(recent) == owned[DISPATCHER_TYPE])
    return new_reference(recent);
  PyObject *globals = PyObject_GetAttr(binder, names.__globals__);
  PyObject *found = globals ? PyDict_GetItemWithError(globals, names._fork_dispatcher) : NULL;
  if (found) {
    int fits = (PyObject *)Py_TYPE(found) == owned[DISPATCHER_TYPE] && ((Dispatcher *)found)->binder == binder;
    found = fits ? new_reference(found) : NULL;
  } else if (globals && PyDict_GetItemWithError(globals, names.specialize_impl)) {
    PyObject *description = PyObject_CallFunctionObjArgs(owned[DESCRIBE], attempt->function, attempt->caches, NULL);
    if (description && PyTuple_Check(description))
      found = make_dispatcher(owned[DISPATCHER_TYPE], description);
    if (description) {
      PyErr_Clear();
      if (PyDict_SetItem(globals, names._fork_dispatcher, found ? found : Py_None) < 0)
        PyErr_Clear();
    }
    Py_DecRef(description);
  }
  Py_DecRef(globals);
  return found;
}

/* Finds everything up to the arguments of the call; the driver is asked last. Returns 0, maybe with an exception set, where the base
   has to launch. */
static int find_function(Attempt *attempt) {
  Launcher *launcher = attempt->launcher;
  attempt->attributes = PyObject_GenericGetDict(attempt->function, NULL);
  PyObject *by_device = attempt->attributes ? has_own_caches(attempt->attributes, launcher->owned[TYPE_OF_CACHES]) : NULL;
  if (!by_device || PyDict_Size(by_device) == 0 || !environment_holds(launcher) ||
      !type_is_unpatched(launcher, attempt->function)) {
    drop_error_of_looking();
    return 0;
  }
  PyObject *driver = PyDict_GetItemWithError(launcher->driver, names._active);
  if (!driver || driver == Py_None)
    return 0;
  Py_IncRef(driver);
  Py_IncRef(by_device);
  if (current_stream(driver, &attempt->device, &attempt->known.stream))
    attempt->caches = PyDict_GetItemWithError(by_device, attempt->device);
  Py_IncRef(attempt->caches);
  Py_DecRef(by_device);
  Py_DecRef(driver);
  if (!attempt->caches || !PyTuple_Check(attempt->caches) || PyTuple_Size(attempt->caches) != 5)
    return 0;
  PyObject *kernels = PyTuple_GetItem(attempt->caches, 0);
  if (!PyDict_Check(kernels) || PyDict_Size(kernels) == 0)
    return 0;
  attempt->known.dispatcher = (Dispatcher *)find_dispatcher(attempt);
  return attempt->known.dispatcher != NULL;
}

/* Asks the base's caches for the kernel of a call that is new. Returns a hold of its entry; NULL where there is none. A failure of
   this is no failure of the call; an exception that is set then is a signal's. */
static Entry *learn(const Attempt *attempt, const Fingerprint *fingerprint) {
  Dispatcher *dispatcher = attempt->known.dispatcher;
  PyObject *answers = list_answers(fingerprint, &dispatcher->known);
  PyObject *specification = NULL;
  if (answers)
    specification = PyObject_CallFunctionObjArgs(attempt->launcher->owned[SPECIFY], attempt->function, attempt->caches,
                                                 attempt->arguments, attempt->keywords, answers, NULL);
  else
    PyErr_Clear();
  Py_DecRef(answers);
  Entry *entry = NULL;
  if (specification && PyDict_Check(specification))
    entry = make_entry(fingerprint, dispatcher->parameter_count, specification);
  if (specification && !entry)
    PyErr_Clear();
  Py_DecRef(specification);
  if (entry) {
    entry->holders += 1;
    add_entry(dispatcher, entry, find_entry(dispatcher, fingerprint));
  }
  return entry;
}

static Entry *find_or_learn(const Attempt *attempt, const Fingerprint *fingerprint) {
  Dispatcher *dispatcher = attempt->known.dispatcher;
  int place = find_entry(dispatcher, fingerprint);
  if (place < dispatcher->entry_count) {
    Entry *entry = dispatcher->entries[place];
    entry->holders += 1;
    /* Another class of the backend, or another member of it, may have the base choose another kernel. */
    if (is_as_guarded(&entry->guarded, 0, 0) && is_cached(entry, attempt->caches)) {
      dispatcher->of_calls.failures = 0;
      return entry;
    }
    release_entry(entry);
    if (!PyErr_Occurred())
      drop_uncached(dispatcher, attempt->caches);
    if (PyErr_Occurred())
      return NULL;
  }
  dispatcher->of_calls.failures += 1;
  return learn(attempt, fingerprint);
}

/* What has no value of its own has its default. */
static void add_defaults(KnownCall *call) {
  PyObject **values = call->space->bound.values;
  for (int i = 0; i < call->dispatcher->parameter_count; ++i)
    if (!values[i])
      values[i] = PyTuple_GetItem(call->dispatcher->defaults, i);
}

static int wants_ranges(const Attempt *attempt) {
  if (!attempt->known.dispatcher->known.stored_type)
    return 0;
  PyObject *group = PyDict_GetItemWithError(attempt->launcher->knobs, names.amd);
  int uses = group ? uses_buffer_operations(group) : -1;
  if (uses < 0)
    drop_error_of_looking();
  return uses;
}

/* Finds the kernel of the call. */
static int find_kernel(Attempt *attempt) {
  KnownCall *call = &attempt->known;
  Dispatcher *dispatcher = call->dispatcher;
  Fingerprint *fingerprint = &call->space->fingerprint;
  if (dispatcher->of_calls.failures >= PATIENCE && !try_again(&dispatcher->of_calls, (Difference){0, 0}))
    return 0;
  if (!bind_call(dispatcher, attempt->arguments, attempt->keywords, &call->space->bound)) {
    dispatcher->of_calls.failures += !PyErr_Occurred();
    return 0;
  }
  fingerprint->count = fingerprint->answer_count = 0;
  fingerprint->with_ranges = wants_ranges(attempt);
  if (fingerprint->with_ranges >= 0 && add_word(fingerprint, (uint64_t)fingerprint->with_ranges) &&
      read_call(dispatcher, attempt->arguments, attempt->keywords, call->space->bound.values, fingerprint))
    call->entry = find_or_learn(attempt, fingerprint);
  else
    dispatcher->of_calls.failures += 1;
  release_answers(fingerprint);
  if (!call->entry || !globals_unchanged(attempt->attributes) || !cells_unchanged(attempt->attributes))
    return 0;
  add_defaults(call);
  return 1;
}

/* The launch is done: it has failed only where a signal's handler says so. */
static void learn_hooks(Launcher *launcher, PyObject **result) {
  if (!learn_environment(launcher) && PyErr_Occurred()) {
    Py_DecRef(*result);
    *result = NULL;
  }
}

static int find_and_launch(Attempt *attempt, PyObject **result) {
  Launcher *launcher = attempt->launcher;
  KnownCall *call = &attempt->known;
  call->space = launcher->spare ? launcher->spare : PyMem_Malloc(sizeof *call->space);
  launcher->spare = NULL;
  int found = call->space && find_kernel(attempt);
  if (found) {
    AfterGrid after = {&launcher->environment, launcher->first_after_grid, 0, launcher->owned[FINISH]};
    *result = launch_entry(call, &after);
    if (after.differs && *result && try_again(&launcher->of_hooks, difference(&launcher->environment)))
      learn_hooks(launcher, result);
  }
  if (call->space)
    release_binding(&call->space->bound);
  if (launcher->spare)
    PyMem_Free(call->space);
  else
    launcher->spare = call->space;
  return found;
}

/* Whether Python refuses the base's call of run(): nobody would take what the driver answered. */
static int is_refused(PyObject *keywords) {
  PyObject *const given[] = {names.self, names.grid, names.warmup};
  for (size_t i = 0; PyDict_Size(keywords) > 0 && i < sizeof given / sizeof *given; ++i)
    if (PyDict_GetItemWithError(keywords, given[i]))
      return 1;
  return 0;
}

PyObject *launch_function(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  if (count != 4 || !PyTuple_Check(arguments[2]) || !PyDict_Check(arguments[3]))
    return PyErr_Format(PyExc_TypeError, "launch takes a function, a grid, a tuple and a dictionary");
  Attempt attempt = {
      .launcher = (Launcher *)self,
      .function = arguments[0],
      .arguments = arguments[2],
      .keywords = arguments[3],
      .known = {.grid = arguments[1]},
  };
  forget_answers();
  if (nested == MAX_NESTED || attempt.known.grid == Py_None || is_refused(attempt.keywords))
    return new_reference(Py_None);
  nested += 1;
  PyObject *result = NULL;
  int found = find_function(&attempt) && find_and_launch(&attempt, &result);
  nested -= 1;
  if (attempt.known.entry)
    release_entry(attempt.known.entry);
  if (!found && attempt.known.stream && !PyErr_Occurred())
    keep_answers(attempt.function, attempt.known.grid, attempt.device, attempt.known.stream);
  PyObject *const held[] = {attempt.attributes, attempt.device, attempt.caches, attempt.known.stream,
                            (PyObject *)attempt.known.dispatcher};
  for (size_t i = 0; i < sizeof held / sizeof *held; ++i)
    Py_DecRef(held[i]);
  return found || PyErr_Occurred() ? result : new_reference(Py_None);
}
