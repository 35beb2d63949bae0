#include "driver/hip_utilities.h"

#include "driver/hip_driver.h"

#define LOG_BYTES 8192

PyObject *hip_get_device_properties(PyObject *module, PyObject *arguments) {
  (void)module;
  int device;
  if (!PyArg_ParseTuple(arguments, "i", &device))
    return NULL;
  const HipDriver *driver = hip_driver();
  if (!driver)
    return NULL;
  HipDeviceProperties properties;
  HipResult result = driver->hipGetDeviceProperties(&properties, device);
  if (result != HIP_OK) {
    hip_raise(result);
    return NULL;
  }
  return Py_BuildValue("{s:i,s:i,s:i,s:i,s:i,s:i,s:s,s:i,s:i}", "max_shared_mem", (int)properties.shared_per_block,
                       "max_num_regs", properties.registers_per_block, "multiprocessor_count", properties.multiprocessor_count,
                       "sm_clock_rate", properties.clock_rate, "mem_clock_rate", properties.memory_clock_rate, "mem_bus_width",
                       properties.memory_bus_width, "arch", properties.architecture, "warpSize", properties.warp_size,
                       "max_threads_per_sm", properties.max_threads_per_multiprocessor);
}

static HipResult load_module(const HipDriver *driver, const char *image, HipHandle *module) {
  char errors[LOG_BYTES], log[LOG_BYTES];
  int options[] = {HIP_JIT_ERROR_LOG_BYTES, HIP_JIT_ERROR_LOG, HIP_JIT_INFO_LOG_BYTES, HIP_JIT_INFO_LOG, HIP_JIT_LOG_VERBOSE};
  void *values[] = {(void *)(uintptr_t)sizeof errors, errors, (void *)(uintptr_t)sizeof log, log, (void *)(uintptr_t)1};
  return driver->hipModuleLoadDataEx(module, image, sizeof options / sizeof *options, options, values);
}

/* What the base does not ask after is no error: an attribute that the runtime does not tell stays 0. */
PyObject *hip_load_binary(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *name, *image;
  Py_ssize_t size;
  int shared, device, registers = 0, local_bytes = 0, max_threads = 0;
  if (!_PyArg_ParseTuple_SizeT(arguments, "ss#ii", &name, &image, &size, &shared, &device))
    return NULL;
  const HipDriver *driver = hip_driver();
  if (!driver)
    return NULL;
  HipHandle loaded = NULL, function = NULL;
  HipResult result = load_module(driver, image, &loaded);
  if (result == HIP_OK)
    result = driver->hipModuleGetFunction(&function, loaded, name);
  if (result != HIP_OK) {
    hip_raise(result);
    return NULL;
  }
  driver->hipFuncGetAttribute(&registers, HIP_FUNCTION_REGISTER_COUNT, function);
  driver->hipFuncGetAttribute(&local_bytes, HIP_FUNCTION_LOCAL_SIZE_BYTES, function);
  driver->hipFuncGetAttribute(&max_threads, HIP_FUNCTION_MAX_THREADS_PER_BLOCK, function);
  return Py_BuildValue("(KKiii)", (unsigned long long)(uintptr_t)loaded, (unsigned long long)(uintptr_t)function, registers,
                       local_bytes / 4, max_threads);
}
