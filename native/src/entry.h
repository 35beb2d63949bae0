/* What a dispatcher remembers of one specialisation: the tokens that lead to it and how to launch its kernel. */
#ifndef TRITON_FORK_ENTRY_H
#define TRITON_FORK_ENTRY_H

#include "launch.h"
#include "token.h"

#define MAX_VALUES 64 /* arguments and keywords of a call, and parameters of a function */

/* One call, as far as it has been looked at. */
typedef struct {
  PyObject *const *values; /* arguments, then the values of keywords */
  int argument_count, value_count;
  PyObject *keywords; /* names, or NULL */
  Tokens tokens;
  uint64_t addresses[MAX_VALUES]; /* of the values */
  int8_t places[MAX_VALUES];      /* for each parameter: the index of its value, -1 for its default */
} Call;

typedef struct {
  PyObject *kept; /* a tuple of all that the words point to */
  PyObject *kernel, *launcher, *launch, *key, *device, *defaults;
  PyObject *call;      /* type(launcher).__call__ */
  PyObject *watched;   /* (object, attribute, value, ...): what the base would read in a launch, as it was */
  PyObject *expanders; /* for each parameter: None, or a function that gives what the kernel gets for a descriptor */
  PyObject *scratch;   /* None, or (triton.runtime._allocation, bytes for each block of the grid, alignment) */
  const Program *program; /* of `launch` */
  Settings settings;
  int holders; /* the dispatcher, and calls under way: Python code that runs in them may make the dispatcher forget it */
  int word_count;
  uint64_t words[];
} Entry;

/* Makes an entry for a call from a recipe: (kernel, launcher, its type's __call__, launch's self, key, device, (function handle,
   cooperative, dependent, warps, blocks in a cluster, shared bytes), defaults, what to keep alive, watched, expanders, scratch).
   NULL with an exception set where that fails. */
Entry *make_entry(const Call *call, int parameter_count, PyObject *recipe);

/* Whether nothing was changed in a kernel and its launcher. May leave an exception where something was. */
int is_unchanged(PyObject *launcher, PyObject *call, PyObject *watched);

/* Gives up a hold; the last one frees the entry. */
void release_entry(Entry *entry);

#endif
