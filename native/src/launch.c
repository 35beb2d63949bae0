#include "launch.h"

#include "driver.h"
#include "program.h"
#include "tensor_map.h"
#include "token.h"
#include "values.h"

#include <stdio.h>
#include <string.h>

#define BASE_ARGUMENTS 13
#define THREADS_IN_A_WARP 32
#define LARGEST_PORTABLE_CLUSTER_AND_ONE 16
#define MAX_ATTRIBUTES 4
#define INLINE_LEAVES 64
#define INLINE_TUPLES 8

/* The value of one parameter, or what it is to be made of. */
typedef union {
  uint64_t bits;
  double number;
  PyObject *object;
} Slot;

/* A leaf that is converted late: its place in the signature, its kind and its slot. */
typedef struct {
  int leaf;
  char kind;
  int parameter;
} Late;

/* One launch under way. The inline arrays serve all but enormous signatures. */
typedef struct {
  const Program *program;
  const CudaDriver *driver;
  const uint64_t *addresses; /* of the arguments that were asked for theirs already, or NULL */
  int step, leaf, parameter_count, late_count, tuple_count;
  Slot *slots;
  void **parameters;
  Late *late;
  PyObject **tuples; /* made of other sequences, kept for the time of the launch */
  void *memory;
  Slot inline_slots[INLINE_LEAVES];
  void *inline_parameters[INLINE_LEAVES + 2];
  Late inline_late[INLINE_LEAVES];
  PyObject *inline_tuples[INLINE_TUPLES];
} Frame;

static int enter(Frame *frame, const Program *program, const CudaDriver *driver) {
  frame->program = program;
  frame->driver = driver;
  frame->addresses = NULL;
  frame->step = frame->leaf = frame->parameter_count = frame->late_count = frame->tuple_count = 0;
  frame->memory = NULL;
  if (program->leaf_count <= INLINE_LEAVES && program->tuple_count <= INLINE_TUPLES) {
    frame->slots = frame->inline_slots;
    frame->parameters = frame->inline_parameters;
    frame->late = frame->inline_late;
    frame->tuples = frame->inline_tuples;
    return 1;
  }
  size_t leaves = (size_t)program->leaf_count, tuples = (size_t)program->tuple_count;
  size_t late = (size_t)program->late_count;
  frame->memory = PyMem_Malloc(leaves * sizeof(Slot) + (leaves + 2) * sizeof(void *) + tuples * sizeof(PyObject *) +
                               late * sizeof(Late));
  if (!frame->memory) {
    PyErr_NoMemory();
    return 0;
  }
  frame->slots = frame->memory;
  frame->parameters = (void **)(frame->slots + leaves);
  frame->tuples = (PyObject **)(frame->parameters + leaves + 2);
  frame->late = (Late *)(frame->tuples + tuples);
  return 1;
}

static void leave(Frame *frame) {
  while (frame->tuple_count > 0)
    Py_DecRef(frame->tuples[--frame->tuple_count]);
  PyMem_Free(frame->memory);
}

static int read_leaf(Frame *frame, char kind, PyObject *object, int position) {
  int leaf = frame->leaf++;
  if (kind == STEP_CONSTANT)
    return 1;
  int parameter = frame->parameter_count++;
  Slot *slot = &frame->slots[parameter];
  frame->parameters[parameter] = slot;
  if (kind == STEP_POINTER || kind == STEP_TENSOR_MAP) {
    slot->object = object;
    frame->late[frame->late_count++] = (Late){leaf, kind, parameter};
    return 1;
  }
  if (kind != STEP_HALF && kind != STEP_BRAIN && kind != STEP_SINGLE && kind != STEP_DOUBLE)
    return read_integer(object, kind, position, &slot->bits);
  double number = PyFloat_AsDouble(object);
  if (number == -1.0 && PyErr_Occurred())
    return 0;
  switch (kind) {
  case STEP_HALF:
    slot->number = number;
    frame->late[frame->late_count++] = (Late){leaf, kind, parameter};
    break;
  case STEP_BRAIN:
    slot->bits = pack_brain(number);
    break;
  case STEP_SINGLE:
    slot->bits = pack_single(number);
    break;
  default:
    slot->bits = pack_double(number);
  }
  return 1;
}

/* The name that C code sees: with the module for a type made in C outside of builtins. */
static PyObject *type_name(PyObject *object) {
  PyObject *type = (PyObject *)Py_TYPE(object);
  PyObject *name = PyObject_GetAttrString(type, "__name__");
  if (!name || PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_HEAPTYPE)
    return name;
  PyObject *module = PyObject_GetAttrString(type, "__module__");
  const char *text = module ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
  PyObject *full = NULL;
  if (text)
    full = strcmp(text, "builtins") == 0 ? new_reference(name) : PyUnicode_FromFormat("%S.%S", module, name);
  Py_DecRef(module);
  Py_DecRef(name);
  return full;
}

/* Raises TypeError with a message that ends in the name of the object's type. Takes the reference to the message. */
static void raise_type(PyObject *object, PyObject *message) {
  PyObject *name = message ? type_name(object) : NULL;
  if (name)
    PyErr_Format(PyExc_TypeError, "%S%.50S", message, name);
  Py_DecRef(name);
  Py_DecRef(message);
}

/* Borrows the items of a tuple; of another sequence it keeps a tuple until the launch is over. */
static PyObject *tuple_of(Frame *frame, PyObject *object, int children, int position) {
  unsigned long flags = PyType_GetFlags(Py_TYPE(object));
  if (!(flags & Py_TPFLAGS_TUPLE_SUBCLASS)) {
    if (object == Py_None) {
      PyErr_Format(PyExc_TypeError, "argument %d must be %d-item sequence, not None", position, children);
      return NULL;
    }
    if (!PySequence_Check(object) || (flags & Py_TPFLAGS_BYTES_SUBCLASS)) {
      raise_type(object, PyUnicode_FromFormat("argument %d must be %d-item sequence, not ", position, children));
      return NULL;
    }
    object = PySequence_Tuple(object);
    if (!object)
      return NULL;
    frame->tuples[frame->tuple_count++] = object;
  }
  if (PyTuple_Size(object) != children) {
    PyErr_Format(PyExc_TypeError, "argument %d must be sequence of length %d, not %zd", position, children, PyTuple_Size(object));
    return NULL;
  }
  return object;
}

/* Reads one argument with the steps that are its own. Programs nest tuples at most MAX_DEPTH deep. */
static int read_argument(Frame *frame, PyObject *object, int position) {
  const Step *step = &frame->program->steps[frame->step++];
  if (step->kind != STEP_TUPLE)
    return read_leaf(frame, step->kind, object, position);
  PyObject *tuple = tuple_of(frame, object, step->children, position);
  if (!tuple)
    return 0;
  for (int i = 0; i < step->children; ++i) {
    if (!read_argument(frame, PyTuple_GetItem(tuple, i), position)) {
      char argument[32], item[64];
      snprintf(argument, sizeof argument, "argument %d", position);
      snprintf(item, sizeof item, "%s, item %d", argument, i);
      replace_start_of_message(argument, item);
      return 0;
    }
  }
  frame->step++; /* the end of the tuple */
  return 1;
}

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

static int read_tensor_map(Frame *frame, PyObject *object, int parameter) {
  if ((PyObject *)Py_TYPE(object) != frame->program->tensor_map_type) {
    raise_type(object, PyUnicode_FromFormat("object must be of type PyCUtensorMap, got "));
    return 0;
  }
  CudaTensorMap *map = (CudaTensorMap *)((char *)object + offsetof(TensorMapObject, map));
  uintptr_t beyond = (uintptr_t)map % _Alignof(CudaTensorMap);
  if (beyond != 0) {
    PyErr_Format(PyExc_ValueError, "CUtensorMap must be aligned to 128B, but got (&map) mod 128 = %ld", (long)beyond);
    return 0;
  }
  frame->parameters[parameter] = map;
  return 1;
}

static int read_late_pointer(Frame *frame, const Late *late, PyObject *object, uint64_t *address) {
  if (!frame->addresses || frame->addresses[late->leaf] == NO_ADDRESS)
    return read_pointer(frame->driver, frame->program->data_ptr, object, late->leaf, address);
  *address = frame->addresses[late->leaf];
  return *address == 0 || ask_driver(frame->driver, late->leaf, address);
}

/* Pointers, then tensor maps, then halves: with several wrong arguments the base's error is raised. */
static int read_late(Frame *frame) {
  for (const char *kind = "PTe"; *kind; ++kind) {
    for (int i = 0; i < frame->late_count; ++i) {
      const Late *late = &frame->late[i];
      Slot *slot = &frame->slots[late->parameter];
      if (late->kind != *kind)
        continue;
      PyObject *object = slot->object;
      int valid = *kind == STEP_POINTER      ? read_late_pointer(frame, late, object, &slot->bits)
                  : *kind == STEP_TENSOR_MAP ? read_tensor_map(frame, object, late->parameter)
                                             : pack_half(slot->number, &slot->bits);
      if (!valid)
        return 0;
    }
  }
  return 1;
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
