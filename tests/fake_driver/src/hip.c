/* The fake libamdhip64.so.

   FAKE_HIP_ARCHITECTURE (gfx942) and FAKE_HIP_DEVICES (1) say what there is. As in the fake libcuda.so.1, the top 16 bits
   of an address choose what hipPointerGetAttribute says: 0xbad0 an invalid value, 0xbad2 the lower 48 bits. */
#include "binary.h"

#include <hip/hip_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int device_count(void) { return (int)fake_setting("FAKE_HIP_DEVICES", 1); }

static const char *architecture(void) {
  const char *value = getenv("FAKE_HIP_ARCHITECTURE");
  return value && *value ? value : "gfx942";
}

static unsigned int shared_memory(void) { return strcmp(architecture(), "gfx950") == 0 ? 163840 : 65536; }

EXPORT hipError_t hipDriverGetVersion(int *version) {
  ENTER(hipDriverGetVersion, hipError_t);
  *version = HIP_VERSION;
  return hipSuccess;
}

EXPORT const char *hipGetErrorString(hipError_t error) {
  switch (error) {
  case hipSuccess:
    return "no error";
  case hipErrorInvalidValue:
    return "invalid argument";
  case hipErrorInvalidImage:
    return "device kernel image is invalid";
  case hipErrorNotFound:
    return "named symbol not found";
  case hipErrorInvalidHandle:
    return "invalid resource handle";
  default:
    return "another error of the fake driver";
  }
}

EXPORT hipError_t hipGetLastError(void) {
  ENTER(hipGetLastError, hipError_t);
  return hipSuccess;
}

EXPORT hipError_t hipGetDeviceCount(int *count) {
  ENTER(hipGetDeviceCount, hipError_t);
  *count = device_count();
  return hipSuccess;
}

/* Values of an MI300X, but for what depends on the architecture. */
EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
  ENTER(hipGetDeviceProperties, hipError_t);
  if (device < 0 || device >= device_count())
    return hipErrorInvalidDevice;
  memset(properties, 0, sizeof *properties);
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s:sramecc+:xnack-", architecture());
  properties->sharedMemPerBlock = shared_memory();
  properties->regsPerBlock = 65536;
  properties->multiProcessorCount = 304;
  properties->clockRate = 2100000;
  properties->memoryClockRate = 1300000;
  properties->memoryBusWidth = 8192;
  properties->warpSize = strncmp(architecture(), "gfx9", 4) == 0 ? 64 : 32;
  properties->maxThreadsPerMultiProcessor = 2048;
  return hipSuccess;
}

EXPORT hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned int option_count,
                                      hipJitOption *options, void **values) {
  (void)option_count, (void)options, (void)values;
  ENTER(hipModuleLoadDataEx, hipError_t);
  FakeModule *loaded = fake_read_hsaco(image);
  if (!loaded)
    return hipErrorInvalidImage;
  *module = (hipModule_t)loaded;
  return hipSuccess;
}

EXPORT hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
  ENTER(hipModuleGetFunction, hipError_t);
  FakeKernel *kernel = fake_find_kernel((const FakeModule *)module, name);
  if (!kernel)
    return hipErrorNotFound;
  *function = (hipFunction_t)kernel;
  return hipSuccess;
}

EXPORT hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t function) {
  ENTER(hipFuncGetAttribute, hipError_t);
  const FakeKernel *kernel = fake_kernel_of(function);
  if (!kernel)
    return hipErrorInvalidHandle;
  if (attribute == HIP_FUNC_ATTRIBUTE_NUM_REGS)
    *value = kernel->registers;
  else if (attribute == HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    *value = kernel->local_bytes;
  else if (attribute == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    *value = kernel->threads ? kernel->threads : 1024;
  else
    return hipErrorInvalidValue;
  return hipSuccess;
}

EXPORT hipError_t hipPointerGetAttribute(void *value, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  ENTER(hipPointerGetAttribute, hipError_t);
  uint64_t address = (uint64_t)(uintptr_t)pointer;
  if (attribute != HIP_POINTER_ATTRIBUTE_DEVICE_POINTER || address >> 48 == 0xbad0)
    return hipErrorInvalidValue;
  if (address >> 48 == 0xbad2)
    address &= 0xffffffffffffull;
  memcpy(value, &address, sizeof address);
  return hipSuccess;
}

/* Checks a launch and records it. */
static hipError_t launch(const HIP_LAUNCH_CONFIG *config, hipFunction_t function, void **parameters, void **extra) {
  const FakeKernel *kernel = fake_kernel_of(function);
  if (!kernel)
    return hipErrorInvalidHandle;
  uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
  if (extra || !parameters || config->numAttrs > FAKE_MAX_ATTRIBUTES || config->gridDimX == 0 || config->gridDimY == 0 ||
      config->gridDimZ == 0 || config->gridDimX > INT32_MAX || threads == 0 || threads > 1024 ||
      (kernel->threads && threads > (uint64_t)kernel->threads) || config->sharedMemBytes > shared_memory())
    return hipErrorInvalidValue;
  FakeLaunch record = {
      .kernel = kernel,
      .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
      .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
      .shared = config->sharedMemBytes,
      .stream = (uint64_t)(uintptr_t)config->hStream,
      .attribute_count = config->numAttrs,
  };
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    record.attributes[i].id = (int)config->attrs[i].id;
    /* Number 4, cluster dimensions, has no name in these headers: three integers. The others are one. */
    record.attributes[i].size = (int)config->attrs[i].id == 4 ? 12 : 4;
    memcpy(record.attributes[i].value, config->attrs[i].val.pad, record.attributes[i].size);
  }
  fake_record(&record, parameters);
  return hipSuccess;
}

EXPORT hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t function, void **parameters,
                                       void **extra) {
  ENTER(hipDrvLaunchKernelEx, hipError_t);
  return launch(config, function, parameters, extra);
}

#define SHAPE                                                                                                          \
  unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y,           \
      unsigned int block_z, unsigned int shared, hipStream_t stream
#define CONFIG                                                                                                         \
  .gridDimX = grid_x, .gridDimY = grid_y, .gridDimZ = grid_z, .blockDimX = block_x, .blockDimY = block_y,             \
  .blockDimZ = block_z, .sharedMemBytes = shared, .hStream = stream

EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t function, SHAPE, void **parameters, void **extra) {
  ENTER(hipModuleLaunchKernel, hipError_t);
  HIP_LAUNCH_CONFIG config = {CONFIG};
  return launch(&config, function, parameters, extra);
}

/* Recorded as a launch with the attribute that says the same. */
EXPORT hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, SHAPE, void **parameters) {
  ENTER(hipModuleLaunchCooperativeKernel, hipError_t);
  hipLaunchAttribute cooperative = {.id = hipLaunchAttributeCooperative, .val.cooperative = 1};
  HIP_LAUNCH_CONFIG config = {CONFIG, .attrs = &cooperative, .numAttrs = 1};
  return launch(&config, function, parameters, NULL);
}

EXPORT hipError_t hipGetProcAddress(const char *symbol, void **function, int version, uint64_t flags,
                                    hipDriverProcAddressQueryResult *status) {
#define NAMED(name) {#name, (void *)name}
  static const struct {
    const char *name;
    void *function;
  } functions[] = {
      NAMED(hipDriverGetVersion),       NAMED(hipGetErrorString),     NAMED(hipGetLastError),
      NAMED(hipGetDeviceCount),         NAMED(hipGetDeviceProperties), NAMED(hipModuleLoadDataEx),
      NAMED(hipModuleGetFunction),      NAMED(hipFuncGetAttribute),   NAMED(hipPointerGetAttribute),
      NAMED(hipDrvLaunchKernelEx),      NAMED(hipModuleLaunchKernel), NAMED(hipModuleLaunchCooperativeKernel),
  };
  (void)version, (void)flags;
  ENTER(hipGetProcAddress, hipError_t);
  *function = NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (strcmp(functions[i].name, symbol) == 0)
      *function = functions[i].function;
  if (status)
    *status = *function ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? hipSuccess : hipErrorNotFound;
}
