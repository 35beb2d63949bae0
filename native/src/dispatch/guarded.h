/* What was looked at once and must still be as it was: classes, and what dictionaries hold under a name. */
#ifndef TRITON_FORK_GUARDED_H
#define TRITON_FORK_GUARDED_H

#include "python/python_abi.h"

#define MAX_GUARDED_TYPES 8
#define MAX_GUARDED_ATTRIBUTES 28

/* `expected` is NULL where the dictionary must not have the name. A list must be empty as well. */
typedef struct {
  PyObject *dictionary, *name, *expected;
  int is_list;
} GuardedAttribute;

typedef struct {
  PyObject *source; /* holds all the rest */
  int type_count, attribute_count;
  PyTypeObject *types[MAX_GUARDED_TYPES];
  unsigned int versions[MAX_GUARDED_TYPES];
  GuardedAttribute attributes[MAX_GUARDED_ATTRIBUTES];
} Guarded;

/* The number that CPython gives to a class as it is, with all that it inherits: no class ever has one that another had, or the
   same one before a change. 0 where there is none. */
unsigned int version_of(PyTypeObject *type);

/* The number of the class of an object, given to it without running code of others; 0 where there is none. */
unsigned int version_of_type(PyObject *object);

/* The number as it is. 0 where the class has changed since it got one. */
unsigned int current_version(const PyTypeObject *type);

/* type_version(class) -> version_of. */
PyObject *type_version(PyObject *module, PyObject *type);

/* Begins to watch what `source` lists: ((class, ...), (dictionary, name, value, ...)), where Ellipsis as the value means that the
   name must be absent. What was guarded before is forgotten then, but not where `source` is no tuple. Returns 0, maybe with an
   exception set, where that is impossible. */
int watch(Guarded *guarded, PyObject *source);

/* Whether the classes and the attributes from `first` to the one before `end` are as they were. Runs no code of others. */
int is_as_guarded(const Guarded *guarded, int first, int end);

/* What is not as it was, and what is there instead: to be compared, and nothing else. */
typedef struct {
  int place;
  uintptr_t found;
} Difference;

/* Finds one that is_as_guarded would meet. */
Difference difference(const Guarded *guarded);

/* Something is in the way, for a while or for good: whether it still is gets tried less and less often, but soon where it is
   another thing. */
typedef struct {
  unsigned int failures, last_try;
  Difference met;
} Patience;

#define PATIENCE 32 /* so many failures in a row show that the fast path is of no use */

/* Whether to try again what has failed, counting this time. */
int try_again(Patience *patience, Difference met);

#endif
