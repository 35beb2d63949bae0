#include "driver/hip_driver.h"

#include <dlfcn.h>
#include <stdio.h>

#define LIBRARY "libamdhip64.so"
#define OLDEST_MAJOR_VERSION 6
#define MESSAGE_BYTES 1024 /* longer ones are cut, as in the base */

typedef HipResult (*GetProcAddress)(const char *name, void **function, int version, uint64_t flags, int *status);

static HipDriver driver;
static GetProcAddress get_address; /* set when the utilities' functions are there */
static int can_launch;

static void *find(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol)
    PyErr_Format(PyExc_RuntimeError, "cannot query '%s' from " LIBRARY, name);
  return symbol;
}

/* Returns the runtime's version, or -1 with an exception set where it is too old. */
static int version_of(void *library) {
  int version = -1;
  HipResult (*get_version)(int *);
  *(void **)&get_version = find(library, "hipDriverGetVersion");
  if (!get_version)
    return -1;
  get_version(&version);
  if (version / 10000000 >= OLDEST_MAJOR_VERSION)
    return version;
  PyErr_Format(PyExc_RuntimeError, "libamdhip64 version %d.%d.%d is not supported! Required major version is >=%d.",
               version / 10000000, version % 10000000 / 100000, version % 100000, OLDEST_MAJOR_VERSION);
  return -1;
}

static int resolve(GetProcAddress get, const char *name, int version, void **function) {
  int status = 0;
  if (get(name, function, version, 0, &status) == HIP_OK)
    return 1;
  *function = NULL;
  PyErr_Format(PyExc_RuntimeError, "cannot get address for '%s' from " LIBRARY, name);
  return 0;
}

/* The utilities ask for the functions of the runtime's own version. */
static int load_from(void *library) {
  int version = version_of(library);
  if (version == -1)
    return 0;
  GetProcAddress get;
  *(void **)&get = find(library, "hipGetProcAddress");
  if (!get || !resolve(get, "hipGetErrorString", version, (void **)&driver.hipGetErrorString))
    return 0;
#define REQUIRE(name, result, parameters)                                                                                        \
  if (!resolve(get, #name, version, (void **)&driver.name))                                                                      \
    return 0;
  HIP_FUNCTIONS(REQUIRE)
#undef REQUIRE
  get_address = get;
  return 1;
}

PyObject *load_hip_driver(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *path;
  if (!PyArg_ParseTuple(arguments, "s", &path))
    return NULL;
  if (!get_address) {
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
      return PyErr_Format(PyExc_RuntimeError, "cannot open " LIBRARY);
    if (!load_from(library)) {
      dlclose(library);
      return NULL;
    }
  }
  return new_reference(Py_None);
}

/* Launchers ask for the functions of the version of the headers. */
int hip_load_launching(void) {
  if (can_launch)
    return 1;
  if (!hip_driver())
    return 0;
#define REQUIRE(name, result, parameters)                                                                                        \
  if (!resolve(get_address, #name, HIP_HEADERS_VERSION, (void **)&driver.name))                                                  \
    return 0;
#define ACCEPT(name, result, parameters)                                                                                         \
  if (!resolve(get_address, #name, HIP_HEADERS_VERSION, (void **)&driver.name))                                                  \
    PyErr_Clear();
  HIP_LAUNCHING_FUNCTIONS(REQUIRE)
  HIP_NEWER_FUNCTIONS(ACCEPT)
  can_launch = 1;
  return 1;
}

const HipDriver *hip_driver(void) {
  if (get_address)
    return &driver;
  PyErr_SetString(PyExc_RuntimeError, "cannot open " LIBRARY);
  return NULL;
}

void hip_raise(HipResult error) {
  char message[MESSAGE_BYTES];
  snprintf(message, sizeof message, "Triton Error [HIP]:  Code: %d, Messsage: %s", error, driver.hipGetErrorString(error));
  PyErr_SetString(PyExc_RuntimeError, message);
}
