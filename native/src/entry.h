/* What a dispatcher remembers of one specialisation: the tokens that lead to it and how to launch its kernel. */
#ifndef TRITON_FORK_ENTRY_H
#define TRITON_FORK_ENTRY_H

#include "launch.h"
#include "token.h"

#define MAX_VALUES 64 /* arguments and keywords of a call, and parameters of a function */
#define MAX_WORDS (3 * MAX_VALUES + 1)

/* One call, as far as it has been looked at. */
typedef struct {
  PyObject *const *values; /* arguments, then the values of keywords */
  int argument_count, value_count;
  PyObject *keywords; /* names, or NULL */
  int word_count;
  uint64_t words[MAX_WORDS];
  uint64_t addresses[MAX_VALUES]; /* of the values */
  int8_t places[MAX_VALUES];      /* for each parameter: the index of its value, -1 for its default */
} Call;

typedef struct {
  PyObject *kept; /* a tuple of all that the words point to */
  PyObject *kernel, *launcher, *launch, *key, *device, *defaults;
  const Program *program; /* of `launch` */
  Settings settings;
  int word_count;
  uint64_t words[];
} Entry;

/* Makes an entry for a call from a recipe: (kernel, launcher, launch's self, key, device, function handle, cooperative, dependent,
   warps, blocks in a cluster, shared bytes, defaults, what to keep alive, types of tensors). NULL with an exception set where that fails. */
Entry *make_entry(const Call *call, PyObject *recipe);

void free_entry(Entry *entry);

#endif
