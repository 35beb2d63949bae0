#include "launch.h"

#include "frame.h"
#include "values.h"

#define BASE_ARGUMENTS 13
#define THREADS_IN_A_WARP 32
#define LARGEST_PORTABLE_CLUSTER_AND_ONE 16
#define MAX_ATTRIBUTES 4

static int read_settings(PyObject *const *arguments, Settings *settings) {
  for (int i = 0; i < 3; ++i)
    if (!read_int(arguments[i], &settings->grid[i]))
      return 0;
  if (!read_word(arguments[3], 4, &settings->stream) || !read_word(arguments[4], 5, &settings->function))
    return 0;
  settings->cooperative = PyObject_IsTrue(arguments[5]);
  settings->dependent = settings->cooperative < 0 ? -1 : PyObject_IsTrue(arguments[6]);
  return settings->dependent >= 0;
}

static int read_metadata(PyObject *metadata, Settings *settings) {
  if (PyTuple_Check(metadata) && PyTuple_Size(metadata) == 3 && read_int(PyTuple_GetItem(metadata, 0), &settings->warps) &&
      read_int(PyTuple_GetItem(metadata, 1), &settings->cluster) && read_int(PyTuple_GetItem(metadata, 2), &settings->shared))
    return 1;
  PyErr_SetString(PyExc_TypeError, "kernel_metadata must be a tuple");
  return 0;
}

static int call_hook(PyObject *hook, PyObject *metadata) {
  if (hook == Py_None)
    return 1;
  PyObject *answer = PyObject_CallFunctionObjArgs(hook, metadata, NULL);
  Py_DecRef(answer);
  return answer != NULL;
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
      .block = {THREADS_IN_A_WARP * (unsigned int)settings->warps, 1, 1},
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

static int submit_without_gil(Frame *frame, Settings *settings) {
  /* The product is one of 32 bits in the base: where it wraps to nothing, nothing is launched. */
  unsigned int blocks = (unsigned int)settings->grid[0] * (unsigned int)settings->grid[1] * (unsigned int)settings->grid[2];
  if ((int)blocks <= 0)
    return 1;
  if (!frame->driver->cuLaunchKernelEx) {
    cuda_raise_missing("cuLaunchKernelEx");
    return 0;
  }
  frame->parameters[frame->parameter_count] = &settings->global_scratch;
  frame->parameters[frame->parameter_count + 1] = &settings->profile_scratch;
  PyThreadState *state = PyEval_SaveThread();
  CudaResult result = submit(frame->driver, settings, frame->parameters);
  PyEval_RestoreThread(state);
  if (result != CUDA_OK)
    cuda_raise(result);
  return result == CUDA_OK;
}

static int run(Frame *frame, PyObject *const *arguments) {
  Settings settings;
  PyObject *data_ptr = frame->program->data_ptr;
  PyObject *launch_metadata = arguments[10], *enter_hook = arguments[11], *exit_hook = arguments[12];
  if (!read_settings(arguments, &settings))
    return 0;
  for (int i = 0; i < frame->program->argument_count; ++i)
    if (!read_argument(frame, arguments[BASE_ARGUMENTS + i], BASE_ARGUMENTS + i + 1))
      return 0;
  return read_metadata(arguments[9], &settings) && call_hook(enter_hook, launch_metadata) &&
         read_pointer(frame->driver, data_ptr, arguments[7], -1, &settings.global_scratch) &&
         read_pointer(frame->driver, data_ptr, arguments[8], -1, &settings.profile_scratch) && read_late(frame) &&
         submit_without_gil(frame, &settings) && call_hook(exit_hook, launch_metadata);
}

/* A thread without a context gets the first device's. */
static int ensure_context(const CudaDriver *driver) {
  CudaHandle context = NULL;
  CudaDevice device = 0;
  CudaResult result = driver->cuCtxGetCurrent(&context);
  if (result == CUDA_OK && !context) {
    result = driver->cuDeviceGet(&device, 0);
    if (result == CUDA_OK)
      result = driver->cuDevicePrimaryCtxRetain(&context, device);
    if (result == CUDA_OK)
      result = driver->cuCtxSetCurrent(context);
  }
  if (result != CUDA_OK)
    cuda_raise(result);
  return result == CUDA_OK;
}

PyObject *launch(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  const CudaDriver *driver = cuda_driver();
  const Program *program = driver ? program_of(self) : NULL;
  if (!program || !ensure_context(driver))
    return NULL;
  if (count != BASE_ARGUMENTS + program->argument_count)
    return PyErr_Format(PyExc_TypeError, "function takes exactly %d arguments (%zd given)",
                        BASE_ARGUMENTS + program->argument_count, count);
  Frame frame;
  int launched = 0;
  if (enter(&frame, program, driver)) {
    launched = run(&frame, arguments);
    leave(&frame);
  }
  return launched ? new_reference(Py_None) : NULL;
}

int launch_known(const Program *program, Settings *settings, PyObject *const *values, const uint64_t *addresses) {
  const CudaDriver *driver = cuda_driver();
  Frame frame;
  if (!driver || !ensure_context(driver) || !enter(&frame, program, driver))
    return 0;
  frame.addresses = addresses;
  int launched = 1;
  for (int i = 0; launched && i < program->argument_count; ++i)
    launched = read_argument(&frame, values[i], BASE_ARGUMENTS + i + 1);
  launched = launched && read_late(&frame) && submit_without_gil(&frame, settings);
  leave(&frame);
  return launched;
}
