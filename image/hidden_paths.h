/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden_paths.h: lists of paths, which hidden.h has several of. */
#ifndef IMAGE_HIDDEN_PATHS_H
#define IMAGE_HIDDEN_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "image/listing.h"

/* Bits of a set of hashes. */
#define HIDDEN_HASHES 2048

/* A path without a final slash; "" is the root. It need not exist. */
struct hidden_path {
    char *name;    /* owned */
    size_t start;  /* of its last name; the folder is what is before that */
    uint32_t hash; /* of the whole */
    dev_t device;  /* of what is there, links followed; number 0: nothing */
    ino_t number;
    struct timespec changed; /* its entries, or the folder itself */
    struct listing *listing; /* its entries, owned; NULL: not read */
    bool present;            /* no listing has told that nothing is there */
    bool secret;             /* of a way: it is in a secret, as all in it is */
};

struct hidden_paths {
    struct hidden_path *list; /* owned */
    size_t n;
    size_t cap;
    uint64_t hashes[HIDDEN_HASHES / 64]; /* a set, of all in the list */
};

/* Of the whole path NAME. */
uint32_t hidden_hash(const char *name);

/* Adds PATH with a copy of NAME; false: without memory. */
bool hidden_paths_append(struct hidden_paths *paths, struct hidden_path path,
                         const char *name);

/* The path NAME, whose hash is HASH; NULL: it is not there. */
struct hidden_path *hidden_paths_find(const struct hidden_paths *paths,
                                      const char *name, uint32_t hash);

/* Whether file NUMBER on DEVICE is one of PATHS; or that, or NAME in the folder
   WAY. */
bool hidden_paths_have_file(const struct hidden_paths *paths, dev_t device,
                            ino_t number);
bool hidden_paths_have(const struct hidden_paths *paths, const char *way,
                       const char *name, dev_t device, ino_t number);

/* Whether NAME, or a folder on the way to it, is one of PATHS: by its name, or
   as the file that WAYS have there. */
bool hidden_paths_hold(const struct hidden_paths *paths,
                       const struct hidden_paths *ways, const char *name);

/* Releases the listings alone, or all. */
void hidden_paths_forget(struct hidden_paths *paths);
void hidden_paths_release(struct hidden_paths *paths);

#endif
