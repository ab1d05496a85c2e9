/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_process.h: the live image of a session as a process: the socket to it,
   the pipes of its output, and what is known of its death. It knows no calls
   and no frames. */
#ifndef SUPERVISOR_IMAGE_PROCESS_H
#define SUPERVISOR_IMAGE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"
#include "supervisor/capture.h"
#include "wire/wire.h"

/* Where its output comes from. A copy that is woken writes to the pipes of its
   original, with the same marks. */
struct image_output {
    int pipes[CAPTURE_PIPES]; /* -1: closed */
    unsigned char key[WIRE_MARK_KEY];
    char carry[CAPTURE_PIPES][WIRE_MARK]; /* perhaps the start of a mark */
    size_t carried[CAPTURE_PIPES];        /* bytes of it */
};

/* How far the stop of its first call has got (stop.c). */
struct image_stop {
    int stage;
    int64_t next_at; /* when the next stage begins */
};

/* What is known of its death. */
struct image_death {
    bool unread;  /* it ended before it had read all that was sent */
    bool killed;  /* by us, after it ignored an interrupt */
    bool crowded; /* it had too many processes */
    bool garbled; /* it sent an invalid answer */
    bool verbose; /* it sent an answer that is too long */
    bool exited;  /* wait_status is known */
    int wait_status;
    int64_t bury_at; /* when we stop waiting for the cause */
};

struct image_process {
    uint64_t serial;     /* unique in the supervisor */
    uint64_t generation; /* of the zygote that forked it */
    pid_t pid;           /* 0 until the zygote has said it */
    int socket;          /* -1: there is no live image */
    struct buf in;       /* from the image, an incomplete frame */
    struct buf out;      /* to the image */
    size_t written;      /* bytes of out that the socket has taken */
    struct image_output output;
    struct image_stop stop;
    int64_t count_at; /* when its processes are counted next; -1: not */
    bool dying;       /* it is gone or must go; we wait for the cause */
    struct image_death death;
};

/* Makes IMAGE one that has no process. */
void image_process_init(struct image_process *image);

/* Closes and frees everything; the process itself sees its socket close. */
void image_process_release(struct image_process *image);

/* Connects to a live image whose pid is not known yet. Takes over the
   descriptors, which are non-blocking and close on exec. PIPES NULL: the image
   writes to the pipes that are open already. */
void image_process_connect(struct image_process *image, int socket,
                           const int pipes[CAPTURE_PIPES]);

/* Closes the socket, gives back its memory, and forgets the process; pipes and
   key stay. */
void image_process_disconnect(struct image_process *image);

/* Nothing comes from pipe I any longer. */
void image_process_close_pipe(struct image_process *image, int i);

/* Kills the process, unless it has exited; it stays connected. */
void image_process_kill(const struct image_process *image);

/* Kills the programs that the image has started. Its zygote does that when the
   image ends; nothing is done unless that zygote is gone: another, of
   GENERATION, has replaced it. */
void image_process_end_programs(const struct image_process *image,
                                uint64_t generation);

/* Sends what the socket takes of OUT, without waiting. ST_IO: the image is
   gone. */
enum status MUST_CHECK image_process_write(struct image_process *image);

/* Receives once into IN, without waiting; *MORE: more may be there. A
   descriptor that came along replaces *FD, which is closed or -1 before.
   ST_MISSING: nothing has come; ST_IO: end of file or error; ST_NOMEM. */
enum status MUST_CHECK image_process_receive(struct image_process *image,
                                             int *fd, bool *more);

#endif
