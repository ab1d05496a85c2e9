/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slot.c: see slot.h. */
#include "image/slot.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The value of TAG in LIBRARY, or 0. */
static uintptr_t value(const struct link_map *library, intptr_t tag)
{
    const ElfW(Dyn) *entry = library->l_ld;

    while (entry->d_tag != tag && entry->d_tag != DT_NULL)
        entry++;
    return entry->d_tag == tag ? entry->d_un.d_val : 0;
}

/* The same of what is an address in it: the loader has made it one in memory,
   unless that part of the library is read-only. */
static uintptr_t address(const struct link_map *library, intptr_t tag)
{
    uintptr_t found = value(library, tag);

    return found == 0 || found >= library->l_addr ? found
                                                  : found + library->l_addr;
}

/* Tables are read-only where the loader has filled them in at the start. */
static bool make_writable(void **slot)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *page = (char *)slot - (uintptr_t)slot % size;

    return mprotect(page, size, PROT_READ | PROT_WRITE) == 0;
}

/* Only processors of 64 bits are known: their entries have this form. */
void **slot_find(void *function)
{
    const Elf64_Rela *entry;
    const Elf64_Sym *symbols;
    struct link_map *library = NULL;
    Dl_info unused;
    size_t n;

    if (sizeof(void *) != 8 || !function ||
        dladdr1(function, &unused, (void **)&library, RTLD_DL_LINKMAP) == 0 ||
        !library || value(library, DT_PLTREL) != DT_RELA)
        return NULL;
    entry = (const Elf64_Rela *)address(library, DT_JMPREL);
    symbols = (const Elf64_Sym *)address(library, DT_SYMTAB);
    n = value(library, DT_PLTRELSZ) / sizeof *entry;
    if (!entry || !symbols)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const Elf64_Sym *symbol = &symbols[ELF64_R_SYM(entry[i].r_info)];

        if (symbol->st_value != 0 &&
            library->l_addr + symbol->st_value == (uintptr_t)function) {
            void **slot = (void **)(library->l_addr + entry[i].r_offset);

            return make_writable(slot) ? slot : NULL;
        }
    }
    return NULL;
}
