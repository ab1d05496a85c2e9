/* SPDX-License-Identifier: GPL-3.0-or-later */
/* control.h: what the supervisor, the zygote and the keepers say to each other.
   Messages of one size travel over SOCK_SEQPACKET pairs, one to the zygote and
   one to each keeper; they are plain structs, since both ends come from one
   build. OPEN brings the descriptors of the new session along. */
#ifndef IMAGE_CONTROL_H
#define IMAGE_CONTROL_H

#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "image/sandbox.h"
#include "wire/wire.h"

/* The descriptor on which ecl-mcp-image finds its control socket. */
#define CONTROL_FD 3

/* Exit statuses of a zygote that cannot start in its folder: it cannot change
   there, or ECL cannot start where a folder has such a name. */
#define CONTROL_NO_FOLDER 125
#define CONTROL_NO_NAME 124

enum control_kind {
    CONTROL_READY = 1, /* zygote: Lisp is booted; version tells the build */
    CONTROL_OPEN,      /* supervisor to zygote: fork a keeper for serial */
    CONTROL_OPENED,    /* keeper: it is process keeper, its image is pid; 0:
                          fork failed, status is errno (the zygote says this
                          when there is no keeper) */
    CONTROL_EXITED,    /* keeper: image pid ended with wait status status */
    CONTROL_COUNT,     /* supervisor to keeper: count the processes now, and
                          again as long as there are some besides the image */
    CONTROL_CROWDED,   /* keeper: there were too many with image pid; all are
                          stopped until SPARE comes */
    CONTROL_COPIES,    /* supervisor to keeper: the sleeping copies, which do
                          not count, are those in spared */
    CONTROL_SPARE,     /* supervisor to keeper: the same, and pid, a copy that
                          was woken, is the image; end everything else */
    CONTROL_SPARED,    /* keeper: that is done, for image pid */
    CONTROL_COVER,     /* supervisor to zygote: the user has heard of the files
                          that have come (image/covers.h); cover them */
    CONTROL_COVERED    /* zygote: that is done */
};

/* The descriptors that come with OPEN, in this order. */
enum control_fd {
    CONTROL_SOCKET,
    CONTROL_STDOUT,
    CONTROL_STDERR,
    CONTROL_KEEPER, /* the keeper's end of its control socket */
    CONTROL_FDS
};

/* Sleeping copies that a session may have: checkpoints, named and unnamed, and
   frozen errors. */
#define CONTROL_SPARED_MAX (2 * LIMIT_CHECKPOINTS + LIMIT_FROZEN_ERRORS)

/* Why a call is stopped. */
enum stop_why {
    STOP_CANCELLED,
    STOP_TIME,
    STOP_ENDING,
    STOP_BY_USER,
    STOP_FREED,      /* a call waits that frees the session, as a reset does */
    STOP_INPUT,      /* no human has typed the line for which it waits */
    STOP_REASONS = 8 /* room for so many */
};

/* The value of the signal that interrupts call ID: value / STOP_REASONS tells
   the call, the rest is the reason. */
#define CONTROL_SIGNAL_VALUE(id, why)                                          \
    ((int)(((id)&0x0fffffff) * STOP_REASONS + (unsigned)(why)))

struct control_message {
    uint32_t kind;
    uint32_t version; /* READY: WIRE_VERSION */
    uint64_t serial;  /* the supervisor's number of the live image */
    uint64_t heap;    /* OPEN: bytes of Lisp heap */
    int32_t pid;
    int32_t status;
    int64_t time;                       /* SPARE */
    int32_t keeper;                     /* OPENED */
    uint32_t spared_n;                  /* COPIES, SPARE: how many, */
    int32_t spared[CONTROL_SPARED_MAX]; /* and their processes */
    unsigned char key[WIRE_MARK_KEY];   /* OPEN: of the output marks */
    struct sandbox_state sandbox;       /* READY: which parts are in force */
};

/* Sends MESSAGE, and the descriptors FDS unless FDS is NULL; they stay the
   caller's. ST_IO: the other end is gone, or its buffer is full. */
enum status MUST_CHECK control_send(int socket,
                                    const struct control_message *message,
                                    const int fds[CONTROL_FDS]);

/* Tells the zygote, before any message, where the temporary folder of the
   images is, "" when there is none. ST_IO: it is gone. */
enum status MUST_CHECK control_send_temporary(int socket, const char *path);

/* Waits for that. ST_IO: the other end is gone. */
enum status MUST_CHECK control_await_temporary(int socket,
                                               char path[SANDBOX_PATH]);

/* Receives one message without waiting. FDS gets the descriptors that came
   along (close on exec; the caller owns them), and -1 for each that did not.
   ST_MISSING: no message has come. ST_IO: the other end is gone. ST_INVALID:
   what came is not a message. */
enum status MUST_CHECK control_receive(int socket,
                                       struct control_message *message,
                                       int fds[CONTROL_FDS]);

/* The same, but waits for a message. */
enum status MUST_CHECK control_await(int socket,
                                     struct control_message *message,
                                     int fds[CONTROL_FDS]);

#endif
