#define _GNU_SOURCE
#include "python/method.h"

#include <dlfcn.h>

typedef PyObject *(*VectorcallMethod)(PyObject *name, PyObject *const *arguments, size_t count, PyObject *keywords);

static VectorcallMethod vectorcall_method;

void find_call_method(void) { *(void **)&vectorcall_method = dlsym(RTLD_DEFAULT, "PyObject_VectorcallMethod"); }

PyObject *call_method(PyObject *object, PyObject *name) {
  if (vectorcall_method)
    return vectorcall_method(name, &object, 1, NULL);
  return PyObject_CallMethodObjArgs(object, name, NULL);
}
