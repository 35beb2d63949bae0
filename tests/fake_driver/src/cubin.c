/* Kernels of a cubin: an ELF file whose sections `.nv.info` and `.nv.info.<kernel>` are lists of attributes.

   An entry is {u8 format, u8 attribute, u16 value-or-size}, followed by `size` bytes where the format is 4. Facts were
   read off the cubins of ptxas 12.8 (sm_80, 90, 100, 120) and agree with `cuobjdump -elf`:
     0x17  per kernel, one a parameter: u32 index, u16 ordinal, u16 offset, u32 of which the top 14 bits are the size
     0x19  per kernel, in the entry itself: bytes of all parameters together
     0x10  per kernel: u32 x, y, z of the block that the kernel requires
     0x2f  per file: u32 symbol, u32 registers        0x11  per file: u32 symbol, u32 bytes of local memory */
#include "binary.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define KERNEL_PREFIX ".nv.info."

enum { KERNEL_BLOCK = 0x10, FILE_LOCAL_BYTES = 0x11, KERNEL_PARAMETER = 0x17, KERNEL_BYTES = 0x19, FILE_REGISTERS = 0x2f };
enum { FORMAT_SIZED = 4 };

typedef struct {
  const unsigned char *image;
  const Elf64_Shdr *sections;
  size_t section_count;
  const char *section_names;
} Elf;

typedef struct {
  const unsigned char *position;
  const unsigned char *end;
  uint8_t attribute;
  uint16_t value;
  const unsigned char *payload; /* NULL where the entry carries its value itself */
} Entry;

static uint16_t read16(const unsigned char *bytes) {
  uint16_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static uint32_t read32(const unsigned char *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* Advances to the next entry; false at the end. */
static bool next_entry(Entry *entry) {
  if (entry->end - entry->position < 4)
    return false;
  uint8_t format = entry->position[0];
  entry->attribute = entry->position[1];
  entry->value = read16(entry->position + 2);
  entry->position += 4;
  entry->payload = NULL;
  if (format == FORMAT_SIZED) {
    if (entry->end - entry->position < entry->value)
      return false;
    entry->payload = entry->position;
    entry->position += entry->value;
  }
  return true;
}

static bool open_elf(Elf *elf, const void *image) {
  const Elf64_Ehdr *header = image;
  if (!image || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != MACHINE_CUDA || header->e_shnum == 0)
    return false;
  elf->image = image;
  elf->sections = (const Elf64_Shdr *)(elf->image + header->e_shoff);
  elf->section_count = header->e_shnum;
  elf->section_names = (const char *)elf->image + elf->sections[header->e_shstrndx].sh_offset;
  return true;
}

static Entry entries_of(const Elf *elf, const Elf64_Shdr *section) {
  Entry entry = {.position = elf->image + section->sh_offset};
  entry.end = entry.position + section->sh_size;
  return entry;
}

static const Elf64_Shdr *find_section(const Elf *elf, const char *name) {
  for (size_t i = 0; i < elf->section_count; ++i)
    if (strcmp(elf->section_names + elf->sections[i].sh_name, name) == 0)
      return &elf->sections[i];
  return NULL;
}

static const char *symbol_name(const Elf *elf, uint32_t index) {
  const Elf64_Shdr *table = find_section(elf, ".symtab");
  const Elf64_Shdr *names = find_section(elf, ".strtab");
  if (!table || !names || index >= table->sh_size / sizeof(Elf64_Sym))
    return "";
  const Elf64_Sym *symbol = (const Elf64_Sym *)(elf->image + table->sh_offset) + index;
  return (const char *)elf->image + names->sh_offset + symbol->st_name;
}

/* Fills the slot of one parameter; parameters are listed last to first. */
static bool read_parameter(FakeKernel *kernel, const Entry *entry) {
  if (entry->value != 12)
    return false;
  FakeParameter *parameter = fake_parameter(kernel, read16(entry->payload + 4));
  parameter->offset = read16(entry->payload + 6);
  parameter->size = read32(entry->payload + 8) >> 18;
  return true;
}

static bool read_kernel(const Elf *elf, const Elf64_Shdr *section, FakeKernel *kernel) {
  uint32_t total = 0;
  kernel->magic = FAKE_KERNEL_MAGIC;
  kernel->name = strdup(elf->section_names + section->sh_name + strlen(KERNEL_PREFIX));
  for (Entry entry = entries_of(elf, section); next_entry(&entry);) {
    if (entry.attribute == KERNEL_PARAMETER && !read_parameter(kernel, &entry))
      return false;
    if (entry.attribute == KERNEL_BYTES)
      total = entry.value;
    if (entry.attribute == KERNEL_BLOCK && entry.value == 12)
      kernel->threads = (int)(read32(entry.payload) * read32(entry.payload + 4) * read32(entry.payload + 8));
  }
  return fake_parameters_consistent(kernel, total);
}

/* Registers and local memory stand in the section of the whole file, by symbol. */
static void read_resources(const Elf *elf, FakeModule *module) {
  const Elf64_Shdr *section = find_section(elf, ".nv.info");
  if (!section)
    return;
  for (Entry entry = entries_of(elf, section); next_entry(&entry);) {
    if ((entry.attribute != FILE_REGISTERS && entry.attribute != FILE_LOCAL_BYTES) || entry.value != 8)
      continue;
    FakeKernel *kernel = fake_find_kernel(module, symbol_name(elf, read32(entry.payload)));
    if (kernel && entry.attribute == FILE_REGISTERS)
      kernel->registers = (int)read32(entry.payload + 4);
    else if (kernel)
      kernel->local_bytes = (int)read32(entry.payload + 4);
  }
}

FakeModule *fake_read_cubin(const void *image) {
  Elf elf;
  if (!open_elf(&elf, image))
    return NULL;
  FakeModule *module = calloc(1, sizeof *module);
  if (!module || !(module->kernels = calloc(elf.section_count, sizeof *module->kernels)))
    abort();
  for (size_t i = 0; i < elf.section_count; ++i) {
    const char *name = elf.section_names + elf.sections[i].sh_name;
    if (strncmp(name, KERNEL_PREFIX, strlen(KERNEL_PREFIX)) != 0)
      continue;
    if (!read_kernel(&elf, &elf.sections[i], &module->kernels[module->kernel_count++]))
      return NULL;
  }
  read_resources(&elf, module);
  return module;
}
