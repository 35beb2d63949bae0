# LLVM comes from LLVM_SYSPATH, or else from TRITON_CACHE_PATH, where upstream would download it to.
if(NOT LLVM_SYSPATH)
  if(TRITON_OFFLINE_BUILD)
    message(FATAL_ERROR "an offline build needs LLVM_SYSPATH")
  endif()
  set(LLVM_SYSPATH ${TRITON_CACHE_PATH}/llvm)
endif()
file(STRINGS ${LLVM_SYSPATH}/version.txt TRITON_LLVM_VERSION LIMIT_COUNT 1)
message(STATUS "LLVM ${TRITON_LLVM_VERSION} in ${LLVM_SYSPATH}")
