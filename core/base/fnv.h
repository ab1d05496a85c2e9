/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fnv.h: FNV-1a, a hash for tables whose keys nobody chooses to collide, or
   where that only takes time. */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stdint.h>

#define FNV_START 2166136261u

/* HASH with the byte or character C added. Returns the new hash. */
static inline uint32_t fnv_add(uint32_t hash, uint32_t c)
{
    return (hash ^ c) * 16777619u;
}

#endif
