/* triton._C.fork_native: the utilities of CUDA's and HIP's drivers and a launcher for every signature, without a compiler. */
#include "dispatch/dispatcher.h"
#include "dispatch/guarded.h"
#include "dispatch/launcher.h"
#include "driver/cuda_driver.h"
#include "driver/cuda_utilities.h"
#include "driver/hip_driver.h"
#include "driver/hip_utilities.h"
#include "driver/tdm_descriptor.h"
#include "driver/tensor_map.h"
#include "launch/launch.h"
#include "pack/program.h"
#include "python/method.h"
#include "python/names.h"
#include "python/state.h"

static PyObject *load_driver(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *folder;
  if (!PyArg_ParseTuple(arguments, "z", &folder))
    return NULL;
  return PyBool_FromLong(cuda_load(folder));
}

static PyMethodDef methods[] = {
    {"make_launcher", make_launcher, METH_VARARGS, "Make the fast path of JIT functions"},
    {"type_version", type_version, METH_O, "Tell the number that a class has as it is; 0 for none"},
    {"load_driver", load_driver, METH_VARARGS,
     "Load libcuda.so.1 as the dynamic linker finds it, or else from a folder; tell whether it is there"},
    {"load_binary", cuda_load_binary, METH_VARARGS, "Load provided cubin into CUDA driver"},
    {"get_device_properties", cuda_get_device_properties, METH_VARARGS, "Get the properties for a given device"},
    {"cuOccupancyMaxActiveClusters", occupancy_max_active_clusters, METH_VARARGS,
     "Python interface for cuOccupancyMaxActiveClusters function"},
    {"set_printf_fifo_size", set_printf_fifo_size, METH_VARARGS,
     "Set how many bytes kernels can print before some are dropped; an error after the first kernel that prints"},
    {"fill_tma_descriptor", fill_tma_descriptor, METH_VARARGS, "Make a tensor map with cuTensorMapEncodeTiled"},
    {"load_hip_driver", load_hip_driver, METH_VARARGS, "Load libamdhip64.so from a path"},
    {"hip_load_binary", hip_load_binary, METH_VARARGS, "Load provided hsaco into HIP driver"},
    {"hip_get_device_properties", hip_get_device_properties, METH_VARARGS, "Get the properties for a given device"},
    {"create_tdm_descriptor", create_tdm_descriptor, METH_VARARGS, "Make a descriptor for the tensor data mover"},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  if (!make_names())
    return -1;
  find_call_method();
  state->tensor_map_type = tensor_map_type();
  state->tdm_descriptor_type = state->tensor_map_type ? tdm_descriptor_type() : NULL;
  state->dispatcher_type = state->tdm_descriptor_type ? dispatcher_type() : NULL;
  state->launcher_type = state->dispatcher_type ? launcher_type() : NULL;
  if (!state->launcher_type || PyModule_AddObjectRef(module, "PyCUtensorMap", state->tensor_map_type) < 0)
    return -1;
  if (PyModule_AddObjectRef(module, "PyTDMDescriptor", state->tdm_descriptor_type) < 0)
    return -1;
  PyObject *type = program_type(module, (PyMethodDef){"launch", (PyCFunction)(void (*)(void))launch, METH_FASTCALL,
                                                      "Launch a kernel with the signature of this program"});
  int added = type ? PyModule_AddObjectRef(module, "Program", type) : -1;
  Py_DecRef(type);
  return added;
}

static int traverse(PyObject *module, visitproc visit, void *argument) {
  const ModuleState *state = PyModule_GetState(module);
  PyObject *const types[] = {state ? state->tensor_map_type : NULL, state ? state->tdm_descriptor_type : NULL,
                             state ? state->dispatcher_type : NULL, state ? state->launcher_type : NULL};
  int result = 0;
  for (size_t i = 0; result == 0 && i < sizeof types / sizeof *types; ++i)
    result = types[i] ? visit(types[i], argument) : 0;
  return result;
}

static int clear(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  if (state) {
    PyObject *types[] = {state->tensor_map_type, state->tdm_descriptor_type, state->dispatcher_type, state->launcher_type};
    *state = (ModuleState){NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
      Py_DecRef(types[i]);
  }
  return 0;
}

static void free_state(void *module) { clear(module); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = {.ob_base = {.ob_refcnt = 1}},
    .m_name = "fork_native",
    .m_doc = "Driver utilities and launchers of the fork",
    .m_size = sizeof(ModuleState),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = free_state,
};

__attribute__((visibility("default"))) PyObject *PyInit_fork_native(void) { return PyModuleDef_Init(&definition); }
