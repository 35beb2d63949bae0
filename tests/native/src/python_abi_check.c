/* Compiled twice: with our declarations alone, and after Python.h, which must agree with them. Both must give these numbers. */
#ifdef WITH_PYTHON_H
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#define TRITON_FORK_CHECK_PYTHON_ABI
#endif
#include "python/python_abi.h"

#define SAME(what, number) _Static_assert((what) == (number), #what)

SAME(sizeof(PyObject), 16);
SAME(offsetof(PyObject, ob_type), 8);
SAME(sizeof(PyMethodDef), 32);
SAME(offsetof(PyMethodDef, ml_meth), 8);
SAME(offsetof(PyMethodDef, ml_flags), 16);
SAME(offsetof(PyMethodDef, ml_doc), 24);
SAME(sizeof(PyModuleDef), 104);
SAME(offsetof(PyModuleDef, m_name), 40);
SAME(offsetof(PyModuleDef, m_doc), 48);
SAME(offsetof(PyModuleDef, m_size), 56);
SAME(offsetof(PyModuleDef, m_methods), 64);
SAME(offsetof(PyModuleDef, m_slots), 72);
SAME(offsetof(PyModuleDef, m_traverse), 80);
SAME(offsetof(PyModuleDef, m_clear), 88);
SAME(offsetof(PyModuleDef, m_free), 96);
SAME(sizeof(PyModuleDef_Slot), 16);
SAME(offsetof(PyModuleDef_Slot, value), 8);
SAME(sizeof(PyType_Slot), 16);
SAME(offsetof(PyType_Slot, pfunc), 8);
SAME(sizeof(PyType_Spec), 32);
SAME(offsetof(PyType_Spec, basicsize), 8);
SAME(offsetof(PyType_Spec, itemsize), 12);
SAME(offsetof(PyType_Spec, flags), 16);
SAME(offsetof(PyType_Spec, slots), 24);
SAME(METH_VARARGS, 0x0001);
SAME(METH_FASTCALL, 0x0080);
SAME(Py_mod_exec, 2);
SAME(Py_tp_alloc, 47);
SAME(Py_tp_dealloc, 52);
SAME(Py_tp_doc, 56);
SAME(Py_tp_new, 65);
SAME(Py_TPFLAGS_DEFAULT, 0UL);
SAME(Py_TPFLAGS_HEAPTYPE, 1UL << 9);
SAME(Py_TPFLAGS_LONG_SUBCLASS, 1UL << 24);
SAME(Py_TPFLAGS_TUPLE_SUBCLASS, 1UL << 26);
SAME(Py_TPFLAGS_BYTES_SUBCLASS, 1UL << 27);
SAME(Py_TPFLAGS_DICT_SUBCLASS, 1UL << 29);
SAME(Py_TPFLAGS_TYPE_SUBCLASS, 1UL << 31);
SAME(METH_O, 0x0008);
