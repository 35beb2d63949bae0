/* Our declarations of the HIP runtime's ABI beside those of its headers. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include "driver/hip_abi.h"

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
#define SAME_MEMBER(ours, theirs) SAME(offsetof(HipDeviceProperties, ours), offsetof(hipDeviceProp_t, theirs))

SAME(sizeof(HipDeviceProperties), sizeof(hipDeviceProp_t));
SAME_MEMBER(shared_per_block, sharedMemPerBlock);
SAME_MEMBER(registers_per_block, regsPerBlock);
SAME_MEMBER(warp_size, warpSize);
SAME_MEMBER(clock_rate, clockRate);
SAME_MEMBER(multiprocessor_count, multiProcessorCount);
SAME_MEMBER(memory_clock_rate, memoryClockRate);
SAME_MEMBER(memory_bus_width, memoryBusWidth);
SAME_MEMBER(max_threads_per_multiprocessor, maxThreadsPerMultiProcessor);
SAME_MEMBER(architecture, gcnArchName);
SAME(sizeof(HipLaunchConfig), sizeof(HIP_LAUNCH_CONFIG));
SAME(offsetof(HipLaunchConfig, grid), offsetof(HIP_LAUNCH_CONFIG, gridDimX));
SAME(offsetof(HipLaunchConfig, block), offsetof(HIP_LAUNCH_CONFIG, blockDimX));
SAME(offsetof(HipLaunchConfig, shared_bytes), offsetof(HIP_LAUNCH_CONFIG, sharedMemBytes));
SAME(offsetof(HipLaunchConfig, stream), offsetof(HIP_LAUNCH_CONFIG, hStream));
SAME(offsetof(HipLaunchConfig, attributes), offsetof(HIP_LAUNCH_CONFIG, attrs));
SAME(offsetof(HipLaunchConfig, attribute_count), offsetof(HIP_LAUNCH_CONFIG, numAttrs));
SAME(sizeof(HipLaunchAttribute), sizeof(hipLaunchAttribute));
SAME(offsetof(HipLaunchAttribute, value), offsetof(hipLaunchAttribute, val));
SAME(offsetof(HipLaunchAttribute, value.number), offsetof(hipLaunchAttribute, val.cooperative));
SAME(sizeof(HipHandle), sizeof(hipFunction_t));
SAME(sizeof(HipHandle), sizeof(hipDeviceptr_t));
SAME(sizeof(HipResult), sizeof(hipError_t));
SAME(sizeof(int), sizeof(hipJitOption));
SAME(sizeof(int), sizeof(hipDriverProcAddressQueryResult));

SAME(HIP_HEADERS_VERSION, HIP_VERSION);
SAME(HIP_OK, hipSuccess);
SAME(HIP_INVALID_VALUE, hipErrorInvalidValue);
SAME(HIP_FUNCTION_MAX_THREADS_PER_BLOCK, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(HIP_FUNCTION_LOCAL_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(HIP_FUNCTION_REGISTER_COUNT, HIP_FUNC_ATTRIBUTE_NUM_REGS);
SAME(HIP_POINTER_DEVICE_POINTER, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER);
SAME(HIP_JIT_INFO_LOG, hipJitOptionInfoLogBuffer);
SAME(HIP_JIT_INFO_LOG_BYTES, hipJitOptionInfoLogBufferSizeBytes);
SAME(HIP_JIT_ERROR_LOG, hipJitOptionErrorLogBuffer);
SAME(HIP_JIT_ERROR_LOG_BYTES, hipJitOptionErrorLogBufferSizeBytes);
SAME(HIP_JIT_LOG_VERBOSE, hipJitOptionLogVerbose);
SAME(HIP_LAUNCH_COOPERATIVE, hipLaunchAttributeCooperative);
