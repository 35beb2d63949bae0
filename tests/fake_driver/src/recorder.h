/* What every fake driver library shares: kernels with known parameter sizes, recorded launches, call counts, planted
   failures. Both libcuda.so.1 and libamdhip64.so export the fake_driver_* functions below; tests reach them with ctypes. */
#ifndef FAKE_DRIVER_RECORDER_H
#define FAKE_DRIVER_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_MAX_ATTRIBUTES 16

/* One parameter of a kernel, as the binary itself declares it. */
typedef struct {
  uint32_t offset;
  uint32_t size;
} FakeParameter;

/* One kernel of a loaded binary. The driver hands out pointers to it as function handles. */
typedef struct {
  uint64_t magic; /* FAKE_KERNEL_MAGIC: tells a handle of ours from a stray number */
  char *name;
  uint32_t parameter_count;
  FakeParameter *parameters;
  int registers;
  int local_bytes;
  int threads; /* required threads per block; 0 where the binary does not say */
} FakeKernel;

#define FAKE_KERNEL_MAGIC 0x6b65726e656c3031ull

typedef struct {
  int id;
  uint32_t size; /* bytes of `value` that carry meaning for this attribute */
  unsigned char value[64];
} FakeAttribute;

typedef struct {
  const FakeKernel *kernel;
  int device;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared;
  uint64_t stream;
  uint32_t attribute_count;
  FakeAttribute attributes[FAKE_MAX_ATTRIBUTES];
} FakeLaunch;

/* Call counter of one driver function; lives in a static variable of that function. */
typedef struct FakeCall {
  const char *name;
  uint64_t count;
  struct FakeCall *next;
} FakeCall;

/* Counts a call. Returns 0, or the error code that a test planted for this function. */
int fake_enter(FakeCall *call);

/* First statement of every driver function. */
#define ENTER(function, type)                                                                                          \
  do {                                                                                                                 \
    static FakeCall call_ = {.name = #function};                                                                       \
    int planted_ = fake_enter(&call_);                                                                                 \
    if (planted_)                                                                                                      \
      return (type)planted_;                                                                                           \
  } while (0)

/* Stores a launch together with the bytes that its parameter pointers show at this moment. */
void fake_record(const FakeLaunch *launch, void **parameters);

/* Integer of an environment variable, or `fallback` where it is unset or empty. */
long fake_setting(const char *variable, long fallback);

#endif
