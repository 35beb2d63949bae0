#include "driver/hip_driver.h"
#include "driver/tdm_descriptor.h"
#include "launch/launch.h"
#include "pack/values.h"

/* Mirrors third_party/amd/backend/driver.py: make_launcher */

/* Where a launcher finds what. The kernel's arguments follow. */
enum {
  COOPERATIVE = 0,
  GRID,
  STREAM = 4,
  FUNCTION,
  PROFILE_SCRATCH,
  METADATA, /* (warps, blocks in a cluster, shared bytes) */
  LAUNCH_METADATA,
  ENTER_HOOK,
  EXIT_HOOK,
  BASE_ARGUMENTS,
};

static int read_settings(PyObject *const *arguments, Settings *settings) {
  settings->cooperative = PyObject_IsTrue(arguments[COOPERATIVE]);
  if (settings->cooperative < 0)
    return 0;
  for (int i = 0; i < 3; ++i)
    if (!read_int(arguments[GRID + i], &settings->grid[i]))
      return 0;
  return read_word(arguments[STREAM], STREAM + 1, &settings->stream) &&
         read_word(arguments[FUNCTION], FUNCTION + 1, &settings->function);
}

static int read_metadata(PyObject *metadata, Settings *settings) {
  return PyArg_ParseTuple(metadata, "iii", &settings->warps, &settings->cluster, &settings->shared);
}

/* Keeps the GIL, as the base does. A cluster is launched with both attributes, cooperative or not. */
static HipResult launch_cluster(const HipDriver *driver, const Settings *settings, unsigned int threads, void **parameters) {
  HipLaunchAttribute attributes[] = {{.id = HIP_LAUNCH_CLUSTER_DIMENSION}, {.id = HIP_LAUNCH_COOPERATIVE}};
  attributes[0].value.dimensions[0] = settings->cluster;
  attributes[0].value.dimensions[1] = attributes[0].value.dimensions[2] = 1;
  attributes[1].value.number = settings->cooperative;
  HipLaunchConfig configuration = {
      .grid = {(unsigned int)settings->grid[0] * (unsigned int)settings->cluster, (unsigned int)settings->grid[1],
               (unsigned int)settings->grid[2]},
      .block = {threads, 1, 1},
      .shared_bytes = (unsigned int)settings->shared,
      .stream = (HipHandle)(uintptr_t)settings->stream,
      .attributes = attributes,
      .attribute_count = 2,
  };
  return driver->hipDrvLaunchKernelEx(&configuration, (HipHandle)(uintptr_t)settings->function, parameters, NULL);
}

static int submit(Packer *packer, Settings *settings) {
  const HipDriver *driver = hip_driver();
  unsigned int x = (unsigned int)settings->grid[0], y = (unsigned int)settings->grid[1], z = (unsigned int)settings->grid[2];
  unsigned int threads = (unsigned int)packer->program->warp_size * (unsigned int)settings->warps;
  unsigned int shared = (unsigned int)settings->shared;
  HipHandle function = (HipHandle)(uintptr_t)settings->function, stream = (HipHandle)(uintptr_t)settings->stream;
  HipResult result;
  if (x * y * z == 0) /* of 32 bits, as in the base */
    return 1;
  settings->global_scratch = 0;
  add_scratch(packer, settings);
  void **parameters = packer->parameters;
  if (settings->cluster > 1) {
    if (!driver->hipDrvLaunchKernelEx) {
      PyErr_SetString(PyExc_RuntimeError, "missing hipDrvLaunchKernelEx symbol; please update HIP runtime");
      return 0;
    }
    result = launch_cluster(driver, settings, threads, parameters);
  } else if (settings->cooperative) {
    result = driver->hipModuleLaunchCooperativeKernel(function, x, y, z, threads, 1, 1, shared, stream, parameters);
  } else {
    result = driver->hipModuleLaunchKernel(function, x, y, z, threads, 1, 1, shared, stream, parameters, NULL);
  }
  if (result != HIP_OK)
    hip_raise(result);
  return result == HIP_OK;
}

/* The base calls the exit hook after a launch that failed as well, with that exception set, which Python code does not bear:
   here the exception waits until the hook is done. */
static int call_exit_hook(PyObject *hook, PyObject *metadata, int launched) {
  PyObject *type, *value, *traceback;
  if (launched)
    return call_hook(hook, metadata);
  PyErr_Fetch(&type, &value, &traceback);
  if (call_hook(hook, metadata)) {
    PyErr_Restore(type, value, traceback);
  } else {
    Py_DecRef(type);
    Py_DecRef(value);
    Py_DecRef(traceback);
  }
  return 0;
}

static int run(Packer *packer, PyObject *const *arguments) {
  Settings settings;
  PyObject *launch_metadata = arguments[LAUNCH_METADATA];
  if (!read_settings(arguments, &settings) || !read_arguments(packer, arguments + BASE_ARGUMENTS) ||
      !read_metadata(arguments[METADATA], &settings) || !call_hook(arguments[ENTER_HOOK], launch_metadata) ||
      !read_pointer(&hip_vendor, arguments[PROFILE_SCRATCH], -1, &settings.profile_scratch) || !read_late(packer))
    return 0;
  return call_exit_hook(arguments[EXIT_HOOK], launch_metadata, submit(packer, &settings));
}

static int begin(void) { return hip_driver() != NULL; }

/* Where the runtime fails otherwise the base goes on with an address that it never set. The tensor's own takes its place: if
   something is wrong with the device, the launch fails and says so. */
static int ask_driver(int index, uint64_t *address) {
  const HipDriver *driver = hip_driver();
  uint64_t on_device = *address;
  HipResult result = driver->hipPointerGetAttribute(&on_device, HIP_POINTER_DEVICE_POINTER, (HipHandle)(uintptr_t)*address);
  if (result == HIP_INVALID_VALUE) {
    PyErr_Format(PyExc_ValueError, "Pointer argument (at %d) cannot be accessed from Triton (cpu tensor?)", index);
    driver->hipGetLastError(); /* else the next launch reports it */
    return 0;
  }
  if (result == HIP_OK)
    *address = on_device;
  return 1;
}

const Vendor hip_vendor = {
    .base_arguments = BASE_ARGUMENTS,
    .late = "TPe",
    .descriptor_name = "PyTDMDescriptor",
    .descriptor_offset = offsetof(TdmDescriptorObject, descriptor),
    .descriptor_alignment = 1,
    .begin = begin,
    .ask_driver = ask_driver,
    .run = run,
    .submit = submit,
};
