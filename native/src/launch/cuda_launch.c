#include "driver/cuda_driver.h"
#include "driver/tensor_map.h"
#include "launch/launch.h"
#include "pack/values.h"

/* Mirrors third_party/nvidia/backend/driver.py: make_launcher */

#define WARP_SIZE 32
#define LARGEST_PORTABLE_CLUSTER_AND_ONE 16
#define MAX_ATTRIBUTES 4

/* Where a launcher finds what. The kernel's arguments follow. */
enum {
  GRID = 0,
  STREAM = 3,
  FUNCTION,
  COOPERATIVE,
  DEPENDENT,
  GLOBAL_SCRATCH,
  PROFILE_SCRATCH,
  METADATA, /* (warps, blocks in a cluster, shared bytes) */
  LAUNCH_METADATA,
  ENTER_HOOK,
  EXIT_HOOK,
  BASE_ARGUMENTS,
};

static int read_settings(PyObject *const *arguments, Settings *settings) {
  for (int i = 0; i < 3; ++i)
    if (!read_int(arguments[GRID + i], &settings->grid[i]))
      return 0;
  if (!read_word(arguments[STREAM], STREAM + 1, &settings->stream) ||
      !read_word(arguments[FUNCTION], FUNCTION + 1, &settings->function))
    return 0;
  settings->cooperative = PyObject_IsTrue(arguments[COOPERATIVE]);
  settings->dependent = settings->cooperative < 0 ? -1 : PyObject_IsTrue(arguments[DEPENDENT]);
  return settings->dependent >= 0;
}

static int read_metadata(PyObject *metadata, Settings *settings) {
  if (PyTuple_Check(metadata) && PyTuple_Size(metadata) == 3 && read_int(PyTuple_GetItem(metadata, 0), &settings->warps) &&
      read_int(PyTuple_GetItem(metadata, 1), &settings->cluster) && read_int(PyTuple_GetItem(metadata, 2), &settings->shared))
    return 1;
  PyErr_SetString(PyExc_TypeError, "kernel_metadata must be a tuple");
  return 0;
}

static unsigned int launch_attributes(const Settings *settings, CudaLaunchAttribute *attributes) {
  unsigned int count = 0;
  if (settings->dependent) {
    attributes[count] = (CudaLaunchAttribute){.id = LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION};
    attributes[count++].value.number = 1;
  }
  if (settings->cooperative) {
    attributes[count] = (CudaLaunchAttribute){.id = LAUNCH_COOPERATIVE};
    attributes[count++].value.number = 1;
  }
  if (settings->cluster != 1) {
    attributes[count] = (CudaLaunchAttribute){.id = LAUNCH_CLUSTER_DIMENSION};
    attributes[count].value.dimensions[0] = (unsigned int)settings->cluster;
    attributes[count].value.dimensions[1] = attributes[count].value.dimensions[2] = 1;
    attributes[++count] = (CudaLaunchAttribute){.id = LAUNCH_CLUSTER_SCHEDULING};
    attributes[count++].value.number = CLUSTER_SCHEDULING_SPREAD;
  }
  return count;
}

/* Runs without the GIL. Returns the last error, as the base raises it. */
static CudaResult submit(const CudaDriver *driver, const Settings *settings, void **parameters) {
  CudaLaunchAttribute attributes[MAX_ATTRIBUTES];
  CudaHandle function = (CudaHandle)(uintptr_t)settings->function;
  CudaLaunchConfig configuration = {
      .grid = {(unsigned int)settings->grid[0] * (unsigned int)settings->cluster, (unsigned int)settings->grid[1],
               (unsigned int)settings->grid[2]},
      .block = {WARP_SIZE * (unsigned int)settings->warps, 1, 1},
      .shared_bytes = (unsigned int)settings->shared,
      .stream = (CudaHandle)(uintptr_t)settings->stream,
      .attributes = attributes,
      .attribute_count = launch_attributes(settings, attributes),
  };
  CudaResult allowed = CUDA_OK;
  if (settings->cluster == LARGEST_PORTABLE_CLUSTER_AND_ONE)
    allowed = driver->cuFuncSetAttribute(function, FUNCTION_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  CudaResult launched = driver->cuLaunchKernelEx(&configuration, function, parameters, NULL);
  return launched != CUDA_OK ? launched : allowed;
}

static int submit_without_gil(Packer *packer, Settings *settings) {
  /* The product is one of 32 bits in the base: where it wraps to nothing, nothing is launched. */
  unsigned int blocks = (unsigned int)settings->grid[0] * (unsigned int)settings->grid[1] * (unsigned int)settings->grid[2];
  if ((int)blocks <= 0)
    return 1;
  const CudaDriver *driver = cuda_driver();
  if (!driver->cuLaunchKernelEx) {
    cuda_raise_missing("cuLaunchKernelEx");
    return 0;
  }
  add_scratch(packer, settings);
  PyThreadState *state = PyEval_SaveThread();
  CudaResult result = submit(driver, settings, packer->parameters);
  PyEval_RestoreThread(state);
  if (result != CUDA_OK)
    cuda_raise(result);
  return result == CUDA_OK;
}

static int run(Packer *packer, PyObject *const *arguments) {
  Settings settings;
  const Vendor *vendor = &cuda_vendor;
  PyObject *launch_metadata = arguments[LAUNCH_METADATA];
  return read_settings(arguments, &settings) && read_arguments(packer, arguments + BASE_ARGUMENTS) &&
         read_metadata(arguments[METADATA], &settings) && call_hook(arguments[ENTER_HOOK], launch_metadata) &&
         read_pointer(vendor, arguments[GLOBAL_SCRATCH], -1, &settings.global_scratch) &&
         read_pointer(vendor, arguments[PROFILE_SCRATCH], -1, &settings.profile_scratch) && read_late(packer) &&
         submit_without_gil(packer, &settings) && call_hook(arguments[EXIT_HOOK], launch_metadata);
}

/* A thread without a context gets the first device's. */
static int begin(void) {
  const CudaDriver *driver = cuda_driver();
  CudaHandle context = NULL;
  CudaDevice device = 0;
  if (!driver)
    return 0;
  CudaResult result = driver->cuCtxGetCurrent(&context);
  if (result == CUDA_OK && !context) {
    if (result == CUDA_OK)
      result = driver->cuDevicePrimaryCtxRetain(&context, device);
    if (result == CUDA_OK)
      result = driver->cuCtxSetCurrent(context);
  }
  if (result != CUDA_OK)
    cuda_raise(result);
  return result == CUDA_OK;
}

static int ask_driver(int index, uint64_t *address) {
  uint64_t on_device = 0;
  CudaResult result = cuda_driver()->cuPointerGetAttribute(&on_device, POINTER_DEVICE_POINTER, *address);
  if (result == CUDA_INVALID_VALUE)
    PyErr_Format(PyExc_ValueError, "Pointer argument (at %d) cannot be accessed from Triton (cpu tensor?)", index);
  else if (result != CUDA_OK)
    cuda_raise(result);
  *address = on_device;
  return result == CUDA_OK;
}

const Vendor cuda_vendor = {
    .base_arguments = BASE_ARGUMENTS,
    .late = "PTe",
    .descriptor_name = "PyCUtensorMap",
    .descriptor_offset = offsetof(TensorMapObject, map),
    .descriptor_alignment = _Alignof(CudaTensorMap),
    .begin = begin,
    .ask_driver = ask_driver,
    .run = run,
    .submit = submit_without_gil,
};
