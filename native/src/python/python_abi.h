/* The part of CPython's stable ABI (3.10 and up) that the extension uses.

   Declared here instead of taken from Python.h, so that a build needs no headers, is the same for x86_64 and aarch64, and gives
   the same bytes whichever Python runs the build: the macros of Python.h change from release to release, the ABI does not.
   tests/native checks each declaration against the Python.h of the interpreter at hand. Reference counts go through functions,
   because their representation is not part of the contract. */
#ifndef TRITON_FORK_PYTHON_ABI_H
#define TRITON_FORK_PYTHON_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef TRITON_FORK_CHECK_PYTHON_ABI

typedef ssize_t Py_ssize_t;
typedef struct _typeobject PyTypeObject;
typedef struct _ts PyThreadState;

typedef struct _object {
  uint64_t ob_refcnt;
  PyTypeObject *ob_type;
} PyObject;

typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);

typedef struct PyMethodDef {
  const char *ml_name;
  PyCFunction ml_meth;
  int ml_flags;
  const char *ml_doc;
} PyMethodDef;

typedef struct PyModuleDef_Base {
  PyObject ob_base;
  PyObject *(*m_init)(void);
  Py_ssize_t m_index;
  PyObject *m_copy;
} PyModuleDef_Base;

typedef struct PyModuleDef_Slot {
  int slot;
  void *value;
} PyModuleDef_Slot;

typedef int (*visitproc)(PyObject *, void *);
typedef int (*traverseproc)(PyObject *, visitproc, void *);
typedef int (*inquiry)(PyObject *);
typedef void (*freefunc)(void *);

typedef struct PyModuleDef {
  PyModuleDef_Base m_base;
  const char *m_name;
  const char *m_doc;
  Py_ssize_t m_size;
  PyMethodDef *m_methods;
  PyModuleDef_Slot *m_slots;
  traverseproc m_traverse;
  inquiry m_clear;
  freefunc m_free;
} PyModuleDef;

typedef struct {
  int slot;
  void *pfunc;
} PyType_Slot;

typedef struct {
  const char *name;
  int basicsize;
  int itemsize;
  unsigned int flags;
  PyType_Slot *slots;
} PyType_Spec;

#define METH_VARARGS 0x0001
#define METH_O 0x0008
#define METH_FASTCALL 0x0080
#define Py_mod_exec 2
#define METH_KEYWORDS 0x0002
#define Py_tp_alloc 47
#define Py_tp_clear 51
#define Py_tp_dealloc 52
#define Py_tp_doc 56
#define Py_tp_methods 64
#define Py_tp_new 65
#define Py_tp_traverse 71
#define Py_TPFLAGS_DEFAULT 0UL
#define Py_TPFLAGS_HAVE_GC (1UL << 14)
#define Py_TPFLAGS_HEAPTYPE (1UL << 9)
#define Py_TPFLAGS_LONG_SUBCLASS (1UL << 24)
#define Py_TPFLAGS_TUPLE_SUBCLASS (1UL << 26)
#define Py_TPFLAGS_BYTES_SUBCLASS (1UL << 27)
#define Py_TPFLAGS_DICT_SUBCLASS (1UL << 29)
#define Py_TPFLAGS_TYPE_SUBCLASS (1UL << 31)

#endif /* TRITON_FORK_CHECK_PYTHON_ABI: what follows agrees with Python.h, or the compiler refuses it. */

#ifdef TRITON_FORK_CHECK_PYTHON_ABI
#undef PyArg_Parse
#undef PyArg_ParseTuple
#undef Py_BuildValue
#endif

extern PyObject _Py_NoneStruct, _Py_EllipsisObject;
extern PyTypeObject PyBool_Type, PyFloat_Type, PyList_Type, PyLong_Type, PyTuple_Type, PyUnicode_Type;
extern PyObject *PyExc_AttributeError, *PyExc_Exception, *PyExc_OverflowError, *PyExc_RuntimeError, *PyExc_SystemError;
extern PyObject *PyExc_TypeError, *PyExc_ValueError;

void Py_IncRef(PyObject *object);
void Py_DecRef(PyObject *object);
PyObject *PyObject_Init(PyObject *object, PyTypeObject *type);
int PyObject_IsTrue(PyObject *object);
int PyObject_IsInstance(PyObject *object, PyObject *type);
PyObject *PyObject_Str(PyObject *object);
Py_ssize_t PyObject_Size(PyObject *object);
PyObject *PyObject_GetItem(PyObject *object, PyObject *key);
PyObject *PyObject_GetAttr(PyObject *object, PyObject *name);
PyObject *PyObject_RichCompare(PyObject *left, PyObject *right, int operation);
PyObject *PyObject_Call(PyObject *callable, PyObject *arguments, PyObject *keywords);
int PyCallable_Check(PyObject *object);
PyObject *PyObject_GenericGetDict(PyObject *object, void *unused);
PyObject *PyObject_GenericGetAttr(PyObject *object, PyObject *name);
PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
PyObject *PyObject_CallObject(PyObject *callable, PyObject *arguments);
PyObject *PyObject_CallFunctionObjArgs(PyObject *callable, ...);
PyObject *PyObject_CallMethodObjArgs(PyObject *object, PyObject *name, ...);
unsigned long PyType_GetFlags(PyTypeObject *type);
PyObject *PyType_FromSpec(PyType_Spec *spec);
PyObject *PyType_FromModuleAndSpec(PyObject *module, PyType_Spec *spec, PyObject *bases);
void *PyType_GetModuleState(PyTypeObject *type);
PyObject *PyType_GenericAlloc(PyTypeObject *type, Py_ssize_t items);
void *PyType_GetSlot(PyTypeObject *type, int slot);

int PyArg_Parse(PyObject *arguments, const char *format, ...);
int PyArg_ParseTuple(PyObject *arguments, const char *format, ...);
int _PyArg_ParseTuple_SizeT(PyObject *arguments, const char *format, ...); /* where the format has a "#" */
PyObject *Py_BuildValue(const char *format, ...);

PyObject *PyBool_FromLong(long value);
PyObject *PyNumber_Multiply(PyObject *left, PyObject *right);
PyObject *PyLong_FromLong(long value);
long PyLong_AsLong(PyObject *object);
long long PyLong_AsLongLong(PyObject *object);
unsigned long PyLong_AsUnsignedLongMask(PyObject *object);
long long PyLong_AsLongLongAndOverflow(PyObject *object, int *overflow);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *object);
double PyFloat_AsDouble(PyObject *object);
PyObject *PyFloat_FromDouble(double value);
Py_ssize_t PyUnicode_GetLength(PyObject *text);
PyObject *PyUnicode_InternFromString(const char *text);
PyObject *PyUnicode_FromFormat(const char *format, ...);
const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);
int PyBytes_AsStringAndSize(PyObject *bytes, char **buffer, Py_ssize_t *size);
int PySequence_Check(PyObject *object);
Py_ssize_t PySequence_Size(PyObject *sequence);
PyObject *PySequence_GetItem(PyObject *sequence, Py_ssize_t index);
PyObject *PySequence_Tuple(PyObject *sequence);
PyObject *PySequence_Fast(PyObject *sequence, const char *message);
Py_ssize_t PyTuple_Size(PyObject *tuple);
PyObject *PyTuple_New(Py_ssize_t size);
int PyTuple_SetItem(PyObject *tuple, Py_ssize_t index, PyObject *item);
PyObject *PyTuple_GetItem(PyObject *tuple, Py_ssize_t index);
PyObject *PyTuple_Pack(Py_ssize_t count, ...);
Py_ssize_t PyList_Size(PyObject *list);
PyObject *PyList_New(Py_ssize_t size);
int PyList_Append(PyObject *list, PyObject *item);
PyObject *PyList_GetItem(PyObject *list, Py_ssize_t index);
PyObject *PyDict_New(void);
PyObject *PyDict_Values(PyObject *dictionary);
Py_ssize_t PyDict_Size(PyObject *dictionary);
int PyDict_SetItem(PyObject *dictionary, PyObject *key, PyObject *value);
int PyDict_Next(PyObject *dictionary, Py_ssize_t *position, PyObject **key, PyObject **value);
PyObject *PyDict_GetItemWithError(PyObject *dictionary, PyObject *key);
PyObject *PyDict_GetItemString(PyObject *dictionary, const char *key);
int PySet_Contains(PyObject *set, PyObject *key);
PyObject *PyImport_ImportModule(const char *name);

PyObject *PyErr_Occurred(void);
void PyErr_Clear(void);
void PyErr_SetString(PyObject *type, const char *message);
PyObject *PyErr_Format(PyObject *type, const char *format, ...);
PyObject *PyErr_NoMemory(void);
int PyErr_ExceptionMatches(PyObject *type);
void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **traceback);
void PyErr_Restore(PyObject *type, PyObject *value, PyObject *traceback);

PyObject *_PyObject_GC_New(PyTypeObject *type);
void PyObject_Free(void *memory);
void PyObject_GC_Track(void *object);
void PyObject_GC_UnTrack(void *object);
void PyObject_GC_Del(void *object);
void *PyMem_Malloc(size_t size);
void *PyMem_Calloc(size_t count, size_t size);
void PyMem_Free(void *memory);
PyObject *PyModuleDef_Init(PyModuleDef *definition);
void *PyModule_GetState(PyObject *module);
int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value);
const char *Py_GetVersion(void);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *state);

#ifndef TRITON_FORK_CHECK_PYTHON_ABI

#define Py_None (&_Py_NoneStruct)
#define Py_Ellipsis (&_Py_EllipsisObject)
#define Py_NE 3

static inline PyTypeObject *Py_TYPE(PyObject *object) { return object->ob_type; }

static inline int PyLong_Check(PyObject *object) {
  return (PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_LONG_SUBCLASS) != 0;
}

static inline int PyDict_Check(PyObject *object) {
  return (PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_DICT_SUBCLASS) != 0;
}

static inline int PyTuple_Check(PyObject *object) {
  return (PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_TUPLE_SUBCLASS) != 0;
}

#endif

/* Of tp_version_tag, which is no part of the contract but lies there in CPython 3.10 to 3.14: it is believed only where a test of
   its behaviour comes out right, see triton.fork.launch.guards. */
#define TYPE_VERSION_OFFSET 384

static inline PyObject *new_reference(PyObject *object) {
  Py_IncRef(object);
  return object;
}

#endif
