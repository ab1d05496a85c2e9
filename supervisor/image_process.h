/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_process.h: the live image of a session as a process: the socket to it,
   the pipes of its output, its keeper, and what is known of its death. It knows
   no calls, and of frames which descriptor belongs to one. */
#ifndef SUPERVISOR_IMAGE_PROCESS_H
#define SUPERVISOR_IMAGE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"
#include "image/control.h"
#include "supervisor/capture.h"
#include "supervisor/watch.h"
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
    bool unkept;  /* its keeper was lost */
    bool garbled; /* it sent an invalid answer */
    bool verbose; /* it sent an answer that is too long */
    bool silent;  /* it did not make a copy, or load ahead, in time */
    bool exited;  /* wait_status is known */
    int wait_status;
    int64_t bury_at; /* when we stop waiting for the cause */
};

/* What the image has said about its native code. */
struct image_native {
    bool known; /* false: it makes none, or has not said so yet */
    enum native_obstacle obstacle;
    int64_t functions; /* which are native */
    int64_t waiting;   /* which are to be */
};

struct image_process {
    uint64_t serial;  /* unique in the supervisor */
    pid_t pid;        /* 0 until its keeper has said it */
    int socket;       /* -1: there is no live image */
    int came;         /* with the frame that is incomplete in IN; -1: nothing */
    int keeper;       /* socket to the keeper (image/keeper.h), which outlives
                         the image while a copy may replace it; -1: none */
    pid_t keeper_pid; /* 0 until it has said it */
    struct buf in;    /* from the image, an incomplete frame */
    struct buf out;   /* to the image */
    size_t written;   /* bytes of out that the socket has taken */
    struct image_output output;
    struct image_stop stop;
    int64_t count_at; /* when its processes are counted next; -1: not */
    bool dying;       /* it is gone or must go; we wait for the cause */
    bool unsettled; /* its keeper still ends what an earlier image has left: it
                       gets no calls */
    struct image_death death;
    struct image_native native;
    struct watch watches[CONTROL_FDS]; /* in the order of enum control_fd */
};

/* Makes IMAGE one that has no process, and whose descriptors nobody watches. */
void image_process_init(struct image_process *image);

/* Closes and frees everything; the process itself sees its socket close. */
void image_process_release(struct image_process *image);

/* Connects to a live image whose pid is not known yet. Takes over the
   descriptors, which are non-blocking and close on exec. FDS is in the order of
   enum control_fd. */
void image_process_connect(struct image_process *image,
                           const int fds[CONTROL_FDS]);

/* Connects to a copy of the image, process PID, which was woken: it writes to
   the pipes that are open already, and has the same keeper, which is there. */
void image_process_replace(struct image_process *image, int socket, pid_t pid);

/* Closes the socket, gives back its memory, and forgets the process; pipes, key
   and keeper stay. */
void image_process_disconnect(struct image_process *image);

/* Takes the BODY of a NATIVE that has come. */
enum status MUST_CHECK image_process_take_native(struct image_process *image,
                                                 struct str body);

/* Lets the keeper end everything that it has: the image, its copies and all
   programs. */
void image_process_end_family(struct image_process *image);

/* Nothing comes from pipe I any longer. */
void image_process_close_pipe(struct image_process *image, int i);

/* Kills the process, unless it has exited; it stays connected. */
void image_process_kill(const struct image_process *image);

/* Sends what the socket takes of OUT, without waiting. ST_IO: the image is
   gone. */
enum status MUST_CHECK image_process_write(struct image_process *image);

/* recv(2) of at most N bytes from SOCKET, to which evaluated code may write,
   into ROOM, without waiting. A stream that came along becomes *FD, which was
   -1. *STATUS is ST_INVALID if anything else came along, and else ST_OK. */
ssize_t image_process_take(int socket, void *room, size_t n, int *fd,
                           enum status *status);

/* Receives once into IN, without waiting; *MORE: more may be there. A stream
   that came along becomes CAME, and belongs to the frame that ends IN or is
   incomplete there: Linux ends what it hands over at once with the message that
   carries one. While CAME is there, no more than the rest of that frame is
   received. ST_INVALID: something else came along; ST_MISSING: nothing has
   come; ST_IO: end of file or error; ST_NOMEM. */
enum status MUST_CHECK image_process_receive(struct image_process *image,
                                             bool *more);

/* Whether CAME belongs to the frame of BODY, which is in IN. */
bool image_process_has_descriptor(const struct image_process *image,
                                  struct str body);

/* No frame in IN is complete any longer. ST_INVALID: CAME belongs to one that
   has taken none, or to an incomplete one that may have none. */
enum status MUST_CHECK
image_process_check_descriptor(const struct image_process *image);

#endif
