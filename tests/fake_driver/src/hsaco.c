/* Kernels of an hsaco: an ELF file with a note of type 32 by "AMDGPU", which holds MessagePack (LLVM's user guide for the
   AMDGPU back end, code object version 3 on). Under "amdhsa.kernels" each kernel lists ".args" with ".offset", ".size" and
   ".value_kind"; arguments whose kind begins with "hidden_" are filled in by the runtime, not by the launch. */
#define _GNU_SOURCE
#include "binary.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_AMDGPU 224
#define NOTE_METADATA 32

enum Kind { NUMBER, TEXT, ARRAY, MAP, OTHER, BROKEN };

typedef struct {
  const unsigned char *position;
  const unsigned char *end;
} Reader;

typedef struct {
  enum Kind kind;
  uint64_t value; /* the number, the length of the text, or how many items or pairs follow */
  const char *text;
} Item;

static uint64_t big_endian(Reader *reader, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size && reader->position < reader->end; ++i)
    value = value << 8 | *reader->position++;
  return value;
}

static Item text_item(Reader *reader, uint64_t length) {
  if ((uint64_t)(reader->end - reader->position) < length)
    return (Item){.kind = BROKEN};
  Item item = {TEXT, length, (const char *)reader->position};
  reader->position += length;
  return item;
}

/* Reads one item; the content of arrays and maps follows it. */
static Item next_item(Reader *reader) {
  if (reader->position >= reader->end)
    return (Item){.kind = BROKEN};
  unsigned char lead = *reader->position++;
  if (lead < 0x80)
    return (Item){NUMBER, lead, NULL};
  if (lead < 0x90)
    return (Item){MAP, lead & 15, NULL};
  if (lead < 0xa0)
    return (Item){ARRAY, lead & 15, NULL};
  if (lead < 0xc0)
    return text_item(reader, lead & 31);
  if (lead >= 0xcc && lead <= 0xcf)
    return (Item){NUMBER, big_endian(reader, (size_t)1 << (lead - 0xcc)), NULL};
  if (lead >= 0xd9 && lead <= 0xdb)
    return text_item(reader, big_endian(reader, (size_t)1 << (lead - 0xd9)));
  if (lead == 0xdc || lead == 0xdd)
    return (Item){ARRAY, big_endian(reader, lead == 0xdc ? 2 : 4), NULL};
  if (lead == 0xde || lead == 0xdf)
    return (Item){MAP, big_endian(reader, lead == 0xde ? 2 : 4), NULL};
  if (lead == 0xc0 || lead == 0xc2 || lead == 0xc3)
    return (Item){.kind = OTHER};
  return (Item){.kind = BROKEN}; /* negative numbers, floats and bytes have no place in this metadata */
}

/* Passes over the content of an item that was just read. */
static bool skip_content(Reader *reader, Item item) {
  uint64_t inner = item.kind == ARRAY ? item.value : item.kind == MAP ? 2 * item.value : 0;
  for (uint64_t i = 0; i < inner; ++i)
    if (!skip_content(reader, next_item(reader)))
      return false;
  return item.kind != BROKEN;
}

static bool is_text(Item item, const char *text) {
  return item.kind == TEXT && item.value == strlen(text) && memcmp(item.text, text, item.value) == 0;
}

static bool read_argument(Reader *reader, FakeKernel *kernel) {
  Item map = next_item(reader);
  uint32_t offset = 0, size = 0;
  bool hidden = false;
  if (map.kind != MAP)
    return false;
  for (uint64_t i = 0; i < map.value; ++i) {
    Item key = next_item(reader), value = next_item(reader);
    if (is_text(key, ".offset"))
      offset = (uint32_t)value.value;
    else if (is_text(key, ".size"))
      size = (uint32_t)value.value;
    else if (is_text(key, ".value_kind"))
      hidden = value.kind == TEXT && value.value > 7 && memcmp(value.text, "hidden_", 7) == 0;
    if (!skip_content(reader, value))
      return false;
  }
  if (!hidden)
    *fake_parameter(kernel, kernel->parameter_count) = (FakeParameter){offset, size};
  return true;
}

static bool read_kernel(Reader *reader, FakeKernel *kernel) {
  Item map = next_item(reader);
  uint32_t total = 0;
  if (map.kind != MAP)
    return false;
  kernel->magic = FAKE_KERNEL_MAGIC;
  for (uint64_t i = 0; i < map.value; ++i) {
    Item key = next_item(reader), value = next_item(reader);
    if (is_text(key, ".args") && value.kind == ARRAY) {
      for (uint64_t j = 0; j < value.value; ++j)
        if (!read_argument(reader, kernel))
          return false;
      continue;
    }
    if (is_text(key, ".name") && value.kind == TEXT)
      kernel->name = strndup(value.text, value.value);
    else if (is_text(key, ".vgpr_count"))
      kernel->registers = (int)value.value;
    else if (is_text(key, ".private_segment_fixed_size"))
      kernel->local_bytes = (int)value.value;
    else if (is_text(key, ".max_flat_workgroup_size"))
      kernel->threads = (int)value.value;
    else if (is_text(key, ".kernarg_segment_size"))
      total = (uint32_t)value.value;
    if (!skip_content(reader, value))
      return false;
  }
  /* Hidden arguments come last, so the segment may be larger than what a launch passes. */
  uint32_t count = kernel->parameter_count;
  uint32_t end = count ? kernel->parameters[count - 1].offset + kernel->parameters[count - 1].size : 0;
  return kernel->name && end <= total && fake_parameters_consistent(kernel, end);
}

static FakeModule *read_metadata(Reader reader) {
  Item map = next_item(&reader);
  for (uint64_t i = 0; map.kind == MAP && i < map.value; ++i) {
    Item key = next_item(&reader), value = next_item(&reader);
    if (!is_text(key, "amdhsa.kernels") || value.kind != ARRAY) {
      if (!skip_content(&reader, value))
        return NULL;
      continue;
    }
    FakeModule *module = calloc(1, sizeof *module);
    if (!module || !(module->kernels = calloc(value.value + 1, sizeof *module->kernels)))
      abort();
    for (; module->kernel_count < value.value; ++module->kernel_count)
      if (!read_kernel(&reader, &module->kernels[module->kernel_count]))
        return NULL;
    return module;
  }
  return NULL;
}

static FakeModule *read_notes(const unsigned char *position, const unsigned char *end) {
  while (end - position >= (ptrdiff_t)sizeof(Elf64_Nhdr)) {
    const Elf64_Nhdr *note = (const Elf64_Nhdr *)position;
    const unsigned char *name = position + sizeof *note;
    const unsigned char *content = name + (note->n_namesz + 3) / 4 * 4;
    if (note->n_type == NOTE_METADATA && note->n_namesz == sizeof "AMDGPU" && memcmp(name, "AMDGPU", 6) == 0)
      return read_metadata((Reader){content, content + note->n_descsz});
    position = content + (note->n_descsz + 3) / 4 * 4;
  }
  return NULL;
}

FakeModule *fake_read_hsaco(const void *image) {
  const Elf64_Ehdr *header = image;
  if (!image || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != MACHINE_AMDGPU)
    return NULL;
  const unsigned char *bytes = image;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + header->e_shoff);
  for (size_t i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_NOTE)
      continue;
    const unsigned char *start = bytes + sections[i].sh_offset;
    FakeModule *module = read_notes(start, start + sections[i].sh_size);
    if (module)
      return module;
  }
  return NULL;
}
