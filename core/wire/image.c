/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image.c: see image.h. */
#include "wire/image.h"

#include <inttypes.h>

#include "base/limits.h"
#include "base/version.h"

/* Bytes of storage that idle buffers hold on to: what common calls need. */
#define IDLE_STORAGE (64u * 1024)

void image_init(struct image *image, const struct log *log)
{
    *image = (struct image){.log = log};
}

void image_release(struct image *image)
{
    buf_release(&image->out);
    buf_release(&image->body);
    buf_release(&image->fault);
}

/* --- The calls that wait ------------------------------------------------ */

static struct image_call **bucket_of(struct image *image, uint64_t id)
{
    return &image->buckets[id % IMAGE_BUCKETS];
}

static void remember(struct image *image, struct image_call *call)
{
    struct image_call **bucket = bucket_of(image, call->id);
    call->next = *bucket;
    *bucket = call;
    image->calls++;
    image->bytes += call->bytes;
}

/* Takes the call that LINK leads to off its list. */
static struct image_call *unlink_call(struct image *image,
                                      struct image_call **link)
{
    struct image_call *call = *link;
    *link = call->next;
    image->calls--;
    image->bytes -= call->bytes;
    return call;
}

/* The link that leads to the call, or to NULL. */
static struct image_call **find_link(struct image *image, uint64_t id)
{
    struct image_call **link = bucket_of(image, id);
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    return link;
}

struct image_call *image_take(struct image *image)
{
    for (size_t i = 0; image->calls > 0 && i < IMAGE_BUCKETS; i++)
        if (image->buckets[i])
            return unlink_call(image, &image->buckets[i]);
    return NULL;
}

/* --- To the supervisor -------------------------------------------------- */

static void greet(struct image *image)
{
    size_t start = wire_begin(&image->out, WIRE_HELLO, 0, 0);
    wire_put_int(&image->out, WIRE_VERSION);
    wire_put_string(&image->out, STR(ECL_MCP_VERSION));
    wire_put_int(&image->out, image->known);
    wire_end(&image->out, start);
}

static void begin(struct image *image, enum wire_kind kind, unsigned flags,
                  uint64_t id)
{
    if (image->out.n == 0 && image->out.cap > IDLE_STORAGE)
        buf_trim(&image->out, IDLE_STORAGE);
    image->before = image->out.n;
    if (!image->greeted)
        greet(image);
    image->start = wire_begin(&image->out, kind, flags, id);
}

static void take_back(struct image *image)
{
    buf_truncate(&image->out, image->before);
    image->out.failed = false; // nothing of the frame is left
}

/* Ends the frame. False: memory ran out, and the frame is gone. */
static bool end(struct image *image)
{
    if (!buf_failed(&image->out)) {
        wire_end(&image->out, image->start);
        image->greeted = true;
        return true;
    }
    take_back(image);
    return false;
}

void image_begin_call(struct image *image, const struct image_task *task)
{
    begin(image, WIRE_CALL,
          (task->progress ? (unsigned)WIRE_PROGRESS : 0) |
              (task->view ? (unsigned)WIRE_VIEW : 0) |
              (task->reads ? (unsigned)WIRE_READS : 0) |
              (task->supplies ? (unsigned)WIRE_SUPPLIES : 0),
          image->last_id + 1);
    wire_put_string(&image->out, task->session);
    wire_put_string(&image->out, task->operation);
    wire_put_int(&image->out, (int64_t)task->max_output);
    wire_put_int(&image->out, task->timeout_ms);
}

void image_begin_read(struct image *image, int64_t output, int64_t offset,
                      int64_t limit, struct str pattern)
{
    begin(image, WIRE_READ, 0, image->last_id + 1);
    wire_put_int(&image->out, output);
    wire_put_int(&image->out, offset);
    wire_put_int(&image->out, limit);
    wire_put_string(&image->out, pattern);
}

/* One call alone may be as large as the message that brought it. */
static bool is_full(const struct image *image, size_t bytes)
{
    return image->calls >= LIMIT_PENDING_CALLS ||
           (image->calls > 0 && image->bytes + bytes > LIMIT_PENDING_BYTES);
}

enum status image_send(struct image *image, struct image_call *call)
{
    size_t bytes = image->out.n - image->start + call->owner_bytes;
    if (image->broken || is_full(image, bytes)) {
        take_back(image);
        return image->broken ? ST_IO : ST_LIMIT;
    }
    if (!end(image))
        return ST_NOMEM;
    call->id = ++image->last_id;
    call->bytes = bytes;
    remember(image, call);
    return ST_OK;
}

void image_stop(struct image *image, const struct image_call *call)
{
    begin(image, WIRE_STOP, 0, call->id);
    if (!end(image))
        log_line(image->log, LOG_ERROR,
                 "image: out of memory, call %" PRIu64 " is not stopped",
                 call->id);
}

void image_supply(struct image *image, const struct image_call *call,
                  struct str line)
{
    begin(image, WIRE_INPUT, 0, call->id);
    wire_put_string(&image->out, line);
    if (!end(image))
        log_line(image->log, LOG_ERROR,
                 "image: out of memory, a line for call %" PRIu64 " is lost",
                 call->id);
}

void image_stop_others(struct image *image)
{
    if (!image->greeted)
        return;
    begin(image, WIRE_STOP, 0, 0);
    if (!end(image))
        log_line(image->log, LOG_ERROR,
                 "image: out of memory, calls of others are not stopped");
}

void image_finish(struct image *image, int64_t grace_ms)
{
    if (!image->greeted)
        return;
    begin(image, WIRE_FINISH, 0, 0);
    wire_put_int(&image->out, grace_ms);
    if (!end(image))
        log_line(image->log, LOG_ERROR,
                 "image: out of memory, the images are not told to finish");
}

/* --- From the supervisor ------------------------------------------------ */

void image_feed(struct image *image, struct str bytes)
{
    image->input = bytes;
}

/* Takes up to N bytes off the input. */
static struct str take_input(struct image *image, size_t n)
{
    struct str taken = image->input;
    if (taken.n > n)
        taken.n = n;
    image->input = str_make(taken.p + taken.n, image->input.n - taken.n);
    return taken;
}

static void drop_taken(struct image *image)
{
    if (image->taken)
        buf_trim(&image->body, IDLE_STORAGE);
    image->taken = false;
    image->lost -= take_input(image, image->lost).n;
}

/* Completes the head of a frame that comes in pieces. */
static enum status gather_head(struct image *image, struct wire_head *head)
{
    struct str part = take_input(image, WIRE_HEAD - image->head_n);
    if (part.n > 0)
        memcpy(image->head + image->head_n, part.p, part.n);
    image->head_n += part.n;
    return wire_head(str_make(image->head, image->head_n), head);
}

/* Takes the next frame; BODY stays valid until the next one is taken. A frame
   that came in one piece is not copied. ST_NOMEM: HEAD is set, the body is
   lost. */
static enum status take_frame(struct image *image, struct wire_head *head,
                              struct str *body)
{
    drop_taken(image);
    if (image->head_n == 0) {
        enum status status = wire_frame(image->input, head, body);
        if (status == ST_OK)
            (void)take_input(image, WIRE_HEAD + head->size);
        if (status != ST_MISSING)
            return status;
    }
    enum status status = gather_head(image, head);
    if (status != ST_OK)
        return status;
    size_t missing = head->size - image->body.n;
    if (buf_reserve_exact(&image->body, missing) == NULL) {
        buf_reset(&image->body);
        image->head_n = 0;
        image->lost = missing;
        return ST_NOMEM;
    }
    buf_str(&image->body, take_input(image, missing));
    if (image->body.n < head->size)
        return ST_MISSING;
    image->head_n = 0;
    image->taken = true;
    *body = buf_view(&image->body);
    return ST_OK;
}

/* Fills REPLY from a REPLY frame; false when no call waits for it. STATUS is
   that of take_frame. */
static bool read_reply(struct image *image, const struct wire_head *head,
                       struct str body, enum status status,
                       struct image_reply *reply)
{
    struct image_call **link = find_link(image, head->id);
    if (!*link) {
        log_line(image->log, LOG_WARN, "image: reply to unknown call %" PRIu64,
                 head->id);
        return false;
    }
    reply->call = unlink_call(image, link);
    reply->running = false;
    reply->wants = false;
    reply->error = true;
    if (status == ST_NOMEM)
        reply->text = STR("The answer was lost: out of memory.");
    else if (wire_take_string(&body, &reply->text) != ST_OK)
        reply->text = STR("The answer from the Lisp image could not be read.");
    else
        reply->error = head->flags & (WIRE_ERROR | WIRE_MISSING);
    reply->missing = head->flags & WIRE_MISSING;
    return true;
}

/* The same with an OUTPUT or WANT frame. False when the output is lost because
   memory ran out or it came too late: the reply contains it anyway. */
static bool read_output(struct image *image, const struct wire_head *head,
                        struct str body, enum status status,
                        struct image_reply *reply)
{
    reply->call = *find_link(image, head->id);
    reply->running = true;
    reply->wants = head->kind == WIRE_WANT;
    reply->error = false;
    reply->missing = false;
    reply->text = STR("");
    return reply->call != NULL && status == ST_OK &&
           (reply->wants || wire_take_string(&body, &reply->text) == ST_OK);
}

/* Nothing more is read or sent, because of WHY. */
static void break_off(struct image *image, struct str why)
{
    image->broken = true;
    image->why = why;
    image->input = STR("");
    image->head_n = 0;
    image->lost = 0;
    buf_trim(&image->body, IDLE_STORAGE);
    image->taken = false;
}

/* Without a valid head there is no way to find the next frame. */
static void give_up(struct image *image)
{
    log_line(image->log, LOG_ERROR, "image: invalid frame from the supervisor");
    break_off(image, STR("The connection to the Lisp image is broken."));
}

/* Reads a WELCOME frame, in which the supervisor may refuse this front. */
static void read_welcome(struct image *image, struct str body)
{
    int64_t version;
    struct str program = STR("");
    struct str refusal = STR("");
    enum status status = wire_take_int(&body, &version);
    if (status == ST_OK)
        status = wire_take_string(&body, &program);
    if (status == ST_OK)
        status = wire_take_string(&body, &refusal);
    if (status == ST_OK && version == WIRE_VERSION && refusal.n == 0 &&
        wire_take_int(&body, &image->known) == ST_OK)
        return;
    buf_reset(&image->fault);
    if (status != ST_OK || version != WIRE_VERSION)
        buf_printf(&image->fault,
                   "The Lisp images are kept by ecl-mcp %.*s, this server is "
                   "ecl-mcp " ECL_MCP_VERSION
                   ", and they speak different versions of the image protocol. "
                   "Both must come from the same build.",
                   STR_ARG(program));
    else
        buf_printf(&image->fault,
                   "The supervisor of the Lisp images refuses this server: "
                   "%.*s.",
                   STR_ARG(refusal));
    break_off(image, buf_failed(&image->fault)
                         ? STR("The supervisor of the Lisp images refuses "
                               "this server.")
                         : buf_view(&image->fault));
    log_line(image->log, LOG_ERROR, "image: %.*s", STR_ARG(image->why));
}

struct str image_fault(const struct image *image)
{
    return image->broken ? image->why : STR("");
}

void image_lose(struct image *image, struct str why)
{
    break_off(image, why);
    buf_reset(&image->out);
}

void image_renew(struct image *image)
{
    image->broken = false;
    image->input = STR(""); // bytes that came after image_lose
    image->greeted = false;
}

/* Fills REPLY for a call that waits although nothing more will come for it. */
static bool refuse_call(struct image *image, struct image_reply *reply)
{
    reply->call = image_take(image);
    reply->running = false;
    reply->wants = false;
    reply->error = true;
    reply->missing = false;
    reply->text = image->why;
    return reply->call != NULL;
}

bool image_next(struct image *image, struct image_reply *reply)
{
    while (!image->broken) {
        struct wire_head head;
        struct str body = STR("");
        enum status status = take_frame(image, &head, &body);
        if (status == ST_MISSING)
            return false;
        if (status == ST_LIMIT)
            give_up(image);
        else if ((head.kind == WIRE_REPLY &&
                  read_reply(image, &head, body, status, reply)) ||
                 ((head.kind == WIRE_OUTPUT || head.kind == WIRE_WANT) &&
                  read_output(image, &head, body, status, reply)))
            return true;
        else if (head.kind == WIRE_WELCOME)
            read_welcome(image, body);
    }
    return refuse_call(image, reply);
}
