/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resources.h: what MCP's resources are here: the metrics of the server, views
   of the Lisp sessions, and what the host brings (resource.h). All but the
   metrics are the call of a tool. */
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

/* The one that is no view of a session, and its type. That of views is
   RESULT_VIEW_TYPE (result.h). */
#define RESOURCES_METRICS "lisp://metrics"
#define RESOURCES_METRICS_TYPE "application/json"

/* What there is. */
struct resources {
    const struct sessions *sessions; /* sessions */
    unsigned sets; /* of tools that are offered: others have no views */
    const struct resource *more; /* of the host, the last one has no address; or
                                    NULL */
};

/* A page of a list. */
struct resources_page {
    const struct resources *resources;
    bool with_title; /* which older versions of MCP do not know */
    uint64_t after; /* of a later page: the serial of the last session before */
};

/* Reads a cursor, absent or null for the first page, into PAGE. ST_INVALID when
   it is none that resources_list has written. */
enum status MUST_CHECK resources_read_cursor(struct arena *arena,
                                             struct json cursor,
                                             struct resources_page *page);

/* Writes the members "resources" and, when there are more, "nextCursor". */
void resources_list(struct jsonw *w, const struct resources_page *page);

/* Writes the member "resourceTemplates"; there is one page. */
void resources_list_templates(struct jsonw *w,
                              const struct resources_page *page);

/* What a view shows: a call of TOOL. */
struct resources_view {
    const struct tool *tool;
    const char *type; /* of what it answers */
    struct json arguments;
    const struct schema_value *values; /* they, checked */
};

/* Finds out what URI, no metrics, shows. ST_MISSING: nothing. */
enum status MUST_CHECK resources_find(struct arena *arena,
                                      const struct resources *resources,
                                      struct str uri,
                                      struct resources_view *view);

#endif
