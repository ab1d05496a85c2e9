/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_table.h: which system calls evaluated code has, and which it has not.
   Every call of Linux up to 6.18 has its place, here or, when its arguments
   decide, in syscall_arguments.h. A call that has none, such as one that a
   newer kernel brings, does not exist for evaluated code (ENOSYS). */
#ifndef IMAGE_SYSCALL_TABLE_H
#define IMAGE_SYSCALL_TABLE_H

#include <stddef.h>

enum syscall_answer {
    SYSCALL_RUNS,    /* whatever its arguments are */
    SYSCALL_CHANGES, /* runs, unless nothing may be changed */
    SYSCALL_NETWORK, /* runs, if the network may be used */
    SYSCALL_REFUSED  /* EPERM */
};

/* Calls of one kind. One that this architecture does not have is negative. */
struct syscall_group {
    enum syscall_answer answer;
    const int *calls;
    size_t n;
};

extern const struct syscall_group syscall_groups[];
extern const size_t syscall_groups_n;

/* Calls that are newer than the oldest library that this program is built
   with; of one number on all architectures that came to Linux in this
   century. */
enum {
    NEW_CACHESTAT = 451,
    NEW_FCHMODAT2,
    NEW_MAP_SHADOW_STACK,
    NEW_FUTEX_WAKE,
    NEW_FUTEX_WAIT,
    NEW_FUTEX_REQUEUE,
    NEW_STATMOUNT,
    NEW_LISTMOUNT,
    NEW_LSM_GET_SELF_ATTR,
    NEW_LSM_SET_SELF_ATTR,
    NEW_LSM_LIST_MODULES,
    NEW_MSEAL,
    NEW_SETXATTRAT,
    NEW_GETXATTRAT,
    NEW_LISTXATTRAT,
    NEW_REMOVEXATTRAT,
    NEW_OPEN_TREE_ATTR,
    NEW_FILE_GETATTR,
    NEW_FILE_SETATTR
};

#endif
