/* What a dispatcher remembers of one specialisation: the tokens that lead to it and how to launch its kernel. */
#ifndef TRITON_FORK_ENTRY_H
#define TRITON_FORK_ENTRY_H

#include "launch.h"
#include "token.h"
#include "watched.h"

typedef struct {
  PyObject *kept; /* a tuple of all that the words point to */
  PyObject *kernel, *launch, *key;
  PyObject *caches;    /* what the function has for the device: kernels by key first, the binder last */
  PyObject *expanders; /* for each parameter: None, or a function that gives what the kernel gets for a descriptor */
  PyObject *scratch;   /* None, or (triton.runtime._allocation, bytes for each block of the grid, alignment) */
  Watched watched;     /* what the base would read in a launch */
  const Program *program; /* of `launch` */
  Settings settings;
  int holders; /* the dispatcher, and calls under way: Python code that runs in them may make the dispatcher forget it */
  int word_count;
  uint64_t words[];
} Entry;

/* Makes an entry for tokens from a recipe: (kernel, launch's self, key, caches, (function handle, cooperative, dependent, warps,
   blocks in a cluster, shared bytes), what to keep alive, watched, expanders, scratch). NULL, maybe with an exception set, where
   that fails. */
Entry *make_entry(const Tokens *tokens, int parameter_count, PyObject *recipe);

/* Whether the base would find the kernel in the function's caches. Maybe with an exception set where it would not. */
int is_cached(const Entry *entry, PyObject *caches);

/* For the garbage collector. */
int visit_entry(const Entry *entry, visitproc visit, void *argument);

/* Gives up a hold; the last one frees the entry. */
void release_entry(Entry *entry);

#endif
