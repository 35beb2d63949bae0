#include "driver/cuda_utilities.h"

#include "driver/cuda_driver.h"

/* Static shared memory that every device allows without being asked. */
#define SHARED_WITHOUT_OPTIN 49152

/* Ends a function that works without the GIL at the first error of the driver. */
#define TRY(call)                                                                                                                \
  do {                                                                                                                           \
    CudaResult result_ = (call);                                                                                                 \
    if (result_ != CUDA_OK)                                                                                                      \
      return result_;                                                                                                            \
  } while (0)

PyObject *cuda_get_device_properties(PyObject *module, PyObject *arguments) {
  (void)module;
  static const struct {
    const char *name;
    int attribute;
  } properties[] = {
      {"max_shared_mem", DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
      {"max_num_regs", DEVICE_MAX_REGISTERS_PER_BLOCK},
      {"multiprocessor_count", DEVICE_MULTIPROCESSOR_COUNT},
      {"warpSize", DEVICE_WARP_SIZE},
      {"sm_clock_rate", DEVICE_CLOCK_RATE},
      {"mem_clock_rate", DEVICE_MEMORY_CLOCK_RATE},
      {"mem_bus_width", DEVICE_GLOBAL_MEMORY_BUS_WIDTH},
  };
  enum { COUNT = sizeof properties / sizeof *properties };
  int ordinal;
  if (!PyArg_ParseTuple(arguments, "i", &ordinal))
    return NULL;
  const CudaDriver *driver = cuda_driver();
  if (!driver)
    return NULL;
  CudaDevice device = -1; /* what stays where there is no such device makes the first question fail */
  driver->cuDeviceGet(&device, ordinal);
  int values[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    CudaResult result = driver->cuDeviceGetAttribute(&values[i], properties[i].attribute, device);
    if (result != CUDA_OK) {
      cuda_raise(result);
      return NULL;
    }
  }
  return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i,s:i,s:i}", properties[0].name, values[0], properties[1].name, values[1],
                       properties[2].name, values[2], properties[3].name, values[3], properties[4].name, values[4],
                       properties[5].name, values[5], properties[6].name, values[6]);
}

static CudaResult ensure_context(const CudaDriver *driver, CudaDevice device) {
  CudaHandle context = NULL;
  TRY(driver->cuCtxGetCurrent(&context));
  if (context)
    return CUDA_OK;
  TRY(driver->cuDevicePrimaryCtxRetain(&context, device));
  return driver->cuCtxSetCurrent(context);
}

/* A kernel that wants more shared memory than the default gets all that the device allows. */
static CudaResult allow_shared_memory(const CudaDriver *driver, CudaHandle function, int shared, CudaDevice device) {
  int allowed, of_function, of_multiprocessor;
  TRY(driver->cuDeviceGetAttribute(&allowed, DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  if (shared <= SHARED_WITHOUT_OPTIN || allowed <= SHARED_WITHOUT_OPTIN)
    return CUDA_OK;
  TRY(driver->cuFuncSetCacheConfig(function, CACHE_PREFER_SHARED));
  TRY(driver->cuDeviceGetAttribute(&of_multiprocessor, DEVICE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device));
  TRY(driver->cuFuncGetAttribute(&of_function, FUNCTION_SHARED_SIZE_BYTES, function));
  return driver->cuFuncSetAttribute(function, FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES, allowed - of_function);
}

typedef struct {
  CudaHandle module;
  CudaHandle function;
  int registers;
  int local_bytes;
  int max_threads;
} LoadedKernel;

static CudaResult load_kernel(const CudaDriver *driver, const char *name, const char *image, int shared, CudaDevice device,
                              LoadedKernel *kernel) {
  TRY(ensure_context(driver, device));
  TRY(driver->cuModuleLoadData(&kernel->module, image));
  TRY(driver->cuModuleGetFunction(&kernel->function, kernel->module, name));
  TRY(driver->cuFuncGetAttribute(&kernel->registers, FUNCTION_REGISTER_COUNT, kernel->function));
  TRY(driver->cuFuncGetAttribute(&kernel->local_bytes, FUNCTION_LOCAL_SIZE_BYTES, kernel->function));
  TRY(driver->cuFuncGetAttribute(&kernel->max_threads, FUNCTION_MAX_THREADS_PER_BLOCK, kernel->function));
  return allow_shared_memory(driver, kernel->function, shared, device);
}

PyObject *cuda_load_binary(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *name, *image;
  Py_ssize_t size;
  int shared, device;
  if (!_PyArg_ParseTuple_SizeT(arguments, "ss#ii", &name, &image, &size, &shared, &device))
    return NULL;
  const CudaDriver *driver = cuda_driver();
  if (!driver)
    return NULL;
  LoadedKernel kernel = {0};
  PyThreadState *state = PyEval_SaveThread();
  CudaResult result = load_kernel(driver, name, image, shared, device, &kernel);
  PyEval_RestoreThread(state);
  if (result != CUDA_OK) {
    cuda_raise(result);
    return NULL;
  }
  return Py_BuildValue("(KKiii)", (unsigned long long)(uintptr_t)kernel.module, (unsigned long long)(uintptr_t)kernel.function,
                       kernel.registers, kernel.local_bytes / 4, kernel.max_threads);
}

static CudaResult count_clusters(const CudaDriver *driver, CudaHandle function, int shared, int cluster, int *clusters) {
  CudaLaunchAttribute dimension = {.id = LAUNCH_CLUSTER_DIMENSION};
  dimension.value.dimensions[0] = (unsigned int)cluster;
  dimension.value.dimensions[1] = dimension.value.dimensions[2] = 1;
  CudaLaunchConfig configuration = {
      .grid = {(unsigned int)cluster, 1, 1}, /* each multiprocessor has one block */
      .block = {128, 1, 1},
      .shared_bytes = (unsigned int)shared,
      .attributes = &dimension,
      .attribute_count = 1,
  };
  TRY(driver->cuFuncSetAttribute(function, FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
  TRY(driver->cuFuncSetAttribute(function, FUNCTION_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  return driver->cuOccupancyMaxActiveClusters(clusters, function, &configuration);
}

PyObject *occupancy_max_active_clusters(PyObject *module, PyObject *arguments) {
  (void)module;
  unsigned long long function;
  int shared, cluster, clusters = -1;
  if (!PyArg_ParseTuple(arguments, "Kii", &function, &shared, &cluster))
    return NULL;
  const CudaDriver *driver = cuda_driver();
  if (!driver)
    return NULL;
  if (!driver->cuOccupancyMaxActiveClusters) {
    cuda_raise_missing("cuOccupancyMaxActiveClusters");
    return NULL;
  }
  PyThreadState *state = PyEval_SaveThread();
  CudaResult result = count_clusters(driver, (CudaHandle)(uintptr_t)function, shared, cluster, &clusters);
  PyEval_RestoreThread(state);
  if (result != CUDA_OK) {
    cuda_raise(result);
    return NULL;
  }
  return PyLong_FromLong(clusters);
}

/* The driver refuses any change after a kernel that prints, even to the size that is set: so that one is not set again. */
static CudaResult change_fifo_size(const CudaDriver *driver, size_t size) {
  size_t before = 0;
  TRY(ensure_context(driver, 0));
  TRY(driver->cuCtxGetLimit(&before, LIMIT_PRINTF_FIFO_SIZE));
  return before == size ? CUDA_OK : driver->cuCtxSetLimit(LIMIT_PRINTF_FIFO_SIZE, size);
}

PyObject *set_printf_fifo_size(PyObject *module, PyObject *arguments) {
  (void)module;
  long size;
  if (!PyArg_ParseTuple(arguments, "l", &size))
    return NULL;
  if (size < 0) {
    PyErr_SetString(PyExc_ValueError, "fifo size must be non-negative");
    return NULL;
  }
  const CudaDriver *driver = cuda_driver();
  if (!driver)
    return NULL;
  PyThreadState *state = PyEval_SaveThread();
  CudaResult result = change_fifo_size(driver, (size_t)size);
  PyEval_RestoreThread(state);
  if (result != CUDA_OK) {
    cuda_raise(result);
    return NULL;
  }
  return new_reference(Py_None);
}
