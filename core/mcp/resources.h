/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resources.h: the resources of this server: its metrics, views, and those of
   the host (resource.h). A view shows something of a Lisp session. To read a
   resource other than the metrics is to call a tool. */
#ifndef MCP_RESOURCES_H
#define MCP_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/schema.h"
#include "gate/sessions.h"
#include "gate/tool.h"
#include "json/json.h"
#include "json/jsonw.h"
#include "tools/resource.h"

/* Address and type of the metrics. The type of views is RESULT_VIEW_TYPE
   (result.h). */
#define RESOURCES_METRICS "lisp://metrics"
#define RESOURCES_METRICS_TYPE "application/json"

/* Where resources come from; all borrowed. */
struct resources {
    const struct sessions *sessions; /* that views are of */
    unsigned sets;               /* of tools; views of other tools are hidden */
    const struct resource *more; /* of the host, ends with one without address;
                                    or NULL */
};

/* A page of a list. */
struct resources_page {
    const struct resources *resources;
    bool with_title; /* older versions of MCP have no titles */
    uint64_t after;  /* serial of the last session on the pages before; 0: this
                        is the first page */
};

/* Reads CURSOR, absent or null for the first page, into PAGE. ST_INVALID when
   it did not come from resources_list. */
enum status MUST_CHECK resources_read_cursor(struct arena *arena,
                                             struct json cursor,
                                             struct resources_page *page);

/* Writes the member "resources" and, unless this is the last page,
   "nextCursor". */
void resources_list(struct jsonw *w, const struct resources_page *page);

/* Writes the member "resourceTemplates", all on one page. */
void resources_list_templates(struct jsonw *w,
                              const struct resources_page *page);

/* Whether VARIABLE of TEMPLATE, an address as resources_list_templates writes
   it, stands for the name of a session. */
bool resources_is_session(struct str template, struct str variable);

/* The call that reads a resource. */
struct resources_view {
    const struct tool *tool;
    const char *type; /* of its answer */
    struct json arguments;
    const struct schema_value *values; /* the arguments, checked */
};

/* Fills VIEW for URI, which is not that of the metrics. ST_MISSING: there is no
   such resource. */
enum status MUST_CHECK resources_find(struct arena *arena,
                                      const struct resources *resources,
                                      struct str uri,
                                      struct resources_view *view);

#endif
