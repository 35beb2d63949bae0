/* Launch records, call counts and planted failures of the fake drivers. */
#define _GNU_SOURCE
#include "recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  char *data;
  size_t length;
  size_t capacity;
} Text;

typedef struct Failure {
  char *name;
  int code;
  long skip;
  long remaining;
  struct Failure *next;
} Failure;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FakeCall *calls;
static Failure *failures;
static Text records;
static uint64_t launch_count;
static bool recording = true;

/* A child of fork() must not inherit a lock that another thread held. */
static void lock_all(void) { pthread_mutex_lock(&lock); }
static void unlock_all(void) { pthread_mutex_unlock(&lock); }
__attribute__((constructor)) static void start(void) {
  pthread_atfork(lock_all, unlock_all, unlock_all);
  recording = fake_setting("FAKE_DRIVER_RECORD", 1) != 0;
}

static void out_of_memory(void) {
  fputs("fake driver: out of memory\n", stderr);
  abort();
}

static void append(Text *text, const char *data, size_t length) {
  if (text->length + length + 1 > text->capacity) {
    text->capacity = (text->length + length + 1) * 2;
    text->data = realloc(text->data, text->capacity);
    if (!text->data)
      out_of_memory();
  }
  memcpy(text->data + text->length, data, length);
  text->length += length;
  text->data[text->length] = 0;
}

static void append_string(Text *text, const char *string) { append(text, string, strlen(string)); }

static void append_number(Text *text, uint64_t value) {
  char digits[24];
  append(text, digits, (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value));
}

static void append_hexadecimal(Text *text, const void *bytes, size_t size) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *data = bytes;
  append_string(text, "\"");
  for (size_t i = 0; i < size; ++i) {
    char pair[2] = {digits[data[i] >> 4], digits[data[i] & 15]};
    append(text, pair, 2);
  }
  append_string(text, "\"");
}

static void append_triple(Text *text, const char *key, const uint32_t *values) {
  append_string(text, key);
  for (int i = 0; i < 3; ++i) {
    append_string(text, i ? ", " : "[");
    append_number(text, values[i]);
  }
  append_string(text, "]");
}

/* One launch as one line of JSON. */
static void append_launch(Text *text, const FakeLaunch *launch, void **parameters) {
  append_string(text, "{\"function\": \"");
  append_string(text, launch->kernel->name);
  append_string(text, "\", \"device\": ");
  append_number(text, (uint64_t)launch->device);
  append_triple(text, ", \"grid\": ", launch->grid);
  append_triple(text, ", \"block\": ", launch->block);
  append_string(text, ", \"shared\": ");
  append_number(text, launch->shared);
  append_string(text, ", \"stream\": ");
  append_number(text, launch->stream);
  append_string(text, ", \"attributes\": [");
  for (uint32_t i = 0; i < launch->attribute_count; ++i) {
    append_string(text, i ? ", [" : "[");
    append_number(text, (uint64_t)launch->attributes[i].id);
    append_string(text, ", ");
    append_hexadecimal(text, launch->attributes[i].value, launch->attributes[i].size);
    append_string(text, "]");
  }
  append_string(text, "], \"parameters\": [");
  for (uint32_t i = 0; i < launch->kernel->parameter_count; ++i) {
    append_string(text, i ? ", " : "");
    append_hexadecimal(text, parameters[i], launch->kernel->parameters[i].size);
  }
  append_string(text, "]}\n");
}

/* Appends to the file in one write, so that lines of several processes do not mix. */
static void write_file(const char *path, const Text *line) {
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, line->data, line->length) != (ssize_t)line->length) {
    perror("fake driver: cannot write FAKE_DRIVER_RECORD_FILE");
    abort();
  }
  close(file);
}

void fake_record(const FakeLaunch *launch, void **parameters) {
  pthread_mutex_lock(&lock);
  ++launch_count;
  if (recording) {
    size_t start_of_line = records.length;
    append_launch(&records, launch, parameters);
    const char *path = getenv("FAKE_DRIVER_RECORD_FILE");
    if (path && *path) {
      Text line = {records.data + start_of_line, records.length - start_of_line, 0};
      write_file(path, &line);
    }
  }
  pthread_mutex_unlock(&lock);
}

int fake_enter(FakeCall *call) {
  int code = 0;
  pthread_mutex_lock(&lock);
  if (call->count++ == 0) {
    call->next = calls;
    calls = call;
  }
  for (Failure *failure = failures; failure; failure = failure->next) {
    if (failure->remaining == 0 || strcmp(failure->name, call->name) != 0)
      continue;
    if (failure->skip > 0) {
      --failure->skip;
      continue;
    }
    --failure->remaining;
    code = failure->code;
    break;
  }
  pthread_mutex_unlock(&lock);
  return code;
}

long fake_setting(const char *variable, long fallback) {
  const char *value = getenv(variable);
  return value && *value ? strtol(value, NULL, 10) : fallback;
}

/* The records so far, one line of JSON a launch; release with fake_driver_release. Clears them where asked to. */
EXPORT char *fake_driver_records(int clear) {
  pthread_mutex_lock(&lock);
  char *copy = strdup(records.data ? records.data : "");
  if (!copy)
    out_of_memory();
  if (clear) {
    records.length = 0;
    if (records.data)
      records.data[0] = 0;
  }
  pthread_mutex_unlock(&lock);
  return copy;
}

EXPORT void fake_driver_release(char *text) { free(text); }

/* Switches recording on or off; launches are counted either way. Returns the former state. */
EXPORT int fake_driver_set_recording(int enabled) {
  pthread_mutex_lock(&lock);
  int before = recording;
  recording = enabled != 0;
  pthread_mutex_unlock(&lock);
  return before;
}

EXPORT uint64_t fake_driver_launch_count(void) {
  pthread_mutex_lock(&lock);
  uint64_t count = launch_count;
  pthread_mutex_unlock(&lock);
  return count;
}

/* Calls of one driver function since the library was loaded, failed ones included. */
EXPORT uint64_t fake_driver_call_count(const char *name) {
  uint64_t count = 0;
  pthread_mutex_lock(&lock);
  for (FakeCall *call = calls; call; call = call->next)
    if (strcmp(call->name, name) == 0)
      count += call->count;
  pthread_mutex_unlock(&lock);
  return count;
}

/* Makes `times` calls of a function return `code` (-1: all of them), after letting `skip` calls pass. */
EXPORT void fake_driver_fail(const char *name, int code, long skip, long times) {
  Failure *failure = calloc(1, sizeof *failure);
  if (!failure || !(failure->name = strdup(name)))
    out_of_memory();
  failure->code = code;
  failure->skip = skip;
  failure->remaining = times;
  pthread_mutex_lock(&lock);
  failure->next = failures;
  failures = failure;
  pthread_mutex_unlock(&lock);
}

EXPORT void fake_driver_clear_failures(void) {
  pthread_mutex_lock(&lock);
  while (failures) {
    Failure *next = failures->next;
    free(failures->name);
    free(failures);
    failures = next;
  }
  pthread_mutex_unlock(&lock);
}
