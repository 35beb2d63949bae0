/* The fake libcuda.so.1: devices, contexts, memory, streams, events, errors.

   FAKE_CUDA_CAPABILITY (90) and FAKE_CUDA_DEVICES (1) say what there is. Addresses are never dereferenced by launches;
   their top 16 bits choose what cuPointerGetAttribute says, so that each outcome can be reached:
     0xbad0  CUDA_ERROR_INVALID_VALUE, as for memory of the host
     0xbad1  CUDA_ERROR_INVALID_CONTEXT, an error of another kind
     0xbad2  success with another address: the lower 48 bits, as for mapped memory of the host */
#define _GNU_SOURCE
#include "recorder.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_DEVICES 64

/* A context is the address of its device's slot. */
static char contexts[MAX_DEVICES];
static __thread CUcontext current;
static size_t printf_bytes = 1 << 20;

static int device_count(void) {
  long count = fake_setting("FAKE_CUDA_DEVICES", 1);
  return count < 0 || count > MAX_DEVICES ? MAX_DEVICES : (int)count;
}

/* Device of the calling thread's context, or -1 where it has none. */
int fake_current_device(void) { return current ? (int)((char *)current - contexts) : -1; }

static int shared_memory(long capability) {
  if (capability == 80 || capability == 87)
    return 166912;
  return capability >= 90 && capability < 120 ? 232448 : 101376;
}

/* Values of a data centre GPU of the configured capability; unknown attributes are 0. */
int fake_attribute(CUdevice_attribute attribute, CUdevice device) {
  (void)device;
  long capability = fake_setting("FAKE_CUDA_CAPABILITY", 90);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return (int)(capability / 10);
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return (int)(capability % 10);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return shared_memory(capability);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return shared_memory(capability) + 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 49152;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return 132;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return 1024;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return 2048;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return 1755000;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 2619000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 5120;
  default:
    return 0;
  }
}

EXPORT CUresult CUDAAPI cuInit(unsigned int flags) {
  ENTER(cuInit, CUresult);
  return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDriverGetVersion(int *version) {
  ENTER(cuDriverGetVersion, CUresult);
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text) {
  ENTER(cuGetErrorString, CUresult);
  switch (error) {
  case CUDA_SUCCESS:
    *text = "no error";
    break;
  case CUDA_ERROR_INVALID_VALUE:
    *text = "invalid argument";
    break;
  case CUDA_ERROR_OUT_OF_MEMORY:
    *text = "out of memory";
    break;
  case CUDA_ERROR_INVALID_IMAGE:
    *text = "device kernel image is invalid";
    break;
  case CUDA_ERROR_INVALID_CONTEXT:
    *text = "invalid device context";
    break;
  case CUDA_ERROR_INVALID_HANDLE:
    *text = "invalid resource handle";
    break;
  case CUDA_ERROR_NOT_FOUND:
    *text = "named symbol not found";
    break;
  default:
    *text = "another error of the fake driver";
  }
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuGetErrorName(CUresult error, const char **text) {
  ENTER(cuGetErrorName, CUresult);
  *text = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_OF_THE_FAKE_DRIVER";
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount, CUresult);
  *count = device_count();
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER(cuDeviceGet, CUresult);
  if (ordinal < 0 || ordinal >= device_count())
    return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device) {
  (void)device;
  ENTER(cuDeviceGetName, CUresult);
  strncpy(name, "Fake CUDA device", (size_t)length);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  ENTER(cuDeviceGetAttribute, CUresult);
  if (device < 0 || device >= device_count())
    return CUDA_ERROR_INVALID_DEVICE;
  *value = fake_attribute(attribute, device);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER(cuDevicePrimaryCtxRetain, CUresult);
  if (device < 0 || device >= device_count())
    return CUDA_ERROR_INVALID_DEVICE;
  *context = (CUcontext)&contexts[device];
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  ENTER(cuDevicePrimaryCtxRelease, CUresult);
  return device < 0 || device >= device_count() ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context) {
  ENTER(cuCtxGetCurrent, CUresult);
  *context = current;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
  ENTER(cuCtxSetCurrent, CUresult);
  current = context;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxGetDevice(CUdevice *device) {
  ENTER(cuCtxGetDevice, CUresult);
  if (!current)
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = fake_current_device();
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxGetLimit(size_t *value, CUlimit limit) {
  ENTER(cuCtxGetLimit, CUresult);
  if (limit != CU_LIMIT_PRINTF_FIFO_SIZE)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = printf_bytes;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value) {
  ENTER(cuCtxSetLimit, CUresult);
  if (limit != CU_LIMIT_PRINTF_FIFO_SIZE)
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  printf_bytes = value;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuCtxSynchronize(void) {
  ENTER(cuCtxSynchronize, CUresult);
  return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

EXPORT CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned int flags) {
  (void)flags;
  ENTER(cuStreamCreate, CUresult);
  *stream = malloc(1);
  return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult CUDAAPI cuStreamDestroy(CUstream stream) {
  ENTER(cuStreamDestroy, CUresult);
  free(stream);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuStreamSynchronize(CUstream stream) {
  (void)stream;
  ENTER(cuStreamSynchronize, CUresult);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned int flags) {
  (void)flags;
  ENTER(cuEventCreate, CUresult);
  *event = malloc(1);
  return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult CUDAAPI cuEventDestroy(CUevent event) {
  ENTER(cuEventDestroy, CUresult);
  free(event);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
  (void)event, (void)stream;
  ENTER(cuEventRecord, CUresult);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuEventSynchronize(CUevent event) {
  (void)event;
  ENTER(cuEventSynchronize, CUresult);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  (void)start, (void)end;
  ENTER(cuEventElapsedTime, CUresult);
  *milliseconds = 1.0f;
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  ENTER(cuMemAlloc, CUresult);
  *address = (CUdeviceptr)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  ENTER(cuMemFree, CUresult);
  free((void *)(uintptr_t)address);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
  ENTER(cuPointerGetAttribute, CUresult);
  if (attribute != CU_POINTER_ATTRIBUTE_DEVICE_POINTER || address >> 48 == 0xbad0)
    return CUDA_ERROR_INVALID_VALUE;
  if (address >> 48 == 0xbad1)
    return CUDA_ERROR_INVALID_CONTEXT;
  CUdeviceptr seen = address >> 48 == 0xbad2 ? address & 0xffffffffffffull : address;
  memcpy(value, &seen, sizeof seen);
  return CUDA_SUCCESS;
}

EXPORT CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
                                         CUdriverProcAddressQueryResult *status) {
  (void)version, (void)flags;
  ENTER(cuGetProcAddress, CUresult);
  void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  *function = library ? dlsym(library, symbol) : NULL;
  if (status)
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
