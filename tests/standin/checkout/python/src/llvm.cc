// The LLVM that CMake found; in a file of its own so that more than one is compiled and linked.
const char *llvm_version() { return TRITON_LLVM_VERSION; }
