/* SPDX-License-Identifier: GPL-3.0-or-later */
/* connection.h: a live image's connection to its supervisor: the socket with
   its frames, and the pipes of its output. It knows nothing of Lisp. An image
   ends with its supervisor: these functions do not fail, they end the process.
 */
#ifndef IMAGE_CONNECTION_H
#define IMAGE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"
#include "image/control.h"
#include "wire/wire.h"

/* Our own descriptors are at least this, out of the way of user code. */
#define CONNECTION_PRIVATE_FD 200

enum { CONNECTION_STDOUT, CONNECTION_STDERR, CONNECTION_PIPES };

struct connection {
    int socket;
    int aside; /* another descriptor; while no frame waits and it can be read
                  from, take_aside is called. -1: none */
    int64_t aside_until; /* ms of the monotonic clock, when it is late: then it
                            is called, too */
    void (*take_aside)(struct connection *connection);
    int asker; /* of a checkpoint: over which a later image asks it for copies
                  that work; -1: none */
    int pipes[CONNECTION_PIPES];            /* write ends */
    struct stat identity[CONNECTION_PIPES]; /* of the pipes, to see whether
                                               descriptors 1 and 2 lead there */
    unsigned char key[WIRE_MARK_KEY];
    struct buf in;
    size_t used; /* bytes of in that were handled */
    struct buf out;
    uint64_t previous;               /* id of the last call */
    uint64_t withdrawn[LIMIT_AHEAD]; /* ids that must not begin */
    size_t withdrawn_n;
};

/* Ends the process, with WHAT on standard error. */
NO_RETURN void connection_give_up(const char *what);

/* Fills CONNECTION with private copies of FDS, which it closes, and with the
   key of OPEN_MESSAGE. Makes standard input empty, and standard output and
   error the pipes. */
void connection_take(struct connection *connection,
                     const struct control_message *open_message,
                     const int fds[CONTROL_FDS]);

/* In a copy of the process: a private copy of SOCKET, which is closed, replaces
   the socket of the original. */
void connection_replace(struct connection *connection, int socket);

/* Makes both of PAIR private: out of the way of user code. Without room for
   descriptors it closes them, and returns false. */
bool MUST_CHECK connection_hide_pair(int pair[2]);

/* Waits for the next frame; *BODY is valid until the next call of this
   function. Notes every STOP that has come. */
void connection_next(struct connection *connection, struct wire_head *head,
                     struct str *body);

/* Whether something has come behind the last frame. */
bool connection_has_more(const struct connection *connection);

/* Waits until something comes, nothing will any longer, or a signal comes. */
void connection_await(const struct connection *connection);

/* Whether the supervisor is gone, or code has taken the socket away. For
   handlers of signals, too. */
bool connection_is_lost(const struct connection *connection);

/* The call of HEAD begins: writes the marks that end the output of the call
   before it, if HEAD asks for them. True: it was stopped before and must not
   begin. */
bool connection_begin(struct connection *connection, struct wire_head head);

/* User code may do anything to descriptors 1 and 2: makes them the pipes
   again. */
void connection_repair(const struct connection *connection);

/* Takes the line that has come for call ID, without waiting; *LINE is valid
   until the next call of these functions. False: none has come. */
bool connection_take_input(struct connection *connection, uint64_t id,
                           struct str *line);

/* Answers call ID with TEXT, and with ASIDE, which may be empty; it is left out
   when there is no room for it. */
void connection_reply(struct connection *connection, uint64_t id, bool error,
                      struct str text, struct str aside);

/* Sends a frame whose body is one number. FD goes with it, unless it is -1. */
void connection_send(struct connection *connection, enum wire_kind kind,
                     uint64_t id, int64_t number, int fd);

/* While call ID runs: process PID is error NUMBER, frozen, which belongs to
   EVALUATION. */
void connection_send_frozen(struct connection *connection, uint64_t id,
                            pid_t pid, int64_t number, int64_t evaluation);

/* Sends a NATIVE with its three numbers. */
void connection_send_native(struct connection *connection,
                            const int64_t counts[3]);

/* Process PID, which FD wakes, is the outcome of error NUMBER, and is to
   replace this image when call ID has been answered. */
void connection_send_outcome(struct connection *connection, uint64_t id,
                             pid_t pid, int64_t number, int fd);

#endif
