/* triton._C.fork_native: CUDA's driver utilities and a launcher for every signature, without a compiler. */
#include "dispatcher.h"
#include "driver.h"
#include "names.h"
#include "program.h"
#include "state.h"
#include "tensor_map.h"
#include "utilities.h"

static PyObject *load_driver(PyObject *module, PyObject *arguments) {
  (void)module;
  const char *folder;
  if (!PyArg_ParseTuple(arguments, "z", &folder))
    return NULL;
  return PyBool_FromLong(cuda_load(folder));
}

static PyMethodDef methods[] = {
    {"load_driver", load_driver, METH_VARARGS,
     "Load libcuda.so.1 as the dynamic linker finds it, or else from a folder; tell whether it is there"},
    {"make_launcher", make_launcher, METH_VARARGS, "Make the function that launches kernels of a signature"},
    {"make_dispatcher", make_dispatcher, METH_VARARGS, "Make the fast path of a JIT function"},
    {"load_binary", load_binary, METH_VARARGS, "Load provided cubin into CUDA driver"},
    {"get_device_properties", get_device_properties, METH_VARARGS, "Get the properties for a given device"},
    {"cuOccupancyMaxActiveClusters", occupancy_max_active_clusters, METH_VARARGS,
     "Python interface for cuOccupancyMaxActiveClusters function"},
    {"set_printf_fifo_size", set_printf_fifo_size, METH_VARARGS,
     "Set how many bytes kernels can print before some are dropped; an error after the first kernel that prints"},
    {"fill_tma_descriptor", fill_tma_descriptor, METH_VARARGS, "Make a tensor map with cuTensorMapEncodeTiled"},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  if (!make_names())
    return -1;
  state->tensor_map_type = tensor_map_type();
  state->dispatcher_type = state->tensor_map_type ? dispatcher_type() : NULL;
  return state->dispatcher_type ? PyModule_AddObjectRef(module, "PyCUtensorMap", state->tensor_map_type) : -1;
}

static int traverse(PyObject *module, visitproc visit, void *argument) {
  const ModuleState *state = PyModule_GetState(module);
  int result = state && state->tensor_map_type ? visit(state->tensor_map_type, argument) : 0;
  return result == 0 && state && state->dispatcher_type ? visit(state->dispatcher_type, argument) : result;
}

static int clear(PyObject *module) {
  ModuleState *state = PyModule_GetState(module);
  if (state) {
    PyObject *types[] = {state->tensor_map_type, state->dispatcher_type};
    *state = (ModuleState){NULL, NULL};
    Py_DecRef(types[0]);
    Py_DecRef(types[1]);
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
