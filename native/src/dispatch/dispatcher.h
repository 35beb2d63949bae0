/* What the fast path knows of one JIT function on one device: a Python object that lives as long as the function's binder. */
#ifndef TRITON_FORK_DISPATCHER_H
#define TRITON_FORK_DISPATCHER_H

#include "dispatch/entry.h"
#include "dispatch/fingerprint.h"
#include "dispatch/guarded.h"

#define MAX_VALUES 64 /* parameters of a function */
#define MAX_ENTRIES 64

typedef struct {
  char constant, has_default;
  Questions questions;
} Parameter;

typedef struct {
  PyObject base;
  PyObject *binder;     /* whose globals own this */
  PyObject *parameters; /* names */
  PyObject *taken;      /* a set: names that are no options of the compiler */
  PyObject *defaults;   /* a value for each parameter, None for those without */
  int parameter_count;
  Parameter kinds[MAX_VALUES];
  KnownTypes known;
  Patience of_calls;
  Entry *entries[MAX_ENTRIES];
  int entry_count, oldest;
} Dispatcher;

/* Makes the type of dispatchers. NULL with an exception set where that fails. */
PyObject *dispatcher_type(void);

/* Makes a dispatcher from (binder, names of parameters, set of names that are no options, letters, defaults, classify, class of
   stored tensors or None). There are two
   letters for each parameter: C for a constant, else A, T or N for what is asked of the value: all, its type, nothing; and D where
   it has a default of which the value is known. NULL with an exception set where that fails. */
PyObject *make_dispatcher(PyObject *type, PyObject *description);

/* Borrows the dispatcher that was made last for a binder, if it is still there and no other binder has taken its place. */
Dispatcher *recent_dispatcher(PyObject *binder);

/* Returns the number of entries where there is none for the fingerprint. */
int find_entry(const Dispatcher *dispatcher, const Fingerprint *fingerprint);

/* Takes an entry in, in the place of the one for the same fingerprint or, where there is no room, of the oldest. */
void add_entry(Dispatcher *dispatcher, Entry *entry, int place);

/* Gives up the entries whose kernels the base would not find in the function's caches. */
void drop_uncached(Dispatcher *dispatcher, PyObject *caches);

/* Gives an entry up, if it is still there. */
void drop_entry(Dispatcher *dispatcher, const Entry *entry);

#endif
