/* The fake libcuda.so.1: modules, functions, launches, tensor maps. */
#include "binary.h"

#include <cuda.h>
#include <stdbool.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_TENSOR_RANK 5

int fake_current_device(void);
int fake_attribute(CUdevice_attribute attribute, CUdevice device);

EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image) {
  ENTER(cuModuleLoadData, CUresult);
  FakeModule *loaded = fake_read_cubin(image);
  if (!loaded)
    return CUDA_ERROR_INVALID_IMAGE;
  *module = (CUmodule)loaded;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int option_count,
                                           CUjit_option *options, void **values) {
  (void)option_count, (void)options, (void)values;
  ENTER(cuModuleLoadDataEx, CUresult);
  return cuModuleLoadData(module, image);
}

EXPORT CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  ENTER(cuModuleUnload, CUresult);
  return module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER(cuModuleGetFunction, CUresult);
  FakeKernel *kernel = fake_find_kernel((const FakeModule *)module, name);
  if (!kernel)
    return CUDA_ERROR_NOT_FOUND;
  *function = (CUfunction)kernel;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  ENTER(cuFuncGetAttribute, CUresult);
  const FakeKernel *kernel = fake_kernel_of(function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
    *value = kernel->registers;
  else if (attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    *value = kernel->local_bytes;
  else if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    *value = kernel->threads ? kernel->threads : 1024;
  else if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    *value = 0; /* Triton's kernels use dynamic shared memory only */
  else
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  ENTER(cuFuncSetAttribute, CUresult);
  if (!fake_kernel_of(function))
    return CUDA_ERROR_INVALID_HANDLE;
  int limit = fake_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, fake_current_device());
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && (value < 0 || value > limit))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  (void)config;
  ENTER(cuFuncSetCacheConfig, CUresult);
  return fake_kernel_of(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  ENTER(cuFuncGetParamInfo, CUresult);
  const FakeKernel *kernel = fake_kernel_of(function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  if (index >= kernel->parameter_count)
    return CUDA_ERROR_INVALID_VALUE;
  *offset = kernel->parameters[index].offset;
  if (size)
    *size = kernel->parameters[index].size;
  return CUDA_SUCCESS;
}

/* Bytes of an attribute's value that mean something; the rest of the union may be uninitialised. */
static uint32_t attribute_size(CUlaunchAttributeID id) {
  switch (id) {
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    return 12;
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    return 4;
  default:
    return sizeof(CUlaunchAttributeValue);
  }
}

static bool shape_allowed(const CUlaunchConfig *config, const FakeKernel *kernel) {
  uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
  int limit = fake_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, fake_current_device());
  return config->gridDimX > 0 && config->gridDimX <= INT32_MAX && config->gridDimY > 0 && config->gridDimY <= 65535 &&
         config->gridDimZ > 0 && config->gridDimZ <= 65535 && threads > 0 && threads <= 1024 &&
         (!kernel->threads || threads == (uint64_t)kernel->threads) && config->sharedMemBytes <= (unsigned)limit;
}

EXPORT CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                         void **extra) {
  ENTER(cuLaunchKernelEx, CUresult);
  const FakeKernel *kernel = fake_kernel_of(function);
  if (!kernel)
    return CUDA_ERROR_INVALID_HANDLE;
  if (fake_current_device() < 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (extra || !parameters || config->numAttrs > FAKE_MAX_ATTRIBUTES || !shape_allowed(config, kernel))
    return CUDA_ERROR_INVALID_VALUE;
  FakeLaunch launch = {
      .kernel = kernel,
      .device = fake_current_device(),
      .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
      .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
      .shared = config->sharedMemBytes,
      .stream = (uint64_t)(uintptr_t)config->hStream,
      .attribute_count = config->numAttrs,
  };
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    launch.attributes[i].id = (int)config->attrs[i].id;
    launch.attributes[i].size = attribute_size(config->attrs[i].id);
    memcpy(launch.attributes[i].value, &config->attrs[i].value, launch.attributes[i].size);
  }
  fake_record(&launch, parameters);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                       unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                       unsigned int block_z, unsigned int shared, CUstream stream, void **parameters,
                                       void **extra) {
  ENTER(cuLaunchKernel, CUresult);
  CUlaunchConfig config = {
      .gridDimX = grid_x,
      .gridDimY = grid_y,
      .gridDimZ = grid_z,
      .blockDimX = block_x,
      .blockDimY = block_y,
      .blockDimZ = block_z,
      .sharedMemBytes = shared,
      .hStream = stream,
  };
  return cuLaunchKernelEx(&config, function, parameters, extra);
}

EXPORT CUresult CUDAAPI cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
  ENTER(cuOccupancyMaxActiveClusters, CUresult);
  if (!fake_kernel_of(function))
    return CUDA_ERROR_INVALID_HANDLE;
  unsigned int cluster = 1;
  for (unsigned int i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = config->attrs[i].value.clusterDim.x;
  if (cluster == 0 || cluster > 16)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  *clusters = fake_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, fake_current_device()) / (int)cluster;
  return CUDA_SUCCESS;
}

/* What the 128 bytes of a tensor map hold here: every argument of the encoder, so that a wrong one shows. The real
   layout is not public; only equality between two launches means anything. */
typedef struct {
  uint64_t address;
  uint64_t shape[MAX_TENSOR_RANK];
  uint64_t strides[MAX_TENSOR_RANK - 1];
  uint32_t box[MAX_TENSOR_RANK];
  uint32_t element_strides[MAX_TENSOR_RANK];
  uint8_t type, rank, interleave, swizzle, promotion, fill;
  uint8_t padding[2];
} FakeTensorMap;

_Static_assert(sizeof(FakeTensorMap) == sizeof(CUtensorMap), "a tensor map has 128 bytes");

EXPORT CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                               void *address, const cuuint64_t *shape, const cuuint64_t *strides,
                                               const cuuint32_t *box, const cuuint32_t *element_strides,
                                               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                               CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  ENTER(cuTensorMapEncodeTiled, CUresult);
  if (rank < 1 || rank > MAX_TENSOR_RANK || (uintptr_t)address % 16 != 0 || (uintptr_t)map % 64 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  FakeTensorMap encoded = {.address = (uintptr_t)address,
                           .type = (uint8_t)type,
                           .rank = (uint8_t)rank,
                           .interleave = (uint8_t)interleave,
                           .swizzle = (uint8_t)swizzle,
                           .promotion = (uint8_t)promotion,
                           .fill = (uint8_t)fill};
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (shape[i] == 0 || shape[i] > 1ull << 32 || box[i] == 0 || box[i] > 256 || element_strides[i] == 0 ||
        element_strides[i] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    if (i + 1 < rank && (strides[i] % 16 != 0 || strides[i] >= 1ull << 40))
      return CUDA_ERROR_INVALID_VALUE;
    encoded.shape[i] = shape[i];
    encoded.box[i] = box[i];
    encoded.element_strides[i] = element_strides[i];
    if (i + 1 < rank)
      encoded.strides[i] = strides[i];
  }
  memcpy(map, &encoded, sizeof encoded);
  return CUDA_SUCCESS;
}
