/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tool.h: what a tool is, and one call of it. Everything about a tool stands in
   its descriptor, from which follows what clients see and what is checked. */
#ifndef GATE_TOOL_H
#define GATE_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"
#include "files/files.h"
#include "files/seen.h"
#include "gate/schema.h"
#include "json/json.h"
#include "json/jsonw.h"
#include "wire/image.h"

/* How much harm a call can do. Zero is the strictest, so that a descriptor that
   says nothing is safe to use. */
enum tool_level {
    TOOL_DANGEROUS, /* runs only with an approval */
    TOOL_CAUTIOUS,  /* is logged, then runs */
    TOOL_SAFE       /* changes nothing */
};

struct approval_decision;
struct tool;
struct tool_request;
struct tool_answer;

/* What the handler of a call has found out before a human was asked: the first
   member of a larger record of the tool's, from malloc. The gate calls FREE
   once, whatever becomes of the call. */
struct tool_plan {
    void (*free)(struct tool_plan *plan);
    struct arena *arena; /* of what it holds, or NULL */
};

/* What a human is asked before a call runs or continues. Owned by the call. */
struct tool_question {
    struct buf message;   /* all that the human needs to know: the request, or
                             the whole diff */
    size_t hunks;         /* of a review: those to choose from by number, from
                             1 */
    size_t changes;       /* of a review: all hunks, to choose from or not */
    bool remember;        /* set by the gate: an approval may hold for later
                             calls */
    struct buf substance; /* what must not have changed when the answer comes,
                             besides the message: hashes of files */

    /* Of a handler that asks by itself: */
    struct buf form;    /* the JSON schema of its form; empty: the question is
                           for an approval */
    const char *name;   /* static */
    struct buf carried; /* what the handler gets back with the reply; with NAME
                           at most LIMIT_TICKET_EXTRA bytes. Of a tool with
                           divide: what call->shown gets */

    /* For an editor, the change as a JSON object; empty: the question is not
       about a change. */
    struct buf review;
};

/* The buffer that an editor may have of the file under review. */
struct tool_buffer {
    bool asked;      /* the editor was asked for it */
    bool exists;     /* there is one: the editor will make the change in it */
    bool modified;   /* it differs from the file */
    struct buf text; /* that it has */
};

/* A text that an editor has not saved. */
struct tool_unsaved_file {
    struct str path; /* of its file, from the root */
    struct str text;
    bool sent; /* else the text is not known */
};

/* Those of the files that a call looks through. */
struct tool_unsaved {
    enum { UNSAVED_NEW, UNSAVED_ASKED, UNSAVED_KNOWN } state;
    struct arena arena; /* of the rest */
    struct tool_unsaved_file *files;
    size_t count;
    bool more; /* there are others, which are not known */
};

/* The reply to a question that a handler asked by itself. */
struct tool_reply {
    struct json value; /* an object with "action" (accept, decline, cancel) and,
                          when accepted, "content"; absent: there is none */
    struct str name;   /* of the question */
    struct str carried;
};

/* Work that is done in steps (stint.h): the first member of a larger record,
   from malloc. FREE is called once, also when the call is cancelled. */
struct tool_work {
    void (*free)(struct tool_work *work);
};

/* The file or folder that a call is about (place.h). */
struct tool_place {
    bool found;               /* the rest is valid */
    enum files_result result; /* FILES_OK: NAME is it; else it is unknown, as
                                 PROBLEM says */
    struct buf path;          /* as the model wrote it */
    struct buf name;          /* from the root, links resolved */
    struct buf problem;
    bool linked; /* it had another name, too, when the rules were asked */
    bool sole;   /* it had none, and there are rules that rely on that */
};

/* What a call has changed in a file, for the log. */
struct tool_change {
    struct buf path;   /* of the file, absolute; empty: nothing was changed */
    struct buf patch;  /* in the unified format; empty when it is larger than
                          LIMIT_PATCH, or has no lines */
    struct buf before; /* hexadecimal SHA-256 of the old content; empty: the
                          file is new */
    struct buf after;  /* that of the new content; empty: it cannot be read */
    bool kept;         /* of a part, whose path is always there: it was changed,
                          and the patch is complete */
    bool made;         /* the same: it was changed */
};

/* One call of a tool, from the decision to the answer. */
struct tool_call {
    /* Set by the caller before gate_start. */
    struct {
        const struct tool *tool;
        struct image_call image; /* while it waits; its owner is the caller's */
        bool progress;           /* the client wants reports on it */
        bool can_ask;            /* the client can put questions to a human */
        bool editor;             /* an editor can, and is asked first; the gate
                                    clears it when the editor is out of reach */
        bool view;               /* it shows a session, but opens none */
        bool resumed;            /* the human's answer has come with the call,
                                    which asks, whatever allows it to run */
        struct tool_reply reply; /* the reply that has come with it, for the
                                    handler; valid until gate_start returns */
        struct buf shown;        /* of a tool with divide, when the human's
                                    answer has come with the call: what was
                                    shown of each part (question.carried) */
        struct str client;       /* who calls, as JSON text (clientinfo.h);
                                    empty: unknown */
    };

    /* Set by the gate and the handlers, zeroed before gate_start; what they own
       tool_call_release frees. */
    struct {
        int64_t started_ms;
        /* Where it runs; empty: in none. ENDS_SESSION: it ends it. */
        char session[LIMIT_SESSION_NAME + 1];
        bool ends_session;
        struct buf arguments; /* JSON text, as asked for or as modified */
        struct buf preview;   /* of the arguments (preview.h) */
        struct tool_place place;
        bool approved;          /* the gate let it run */
        const char *decision;   /* "allowed", "refused", "approved",
                                   "modified", "denied", "settled"; static;
                                   NULL before */
        const char *decided_by; /* an APPROVAL_BY_… (approval.h) */
        int64_t decided_ms;     /* when; the human's time is over then */
        struct buf rule;        /* of the editor, if that decided */
        struct buf reason;      /* the human's words; may be empty */
        bool may_remember;      /* a grant would spare the next question */
        struct buf note;        /* what the answer has to say first */
        struct tool_plan *plan; /* from prepare; owned */
        struct tool_question question; /* while it asks */
        struct tool_buffer buffer;
        struct tool_unsaved unsaved;
        struct tool_work *work;    /* done in steps, also when it is over, for
                                      the answer lives in it; owned */
        struct tool_change change; /* that it has made */

        /* Of a tool with divide: a record for each file, of which only tool,
           editor, place, buffer, plan and change are used; owned. */
        struct tool_call *parts;
        size_t part_count;
        bool removes; /* of a part: its file is to go, whatever it holds */
    };
};

/* The limits in force. */
struct tool_limits {
    size_t max_output;  /* characters of an answer */
    int64_t timeout_ms; /* of a call to an image; 0: none */
    int64_t memory;     /* bytes of the Lisp heap of a session */
};

/* What a handler gets. Except CALL, it lives until the handler returns. */
struct tool_request {
    struct arena *arena; /* of the request */
    struct image *image;
    const struct files *files;         /* NULL: the host gives none */
    struct seen *seen;                 /* of the connection */
    struct tool_limits *limits;        /* of the server */
    const struct schema_value *values; /* checked, in the order of the fields */
    struct tool_call *call;
    const struct approval_decision *decision; /* for a tool with prepare */
    struct tool_reply reply; /* to what the handler asked, if anything */
};

/* What comes next for a call. */
enum tool_state {
    TOOL_WAITS,        /* the answer comes from the image */
    TOOL_WORKS,        /* call->work has more to do */
    TOOL_READS_BUFFER, /* first, the editor is asked for the text of a file */
    TOOL_ASKS,         /* first, a human has to answer call->question */
    TOOL_IN_EDITOR,    /* the editor does it */
    TOOL_ANSWERED,     /* it is over, and the text is the answer */
    TOOL_FAILED        /* it is over, and the text says why it failed */
};

struct tool_answer {
    enum tool_state state;
    struct str text;
    struct str structured; /* the same as a JSON object, or empty */
    struct str content;    /* a JSON array of content blocks that replaces the
                              text, or empty */
    bool missing;          /* it failed because what a view should show does not
                              exist */
    const char *requires;  /* it failed because the client lacks this capability
                              of MCP, by name; else NULL */
};

struct tool {
    const char *name;
    const char *title;
    const char *description;    /* for the model; ends with a full stop */
    const char *const *aliases; /* further names, ends with NULL; or NULL */
    const struct schema_field *fields;
    enum tool_level level;

    /* The tool whose rules apply to this one; NULL: it has its own. */
    const struct tool *rules_of;

    /* An editor runs it: it has neither operation nor handler. */
    bool in_editor;

    /* Its operation changes nothing that a checkpoint would keep. All others
       count as evaluations, which restore-session takes back. */
    bool reads_only;

    /* It runs code that its arguments do not contain, and that may be other
       code at the next call: an editor offers no rule that always allows it. */
    bool loads_code;

    /* What it does takes long when a file or an argument is large, so it is
       done in steps (strand.h): its functions run where arena_spend of the
       request's arena may pause, and say there what they have done. It is no
       operation of the image. */
    bool in_steps;

    /* It evaluates or compiles code that its arguments contain, or runs code of
       files that they name. A rule about POLICY_EVALUATION is about all such
       tools. */
    bool evaluates;

    /* It changes files of the workspace. A rule about POLICY_EDITING is about
       all such tools. */
    bool edits;

    /* An editor calls it by itself, as for what is being typed, under a name of
       its own. It does not list those calls. Without this flag it lists a call,
       whoever makes it. */
    bool look_up;

    /* Hints for clients; their "read only" follows from the level. */
    bool destructive;
    bool idempotent;
    bool open_world;

    /* The least time limit of a call that does not name one. */
    int64_t timeout_ms;

    /* Of a dangerous tool whose review is its approval; else NULL. Finds out
       what the call would do before anyone is asked: fills call->plan and
       QUESTION. When there is nothing to ask, as for no change or a refused
       path, it changes ANSWER->state from TOOL_ASKS to TOOL_ANSWERED or
       TOOL_FAILED. */
    enum status (*prepare)(const struct tool_request *request,
                           struct tool_question *question,
                           struct tool_answer *answer);

    /* Of a tool with prepare whose calls are about several files; else NULL.
       Sets call->parts (tool_divide) and their places, which the rules are
       asked about; or changes ANSWER->state from TOOL_ASKS. */
    enum status (*divide)(const struct tool_request *request,
                          struct tool_answer *answer);

    /* How the names of the files end that such a tool looks through before it
       knows which the call is about, with NULL at the end; else NULL. An editor
       is asked for what it has not saved of them, for call->unsaved. */
    const char *const *unsaved;

    /* Either a Lisp operation, which gets the arguments, or a function, which
       fills ANSWER; ANSWER->state is TOOL_WAITS before. After prepare, the
       function gets call->plan and a decision of APPROVAL_APPROVED. When
       call->can_ask, it may ask something itself before it has any effect: it
       returns TOOL_ASKS with the message, form and name of call->question, and
       is called again with the reply. ST_NOMEM, ST_LIMIT and ST_IO as
       image_send. */
    const char *operation;
    enum status (*handler)(const struct tool_request *request,
                           struct tool_answer *answer);
};

/* The arguments "session" and "timeout" (seconds) mean the same for every tool:
   where and how long the call may run. The operation does not get them. */
#define TOOL_SESSION "session"
#define TOOL_INPUT "input" /* the client answers when code reads a line */
#define TOOL_TIMEOUT "timeout"
#define TOOL_MAIN_SESSION "main" /* where calls without a session run */

/* The session in which a call of TOOL with VALUES runs; empty: none. */
struct str tool_session(const struct tool *tool,
                        const struct schema_value *values);

/* Frees what CALL owns. Accepts a zeroed one. */
void tool_call_release(struct tool_call *call);

/* Frees the parts of CALL. */
void tool_call_forget_parts(struct tool_call *call);

/* Gives CALL N parts; earlier ones are gone. */
enum status MUST_CHECK tool_divide(struct tool_call *call, size_t n);

/* Puts call->note, which the answer has to say first, before its text, and
   leaves no other form of it: some clients show the model only that. */
void tool_take_note(struct tool_call *call, struct tool_answer *answer);

/* What the editor has not saved of the file PATH, from the root; NULL: nothing
   that CALL knows of. */
const struct tool_unsaved_file *tool_find_unsaved(const struct tool_call *call,
                                                  struct str path);

/* Forgets what the editor has not saved, and that it was asked. */
void tool_unsaved_release(struct tool_unsaved *unsaved);

/* Bytes of the buffers of CALL, and of what its plans hold. */
size_t tool_buffer_bytes(const struct tool_call *call);
size_t tool_plan_bytes(const struct tool_call *call);

void tool_question_release(struct tool_question *question);
void tool_buffer_release(struct tool_buffer *buffer);

/* Stops the work of CALL, whose answer is then gone, too. */
void tool_call_stop_work(struct tool_call *call);

/* Frees the plan and the question of CALL. */
void tool_call_forget_question(struct tool_call *call);

/* Whether NAME is the name or an alias of TOOL. */
bool tool_has_name(const struct tool *tool, struct str name);

/* "safe", "cautious", "dangerous". */
const char *tool_level_name(enum tool_level level);

/* Writes TOOL as an entry of tools/list; WITH_TITLE adds the member "title",
   which older versions of MCP keep in the annotations only. */
void tool_write(struct jsonw *w, const struct tool *tool, bool with_title);

/* SECONDS of a time limit in milliseconds, rounded up. */
int64_t tool_milliseconds(double seconds);

/* Begins the frame of OPERATION with the session, the time limit and the flags
   of the call. The caller appends the arguments and sends it with image_send.
 */
void tool_begin(const struct tool_request *request, const char *operation);

/* Whether there are files. When there are none, ANSWER says so. */
bool tool_has_files(const struct tool_request *request,
                    struct tool_answer *answer);

/* Sends the call to the image as TOOL's operation with its arguments. */
enum status MUST_CHECK tool_send(const struct tool_request *request);

#endif
