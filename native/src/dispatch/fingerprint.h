/* What a kernel's specialisation depends on in the arguments of a call, as words. Two calls with equal words get the same kernel
   from the base; words may differ where the base's specialisation does not, which costs a look at the base's caches and nothing
   else.

   The first word of an argument says how many follow, so no two fingerprints read the same. */
#ifndef TRITON_FORK_FINGERPRINT_H
#define TRITON_FORK_FINGERPRINT_H

#include "python/python_abi.h"

/* Mirrors python/triton/runtime/jit.py: create_function_from_signature */

#define MAX_WORDS 256
#define MAX_KNOWN_TYPES 16

/* How the base treats values of a type that is none of Python's numbers. */
typedef enum { UNKNOWN_TYPE = 0, TENSOR_TYPE, DESCRIPTOR_TYPE, TUPLE_TYPE, CONSTANT_TYPE } TypeKind;

typedef struct {
  PyObject *types[MAX_KNOWN_TYPES];
  unsigned int versions[MAX_KNOWN_TYPES]; /* that the classes had when they were asked about */
  int8_t kinds[MAX_KNOWN_TYPES];
  int count;
  PyObject *classify;    /* type -> TypeKind */
  PyObject *stored_type; /* for HIP, the class of tensors that have a storage; else NULL */
} KnownTypes;

/* What a tensor or a descriptor's base answered. The element type is told by its identity: it is held until the call has been
   looked up, or else another one could be made where it was. */
typedef struct {
  PyObject *value, *dtype;
  int first; /* place of its first word */
} Answer;

/* `with_ranges`: whether it counts that a tensor's storage has less than 2 GiB, as HIP's buffer operations need it. */
typedef struct {
  int count, with_ranges, answer_count;
  uint64_t words[MAX_WORDS];
  Answer answers[MAX_WORDS / 2];
} Fingerprint;

/* What the base asks of an argument to specialise it. */
typedef enum { ASK_ALL, ASK_TYPE, ASK_NOTHING } Questions;

/* Adds a word. Returns 0 where there is no room. */
int add_word(Fingerprint *fingerprint, uint64_t word);

/* Tells without a question to the object whether add_value knows what to do with it. `constant` tells that the value itself is
   part of the key. Returns 0, maybe with an exception set, where it does not. */
int is_plain(PyObject *value, int constant, KnownTypes *known);

/* Adds the words of an argument that is_plain, asking what the base asks, in its order. Returns 0 where there are none, with an
   exception set where the base would raise it. */
int add_value(PyObject *value, int constant, Questions questions, const KnownTypes *known, Fingerprint *fingerprint);

/* Adds the word of a parameter that has its default. */
int add_default(Fingerprint *fingerprint);

/* A list of what was answered: (value, its type, dtype, aligned, small, block of a descriptor or None). NULL with an exception set
   where that fails, NULL alone where an object has another class by now. */
PyObject *list_answers(const Fingerprint *fingerprint, const KnownTypes *known);

void release_answers(Fingerprint *fingerprint);

#endif
