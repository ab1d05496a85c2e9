/* SPDX-License-Identifier: GPL-3.0-or-later */
/* control.h: what the supervisor and the zygote say to each other. Messages of
   one size travel over a SOCK_SEQPACKET pair; they are plain structs, since
   both ends come from one build. OPEN brings the descriptors of the new live
   image along. */
#ifndef IMAGE_CONTROL_H
#define IMAGE_CONTROL_H

#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "image/sandbox.h"
#include "wire/wire.h"

/* The descriptor on which ecl-mcp-image finds its control socket. */
#define CONTROL_FD 3

enum control_kind {
    CONTROL_READY = 1, /* zygote: Lisp is booted; version tells the build */
    CONTROL_OPEN,      /* supervisor: fork a live image for serial */
    CONTROL_OPENED,    /* zygote: it is process pid; 0: fork failed, status
                          is errno */
    CONTROL_ADOPT,     /* supervisor: process pid, a copy of a live image, is
                          in use; it is not an orphan */
    CONTROL_EXITED,    /* zygote: process pid ended with wait status status */
    CONTROL_COVER = 16 /* supervisor: the user has heard of the files that
                          have come (image/covers.h); cover them */
};

/* The descriptors that come with OPEN, in this order. */
enum control_fd { CONTROL_SOCKET, CONTROL_STDOUT, CONTROL_STDERR, CONTROL_FDS };

/* Why a call is stopped. */
enum stop_why { STOP_CANCELLED, STOP_TIME, STOP_ENDING, STOP_BY_USER };

/* The value of the signal that interrupts call ID: value / 4 tells the call,
   value % 4 is the reason. */
#define CONTROL_SIGNAL_VALUE(id, why)                                          \
    ((int)(((id)&0x1fffffff) * 4 + (unsigned)(why)))

struct control_message {
    uint32_t kind;
    uint32_t version; /* READY: WIRE_VERSION */
    uint64_t serial;  /* the supervisor's number of the live image */
    uint64_t heap;    /* OPEN: bytes of Lisp heap */
    int32_t pid;
    int32_t status;
    unsigned char key[WIRE_MARK_KEY]; /* OPEN: of the output marks */
    struct sandbox_state sandbox;     /* READY: which parts are in force */
};

/* Sends MESSAGE, and the descriptors FDS unless FDS is NULL; they stay the
   caller's. ST_IO: the other end is gone, or its buffer is full. */
enum status MUST_CHECK control_send(int socket,
                                    const struct control_message *message,
                                    const int fds[CONTROL_FDS]);

/* Receives one message without waiting. FDS gets the descriptors that came
   along (close on exec; the caller owns them), and -1 for each that did not.
   ST_MISSING: no message has come. ST_IO: the other end is gone. ST_INVALID:
   what came is not a message. */
enum status MUST_CHECK control_receive(int socket,
                                       struct control_message *message,
                                       int fds[CONTROL_FDS]);

#endif
