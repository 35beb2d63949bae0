#include "python/names.h"

Names names;

int make_names(void) {
#define MAKE_NAME(name)                                                                                                          \
  if (!names.name && !(names.name = PyUnicode_InternFromString(#name)))                                                          \
    return 0;
  FOR_EACH_NAME(MAKE_NAME)
  return 1;
}
