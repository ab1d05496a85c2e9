/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address.h: Unix sockets, of the Lisp images and of Emacs, and whose they are.
 */
#ifndef SERVER_ADDRESS_H
#define SERVER_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

/* Bytes of the longest path of a socket, its NUL counted. */
#define ADDRESS_SIZE sizeof(((struct sockaddr_un *)NULL)->sun_path)

/* ~/.local/state/ecl-mcp/image.sock, of HOME alone; false when there is no HOME
   or the path is too long. */
bool address_default(char path[ADDRESS_SIZE]);

/* False when PATH is too long, or empty. */
bool address_fill(const char *path, struct sockaddr_un *address);

/* A socket, not blocking, that is connected to PATH, which address_fill takes;
   -1 with errno. */
int address_connect(const char *path);

/* Whether the other end of SOCKET is a process of the same user; *PID is the
   process. */
bool address_is_ours(int socket, pid_t *pid);

#endif
