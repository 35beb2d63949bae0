/* What a kernel's specialisation depends on in an argument, as two words. Two calls with equal tokens get the same kernel from the
   base; tokens may differ where the base's specialisation does not, which costs a look at the slow path and nothing else. */
#ifndef TRITON_FORK_TOKEN_H
#define TRITON_FORK_TOKEN_H

#include "python_abi.h"

#define TOKEN_WORDS 2
#define MAX_TENSOR_TYPES 8
#define NO_ADDRESS UINT64_MAX

/* Types known to be like tensors: what they answer to data_ptr() and `dtype` says all. */
typedef struct {
  PyObject *types[MAX_TENSOR_TYPES];
  int count;
} TensorTypes;

/* Writes the token of an argument. `address` becomes what data_ptr() answered, NO_ADDRESS for what is no tensor.
   `constant` tells that the value itself is part of the key. Returns 0, without an exception, where there is no token. */
int make_token(PyObject *value, int constant, const TensorTypes *known, uint64_t *words, uint64_t *address);

#endif
