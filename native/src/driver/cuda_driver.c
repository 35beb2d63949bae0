#include "driver/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>

#define LIBRARY "libcuda.so.1"

static CudaDriver driver;
static int loaded;

static int resolve(void *library) {
  CudaDriver found;
#define REQUIRE(name, parameters)                                                                                                \
  if (!(*(void **)&found.name = dlsym(library, #name)))                                                                          \
    return 0;
#define ACCEPT(name, parameters) *(void **)&found.name = dlsym(library, #name);
  CUDA_FUNCTIONS(REQUIRE)
  CUDA_NEWER_FUNCTIONS(ACCEPT)
  driver = found;
  return 1;
}

int cuda_load(const char *folder) {
  if (loaded)
    return 1;
  void *library = dlopen(LIBRARY, RTLD_LAZY);
  if (!library && folder) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/" LIBRARY, folder);
    if (length > 0 && (size_t)length < sizeof path)
      library = dlopen(path, RTLD_LAZY);
  }
  if (!library)
    return 0;
  loaded = resolve(library);
  if (!loaded)
    dlclose(library);
  return loaded;
}

const CudaDriver *cuda_driver(void) {
  if (cuda_load(NULL))
    return &driver;
  PyErr_SetString(PyExc_RuntimeError, "Failed to open " LIBRARY);
  return NULL;
}

void cuda_raise(CudaResult error) {
  const char *text = NULL;
  if (driver.cuGetErrorString(error, &text) != CUDA_OK || !text)
    text = "Unknown error";
  PyErr_Format(PyExc_RuntimeError, "Triton Error [CUDA]: %s", text);
}

void cuda_raise_missing(const char *function) {
  PyErr_Format(PyExc_RuntimeError, "Failed to retrieve %s from " LIBRARY, function);
}
