/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address.h: Unix sockets, of the Lisp images and of Emacs, and who owns
   them. */
#ifndef SERVER_ADDRESS_H
#define SERVER_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

/* Bytes of the longest path of a socket, with its NUL. */
#define ADDRESS_SIZE sizeof(((struct sockaddr_un *)NULL)->sun_path)

/* ~/.local/state/ecl-mcp/image.sock, from HOME alone; false when HOME is not an
   absolute path, or the result is too long. */
bool address_default(char path[ADDRESS_SIZE]);

/* False when PATH is too long, or empty. */
bool address_fill(const char *path, struct sockaddr_un *address);

/* A non-blocking socket that is connected to PATH; -1 with errno. */
int address_connect(const char *path);

/* Whether the other end of SOCKET is a process of this user; *PID is that
   process. */
bool address_is_ours(int socket, pid_t *pid);

#endif
