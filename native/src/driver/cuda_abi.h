/* The part of the CUDA driver's ABI that the extension uses. The driver keeps it for good: a program built against an old
   cuda.h runs on every newer driver. tests/native checks sizes, offsets and numbers against the cuda.h that Triton ships. */
#ifndef TRITON_FORK_CUDA_ABI_H
#define TRITON_FORK_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int CudaResult;
typedef int CudaDevice;
typedef void *CudaHandle; /* context, module, function or stream */
typedef uint64_t CudaAddress;

enum {
  CUDA_OK = 0,
  CUDA_INVALID_VALUE = 1,
};

/* CUdevice_attribute */
enum {
  DEVICE_WARP_SIZE = 10,
  DEVICE_MAX_REGISTERS_PER_BLOCK = 12,
  DEVICE_CLOCK_RATE = 13,
  DEVICE_MULTIPROCESSOR_COUNT = 16,
  DEVICE_MEMORY_CLOCK_RATE = 36,
  DEVICE_GLOBAL_MEMORY_BUS_WIDTH = 37,
  DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

/* CUfunction_attribute, CUfunc_cache, CUlimit, CUpointer_attribute */
enum {
  FUNCTION_MAX_THREADS_PER_BLOCK = 0,
  FUNCTION_SHARED_SIZE_BYTES = 1,
  FUNCTION_LOCAL_SIZE_BYTES = 3,
  FUNCTION_REGISTER_COUNT = 4,
  FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  FUNCTION_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
  CACHE_PREFER_SHARED = 1,
  LIMIT_PRINTF_FIFO_SIZE = 1,
  POINTER_DEVICE_POINTER = 3,
};

/* CUlaunchAttributeID, CUclusterSchedulingPolicy */
enum {
  LAUNCH_COOPERATIVE = 2,
  LAUNCH_CLUSTER_DIMENSION = 4,
  LAUNCH_CLUSTER_SCHEDULING = 5,
  LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
  CLUSTER_SCHEDULING_SPREAD = 1,
};

/* Of cuTensorMapEncodeTiled */
enum {
  TENSOR_MAP_INTERLEAVE_NONE = 0,
  TENSOR_MAP_PROMOTION_128B = 2,
  TENSOR_MAP_FILL_ZERO = 0,
  TENSOR_MAP_FILL_NAN = 1,
};

/* CUlaunchAttribute */
typedef struct {
  int id;
  int padding;
  union {
    char bytes[64];
    int number;
    unsigned int dimensions[3];
  } value;
} CudaLaunchAttribute;

/* CUlaunchConfig */
typedef struct {
  unsigned int grid[3];
  unsigned int block[3];
  unsigned int shared_bytes;
  CudaHandle stream;
  CudaLaunchAttribute *attributes;
  unsigned int attribute_count;
} CudaLaunchConfig;

/* CUtensorMap: 128 opaque bytes. As a kernel parameter they must be aligned to 64, in Triton's object to 128. */
typedef struct {
  _Alignas(128) uint64_t opaque[16];
} CudaTensorMap;

/* The driver's functions. Those of the second list came with CUDA 11.8 and 12.0: an older driver lacks them. */
#define CUDA_FUNCTIONS(FUNCTION)                                                                                                 \
  FUNCTION(cuGetErrorString, (CudaResult error, const char **text))                                                              \
  FUNCTION(cuDeviceGet, (CudaDevice * device, int ordinal))                                                                      \
  FUNCTION(cuDeviceGetAttribute, (int *value, int attribute, CudaDevice device))                                                 \
  FUNCTION(cuDevicePrimaryCtxRetain, (CudaHandle * context, CudaDevice device))                                                  \
  FUNCTION(cuCtxGetCurrent, (CudaHandle * context))                                                                              \
  FUNCTION(cuCtxSetCurrent, (CudaHandle context))                                                                                \
  FUNCTION(cuCtxGetLimit, (size_t * value, int limit))                                                                           \
  FUNCTION(cuCtxSetLimit, (int limit, size_t value))                                                                             \
  FUNCTION(cuModuleLoadData, (CudaHandle * module, const void *image))                                                           \
  FUNCTION(cuModuleGetFunction, (CudaHandle * function, CudaHandle module, const char *name))                                    \
  FUNCTION(cuFuncGetAttribute, (int *value, int attribute, CudaHandle function))                                                 \
  FUNCTION(cuFuncSetAttribute, (CudaHandle function, int attribute, int value))                                                  \
  FUNCTION(cuFuncSetCacheConfig, (CudaHandle function, int config))                                                              \
  FUNCTION(cuPointerGetAttribute, (void *value, int attribute, CudaAddress address))

#define CUDA_NEWER_FUNCTIONS(FUNCTION)                                                                                           \
  FUNCTION(cuLaunchKernelEx,                                                                                                     \
           (const CudaLaunchConfig *config, CudaHandle function, void **parameters, void **extra))                               \
  FUNCTION(cuOccupancyMaxActiveClusters, (int *clusters, CudaHandle function, const CudaLaunchConfig *config))                   \
  FUNCTION(cuTensorMapEncodeTiled,                                                                                               \
           (CudaTensorMap * map, int type, uint32_t rank, void *address, const uint64_t *shape, const uint64_t *strides,         \
            const uint32_t *box, const uint32_t *element_strides, int interleave, int swizzle, int promotion, int fill))

#endif
