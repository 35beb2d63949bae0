/* The fast path of kernel[grid](...): from the arguments to the launch without the base's lists, texts and dictionaries.

   For each kind of call that it has seen it remembers which kernel the base's caches have for it. It learns only from these caches,
   never from a launch: whatever runs while the base launches has no part in it. A call takes the fast path where its kind is known
   and nothing unusual is on; every other call goes the base's way, which decides and raises as ever. */
#ifndef TRITON_FORK_DISPATCH_H
#define TRITON_FORK_DISPATCH_H

#include "python_abi.h"

/* Makes the type of launchers. NULL with an exception set where that fails. */
PyObject *launcher_type(void);

/* make_launcher(environment, is usual, describe, recipe, finish, defaultdict, function) -> what has `launch`:
   launch(function, grid, arguments, keywords) -> kernel, or None where the base has to launch.

   environment() -> None where something unusual is on, or (what to watch, the first watch that counts after a grid was called, the
   dictionary of the active driver's owner, that of triton.knobs);
   is usual(class of functions) -> what to watch of it, or None;
   describe(function, caches) -> see make_dispatcher, or None;
   recipe(function, caches, arguments, keywords, answers) -> see make_entry, or None;
   finish(kernel, (grid, x, y, z), stream, values): launches with what is on;
   the last two are types. */
PyObject *make_launcher(PyObject *module, PyObject *arguments);

#endif
