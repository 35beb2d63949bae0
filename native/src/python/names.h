/* Names of attributes, interned once a process. */
#ifndef TRITON_FORK_NAMES_H
#define TRITON_FORK_NAMES_H

#include "python/python_abi.h"

#define FOR_EACH_NAME(NAME)                                                                                                      \
  NAME(__globals__)                                                                                                              \
  NAME(__init__)                                                                                                                 \
  NAME(_active)                                                                                                                  \
  NAME(_allocator)                                                                                                               \
  NAME(_fork_absent)                                                                                                             \
  NAME(_fork_dispatcher)                                                                                                         \
  NAME(amd)                                                                                                                      \
  NAME(base)                                                                                                                     \
  NAME(block_shape)                                                                                                              \
  NAME(cell_contents)                                                                                                            \
  NAME(data_ptr)                                                                                                                 \
  NAME(debug)                                                                                                                    \
  NAME(device_caches)                                                                                                            \
  NAME(dtype)                                                                                                                    \
  NAME(get)                                                                                                                      \
  NAME(get_current_device)                                                                                                       \
  NAME(get_current_stream)                                                                                                       \
  NAME(grid)                                                                                                                     \
  NAME(hash)                                                                                                                     \
  NAME(pre_run_hooks)                                                                                                            \
  NAME(ptr_range)                                                                                                                \
  NAME(run)                                                                                                                      \
  NAME(seen)                                                                                                                     \
  NAME(self)                                                                                                                     \
  NAME(size)                                                                                                                     \
  NAME(specialize_impl)                                                                                                          \
  NAME(untyped_storage)                                                                                                          \
  NAME(use_buffer_ops)                                                                                                           \
  NAME(used_global_vals)                                                                                                         \
  NAME(warmup)

#define DECLARE_NAME(name) PyObject *name;

typedef struct {
  FOR_EACH_NAME(DECLARE_NAME)
} Names;

extern Names names;

/* Makes the names; 0 with an exception set where that fails. */
int make_names(void);

#endif
