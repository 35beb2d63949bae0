/* What a kernel's specialisation depends on in the arguments of a call, as words. Two calls with equal words get the same kernel
   from the base; words may differ where the base's specialisation does not, which costs a look at the slow path and nothing else.

   The first word of a token says how many follow, so no two rows of tokens read the same. */
#ifndef TRITON_FORK_TOKEN_H
#define TRITON_FORK_TOKEN_H

#include "python_abi.h"

#define MAX_WORDS 256
#define MAX_TENSOR_TYPES 8
#define NO_ADDRESS UINT64_MAX

/* `with_ranges`: whether it counts that a tensor's storage has less than 2 GiB, as HIP's buffer operations need it. */
typedef struct {
  int count;
  int with_ranges;
  uint64_t words[MAX_WORDS];
} Tokens;

/* Types known to be like tensors: what they answer to data_ptr() and `dtype` says all. And the one of host-side tensor
   descriptors, or NULL: their element type and block say all. For HIP, the class of tensors that have a storage; else NULL. */
typedef struct {
  PyObject *types[MAX_TENSOR_TYPES];
  int count;
  PyObject *descriptor_type;
  PyObject *stored_type;
} KnownTypes;

/* Adds a word. Returns 0 where there is no room. */
int add_word(Tokens *tokens, uint64_t word);

/* Adds the token of an argument. `address` becomes what data_ptr() answered, NO_ADDRESS for what is no tensor.
   `constant` tells that the value itself is part of the key. Returns 0, maybe with an exception, where there is no token. */
int add_token(PyObject *value, int constant, const KnownTypes *known, Tokens *tokens, uint64_t *address);

#endif
