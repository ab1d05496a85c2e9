/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.h: the frames that front, supervisor and live image exchange
   (docs/image-protocol.md). A frame is a head of 16 bytes and a body of
   fields; every number is little-endian. */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#define WIRE_VERSION 4
#define WIRE_HEAD 16
#define WIRE_ID_OFFSET 8 /* of the id in the head */

enum wire_kind {
    /* front to supervisor; CALL also supervisor to live image */
    WIRE_CALL = 1, /* run an operation; answered by one REPLY with its id */
    WIRE_STOP,     /* stop the call with this id, running or waiting */
    WIRE_READ,     /* part of a kept output, or its lines that match; answered
                      by one REPLY */
    WIRE_FINISH,   /* answer everything within a time; then, if the front owns
                      the images, they end */
    WIRE_HELLO,    /* the first frame: which version the front speaks */
    WIRE_INPUT,    /* a line for the call with this id, whose code reads; also
                      supervisor to live image */

    /* supervisor to live image */
    WIRE_KEEP = 8, /* make a sleeping copy; answered by KEPT */
    WIRE_PREPARE,  /* load what calls will need; answered by KEPT */

    /* live image to supervisor */
    WIRE_NATIVE = 10,  /* how many functions are native and wait to be, and what
                      prevents it (enum native_obstacle) */
    WIRE_OUTCOME = 11, /* the process that replaces the image when the call with
                     this id has been answered, and the number of the error
                     that it comes from; its socket comes along */
    WIRE_KEPT,         /* the copy's process; its socket comes along. After
                          PREPARE, 1 if something was loaded, else 0 */
    WIRE_WOKEN,        /* the copy that was woken is now the live image */
    WIRE_WANT,   /* the code of the call with this id waits for INPUT; also
                    supervisor to front */
    WIRE_FROZEN, /* a process that sleeps at an error of the call with this
                    id, its number, and that of its evaluation */

    /* supervisor to front; REPLY also live image to supervisor */
    WIRE_REPLY = 16, /* answers a CALL or READ */
    WIRE_OUTPUT,     /* new lines of output of a CALL with WIRE_PROGRESS */
    WIRE_WELCOME     /* answers HELLO: the version of the supervisor, and why it
                        refuses the front, if it does */
};

/* Why functions stay interpreted, in NATIVE. */
enum native_obstacle {
    NATIVE_UNHINDERED,
    NATIVE_NO_COMPILER, /* there is no C compiler */
    NATIVE_NO_FOLDER,   /* there is no place for its files */
    NATIVE_OBSTACLES
};

enum wire_flag {
    WIRE_ERROR = 1, /* REPLY: the text reports a failure */
    WIRE_AHEAD = 2, /* CALL to an image: sent before the reply to the previous
                       call was read; the image marks the end of that call's
                       output */
    WIRE_PROGRESS = 4, /* CALL to the supervisor: send OUTPUT */
    WIRE_VIEW = 8,     /* CALL to the supervisor: reads a resource that shows
                          something of a session. The session must be open, and
                          the reply is what the operation says, whole and without
                          what was printed meanwhile */
    WIRE_MISSING = 16, /* REPLY: the session or output that a CALL with
                          WIRE_VIEW is about does not exist */
    WIRE_READS = 32,   /* CALL to the supervisor: the operation changes nothing
                          that a checkpoint would keep */
    WIRE_SUPPLIES = 64 /* CALL to the supervisor: WANT gets an INPUT */
};

/* Bytes of a field that is a number, and of one that is a string without its
   contents. */
#define WIRE_NUMBER_BYTES 9
#define WIRE_STRING_BYTES 5

struct wire_head {
    uint32_t size; /* bytes of the body */
    uint16_t kind;
    uint16_t flags;
    uint64_t id;
};

/* One field of a body. */
enum wire_type {
    WIRE_NULL = 'N',
    WIRE_FALSE = 'F',
    WIRE_TRUE = 'T',
    WIRE_INT = 'I',    /* int64 */
    WIRE_REAL = 'R',   /* double, IEEE 754 */
    WIRE_STRING = 'S', /* uint32 length, bytes (UTF-8) */
};

struct wire_field {
    enum wire_type type;
    int64_t integer;
    double real;
    struct str string; /* points into the frame */
};

/* Reads the head alone, for which WIRE_HEAD bytes are enough. Fails as
   wire_frame does; *HEAD is what was read with ST_LIMIT, too. */
enum status MUST_CHECK wire_head(struct str bytes, struct wire_head *head);

/* Reads the head and finds the end of the frame at the start of BYTES.
   ST_MISSING: more bytes are needed. ST_LIMIT: it is larger than LIMIT_FRAME.
   On ST_OK *BODY points into BYTES, and head and body together take
   WIRE_HEAD + head->size bytes. */
enum status MUST_CHECK wire_frame(struct str bytes, struct wire_head *head,
                                  struct str *body);

/* Takes the first field off *BODY. ST_MISSING at the end, ST_INVALID when the
   bytes are not a field. */
enum status MUST_CHECK wire_field(struct str *body, struct wire_field *field);

/* The same for a field that must be of the type that the name says; ST_INVALID
   when it is not. */
enum status MUST_CHECK wire_take_string(struct str *body, struct str *out);
enum status MUST_CHECK wire_take_int(struct str *body, int64_t *out);

/* Starts a frame at the end of OUT and returns its offset there; fields are
   appended with wire_put…, then wire_end patches the size. */
size_t wire_begin(struct buf *out, enum wire_kind kind, unsigned flags,
                  uint64_t id);
void wire_end(struct buf *out, size_t start);

void wire_put_null(struct buf *out);
void wire_put_bool(struct buf *out, bool value);
void wire_put_int(struct buf *out, int64_t value);
void wire_put_real(struct buf *out, double value);
void wire_put_string(struct buf *out, struct str value);

/* The start of a string of N bytes, which the caller appends. */
void wire_begin_string(struct buf *out, size_t n);

/* The mark that ends the output of a call in both pipes of a live image: the
   session's random key, then the id of the call. */
#define WIRE_MARK_KEY 16
#define WIRE_MARK (WIRE_MARK_KEY + 8)
void wire_mark(const unsigned char key[WIRE_MARK_KEY], uint64_t id,
               char out[WIRE_MARK]);

#endif
