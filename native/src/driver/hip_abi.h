/* The part of the ABI of AMD's HIP runtime that the extension uses, as the headers have it that Triton ships and compiles its own
   modules against. tests/native checks sizes, offsets and numbers against them. */
#ifndef TRITON_FORK_HIP_ABI_H
#define TRITON_FORK_HIP_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int HipResult;
typedef void *HipHandle; /* module, function, stream or address */

enum {
  HIP_OK = 0,
  HIP_INVALID_VALUE = 1,
};

/* HIP_VERSION of the headers: which version of a function the base's launchers ask for. */
#define HIP_HEADERS_VERSION 70125424

/* hipFunction_attribute, hipPointer_attribute, hipJitOption, hipLaunchAttributeID */
enum {
  HIP_FUNCTION_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNCTION_LOCAL_SIZE_BYTES = 3,
  HIP_FUNCTION_REGISTER_COUNT = 4,
  HIP_POINTER_DEVICE_POINTER = 3,
  HIP_JIT_INFO_LOG = 3,
  HIP_JIT_INFO_LOG_BYTES = 4,
  HIP_JIT_ERROR_LOG = 5,
  HIP_JIT_ERROR_LOG_BYTES = 6,
  HIP_JIT_LOG_VERBOSE = 12,
  HIP_LAUNCH_COOPERATIVE = 2,
  HIP_LAUNCH_CLUSTER_DIMENSION = 4, /* has no name in the headers, nor in the base */
};

/* hipDeviceProp_t, which the runtime knows as version R0600; with gaps for what nobody reads here. */
typedef struct {
  char gap0[296];
  size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  char gap1[36];
  int clock_rate;
  char gap2[36];
  int multiprocessor_count;
  char gap3[216];
  int memory_clock_rate;
  int memory_bus_width;
  char gap4[8];
  int max_threads_per_multiprocessor;
  char gap5[532];
  char architecture[256];
  char gap6[56];
} HipDeviceProperties;

/* hipLaunchAttribute */
typedef struct {
  int id;
  int padding;
  union {
    char bytes[64];
    int number;
    int dimensions[3];
  } value;
} HipLaunchAttribute;

/* HIP_LAUNCH_CONFIG */
typedef struct {
  unsigned int grid[3];
  unsigned int block[3];
  unsigned int shared_bytes;
  HipHandle stream;
  HipLaunchAttribute *attributes;
  unsigned int attribute_count;
} HipLaunchConfig;

#define HIP_LAUNCH_SHAPE                                                                                                         \
  HipHandle function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y, \
      unsigned int block_z, unsigned int shared_bytes, HipHandle stream

/* What the utilities need, and what launchers need. An older runtime lacks the one function of the last list. */
#define HIP_FUNCTIONS(FUNCTION)                                                                                                  \
  FUNCTION(hipGetDeviceProperties, HipResult, (HipDeviceProperties * properties, int device))                                    \
  FUNCTION(hipModuleLoadDataEx, HipResult,                                                                                       \
           (HipHandle * module, const void *image, unsigned int option_count, int *options, void **values))                     \
  FUNCTION(hipModuleGetFunction, HipResult, (HipHandle * function, HipHandle module, const char *name))                          \
  FUNCTION(hipFuncGetAttribute, HipResult, (int *value, int attribute, HipHandle function))

#define HIP_LAUNCHING_FUNCTIONS(FUNCTION)                                                                                        \
  FUNCTION(hipGetLastError, HipResult, (void))                                                                                   \
  FUNCTION(hipModuleLaunchKernel, HipResult, (HIP_LAUNCH_SHAPE, void **parameters, void **extra))                                \
  FUNCTION(hipModuleLaunchCooperativeKernel, HipResult, (HIP_LAUNCH_SHAPE, void **parameters))                                   \
  FUNCTION(hipPointerGetAttribute, HipResult, (void *value, int attribute, HipHandle address))

#define HIP_NEWER_FUNCTIONS(FUNCTION)                                                                                            \
  FUNCTION(hipDrvLaunchKernelEx, HipResult,                                                                                      \
           (const HipLaunchConfig *config, HipHandle function, void **parameters, void **extra))

#endif
