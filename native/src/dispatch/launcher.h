/* What the fast path knows of the process and of classes of functions: a Python object, the one that `kernel[grid](...)` asks. */
#ifndef TRITON_FORK_LAUNCHER_H
#define TRITON_FORK_LAUNCHER_H

#include "dispatch/entry_launch.h"
#include "dispatch/guarded.h"

#define MAX_FUNCTION_TYPES 8

/* What is known of a class of functions, JITFunction or one derived from it. */
typedef struct {
  PyObject *type;
  Guarded guarded;
  Patience patience;
} FunctionType;

enum { ENVIRONMENT, GUARDS_OK, DESCRIBE, SPECIFY, FINISH, TYPE_OF_CACHES, TYPE_OF_FUNCTIONS, DISPATCHER_TYPE, OWNED };

typedef struct {
  PyObject base;
  PyObject *owned[OWNED];
  Guarded environment;
  int first_after_grid;
  PyObject *driver, *knobs; /* of the environment's source, which holds them */
  PyObject *source;
  Patience patience, of_hooks;
  FunctionType types[MAX_FUNCTION_TYPES];
  unsigned int next_type;
  Workspace *spare; /* for the next call */
} Launcher;

/* Makes the type of launchers. NULL with an exception set where that fails. */
PyObject *launcher_type(void);

/* make_launcher(environment, guards_ok, describe, specify, finish, defaultdict, function) -> what has `launch` and `answers`:
   launch(function, grid, arguments, keywords) -> kernel, or None where the base has to launch;
   answers(function, grid) -> the device and the stream that the driver gave for that launch, or None where it was not asked.

   environment() -> None where something unusual is on, or (what to watch, the first watch that counts after a grid was called, the
   dictionary of the active driver's owner, that of triton.knobs);
   guards_ok(class of functions) -> what to watch of it, or None;
   describe(function, caches) -> see make_dispatcher, or None;
   specify(function, caches, arguments, keywords, answers) -> see make_entry, or None;
   finish(kernel, (grid, x, y, z), stream, values): launches with what is on;
   the last two are types. */
PyObject *make_launcher(PyObject *module, PyObject *arguments);

/* Looks at the environment anew. Where something unusual is on, what was guarded before stays: it may be as it was again. Returns 0
   then, maybe with an exception set. */
int learn_environment(Launcher *launcher);

/* Whether the environment is as usual, as far as that counts before a call is looked up. Returns 0, maybe with an exception set,
   where it is not. */
int environment_holds(Launcher *launcher);

/* Whether functions of a function's class are launched as JITFunction does it. Returns 0, maybe with an
   exception set, where not. */
int type_is_unpatched(Launcher *launcher, PyObject *function);

#endif
