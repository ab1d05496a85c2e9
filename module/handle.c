/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handle.c: see handle.h. */
#include "module/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/values.h"

/* Options, read from the property list. The buffers hold their texts. */
struct options {
    const char *workspace;
    const char *audit;
    const char *policy;
    struct core_config config;
    struct buf texts[3];
};

/* Handles that are not closed; LIMIT_MODULE_CORES bounds them. */
static size_t open_handles;

/* Releases what the core borrowed, after it was freed. */
static void release_borrowed(struct handle *handle)
{
    host_release(&handle->host);
    buf_release(&handle->tools);
    for (size_t i = 0; i < LIMIT_SECRETS; i++)
        buf_release(&handle->secrets[i]);
}

void handle_close(struct handle *handle)
{
    if (!handle->core)
        return;
    core_free(handle->core);
    handle->core = NULL;
    release_borrowed(handle);
    open_handles--;
}

/* Emacs calls this while it collects garbage: nothing of Emacs may be used. */
static void finalize(void *data)
{
    struct handle *handle = data;

    if (!handle)
        return;
    handle_close(handle);
    release_borrowed(handle); // when it was never opened
    ring_clear(&handle->log);
    free(handle);
}

struct handle *handle_get(emacs_env *env, emacs_value value)
{
    if (!is_fine(env))
        return NULL;
    emacs_finalizer finalizer = env->get_user_finalizer(env, value);
    if (!is_fine(env))
        return NULL;
    if (finalizer != finalize) {
        signal_type(env, SYM_COREP, value);
        return NULL;
    }
    struct handle *handle = env->get_user_ptr(env, value);
    return is_fine(env) ? handle : NULL;
}

struct handle *handle_get_open(emacs_env *env, emacs_value value)
{
    struct handle *handle = handle_get(env, value);

    if (handle && !handle->core) {
        signal_error(env, "This core is closed");
        return NULL;
    }
    return handle;
}

/* Adds a rule for each tool that LIST names. */
static bool add_rules(emacs_env *env, emacs_value list,
                      enum policy_decision decision, struct policy *policy)
{
    struct buf name = BUF_EMPTY;
    emacs_value vector;
    ptrdiff_t count;

    if (!value_elements(env, list, &vector, &count))
        return false;
    for (ptrdiff_t i = 0; i < count && is_fine(env); i++) {
        if (!value_bytes(env, env->vec_get(env, vector, i), &name))
            break;
        const struct tool *tool = core_find_tool(buf_view(&name));
        if (!tool)
            signal_error(env, "There is no tool %.*s",
                         STR_ARG(buf_view(&name)));
        else if (policy_add(policy, tool, decision) != ST_OK)
            signal_nomem(env);
    }
    buf_release(&name);
    return is_fine(env);
}

/* Takes the patterns in LIST. */
static bool read_secrets(emacs_env *env, emacs_value list,
                         struct handle *handle)
{
    emacs_value vector;
    ptrdiff_t count;

    if (!value_elements(env, list, &vector, &count))
        return false;
    if (count > LIMIT_SECRETS) {
        signal_error(env, ":secrets may have at most %d patterns",
                     LIMIT_SECRETS);
        return false;
    }
    for (ptrdiff_t i = 0; i < count && is_fine(env); i++) {
        const char **pattern = &handle->patterns[i];

        if (!value_name(env, env->vec_get(env, vector, i), ":secrets",
                        &handle->secrets[i], pattern))
            break;
        if (!workspace_takes_secret(*pattern))
            signal_error(env, ":secrets %s is not valid; valid: %s", *pattern,
                         WORKSPACE_SECRETS);
    }
    return is_fine(env);
}

static bool read_tools(emacs_env *env, emacs_value value, struct buf *text,
                       const char **out)
{
    if (!value_name(env, value, ":tools", text, out))
        return false;
    if (core_has_tool_sets(*out))
        return true;
    signal_error(env, ":tools %s is not valid; valid: %s", *out,
                 core_tool_sets());
    return false;
}

static bool read_number(emacs_env *env, emacs_value key, emacs_value value,
                        struct core_config *config)
{
    int64_t n;

    if (value_is(env, key, SYM_APPROVAL_SECONDS)) {
        if (!value_integer(env, value, ":approval-seconds", 1,
                           LIMIT_TIMEOUT_MAX, &n))
            return false;
        config->approval_ms = n * 1000;
    } else if (value_is(env, key, SYM_MAX_OUTPUT)) {
        if (!value_integer(env, value, ":max-output", LIMIT_OUTPUT_MIN,
                           LIMIT_OUTPUT_MAX, &n))
            return false;
        config->max_output = (size_t)n;
    } else if (value_is(env, key, SYM_MEMORY)) {
        if (!value_integer(env, value, ":memory", LIMIT_HEAP_MIN,
                           LIMIT_HEAP_MAX, &n))
            return false;
        config->memory = (uint64_t)n;
    } else {
        signal_error(env, "Unknown option; known: :workspace :tools "
                          ":audit :policy :allow :deny :secrets "
                          ":approval-seconds :max-output :memory");
        return false;
    }
    return true;
}

/* One option; a value of nil leaves the default. */
static bool read_option(emacs_env *env, emacs_value key, emacs_value value,
                        struct options *options, struct handle *handle)
{
    struct policy *policy = &handle->host.policy;

    if (!env->is_not_nil(env, value))
        return is_fine(env);
    if (value_is(env, key, SYM_WORKSPACE))
        return value_name(env, value, ":workspace", &options->texts[0],
                          &options->workspace);
    if (value_is(env, key, SYM_TOOLS))
        return read_tools(env, value, &handle->tools, &options->config.tools);
    if (value_is(env, key, SYM_AUDIT))
        return value_name(env, value, ":audit", &options->texts[1],
                          &options->audit);
    if (value_is(env, key, SYM_POLICY))
        return value_name(env, value, ":policy", &options->texts[2],
                          &options->policy);
    if (value_is(env, key, SYM_ALLOW))
        return add_rules(env, value, POLICY_ALLOW, policy);
    if (value_is(env, key, SYM_DENY))
        return add_rules(env, value, POLICY_DENY, policy);
    if (value_is(env, key, SYM_SECRETS))
        return read_secrets(env, value, handle);
    return read_number(env, key, value, &options->config);
}

static bool read_options(emacs_env *env, emacs_value list,
                         struct options *options, struct handle *handle)
{
    emacs_value vector;
    ptrdiff_t count;

    if (!value_elements(env, list, &vector, &count))
        return false;
    if (count % 2 != 0) {
        signal_error(env, "The last option has no value");
        return false;
    }
    for (ptrdiff_t i = 0; i < count; i += 2) {
        emacs_value key = env->vec_get(env, vector, i);
        emacs_value value = env->vec_get(env, vector, i + 1);

        if (!is_fine(env) || !read_option(env, key, value, options, handle))
            return false;
    }
    return true;
}

/* Whether the name of a file is absolute: the current folder of this process
   means nothing to the user of Emacs. */
static bool is_absolute(emacs_env *env, const char *what, const char *name)
{
    if (!name || name[0] == '/')
        return true;
    signal_error(env, "%s %s is not an absolute file name", what, name);
    return false;
}

static bool open_files(emacs_env *env, struct handle *handle,
                       const struct options *options)
{
    struct host *host = &handle->host;
    const char *audit = options->audit;

    if (!is_absolute(env, ":workspace", options->workspace) ||
        !is_absolute(env, ":policy", options->policy) ||
        (audit && strcmp(audit, "off") != 0 &&
         !is_absolute(env, ":audit", audit)))
        return false;
    if (host_open_audit(host, audit) != ST_OK) {
        signal_error(env, ":audit %s: %s", audit, auditfile_reason(errno));
        return false;
    }
    if (options->workspace && host_open_workspace(host, options->workspace,
                                                  handle->patterns) != ST_OK) {
        signal_error(env, ":workspace %s: %s", options->workspace,
                     strerror(errno));
        return false;
    }
    return true;
}

static void open_core(emacs_env *env, struct handle *handle, emacs_value list)
{
    struct options options = {
        .config = {.pid = getpid(), .editor = true, .attached = true}};
    struct log log = {LOG_INFO, ring_sink, &handle->log};

    host_init(&handle->host, &log);
    if (read_options(env, list, &options, handle) &&
        open_files(env, handle, &options)) {
        if (host_fill(&handle->host, options.policy, &options.config) != ST_OK)
            signal_error(env, "The system has no random bytes: %s",
                         strerror(errno));
        else
            handle->core = core_new(&options.config);
        host_begin_audit(&handle->host);
    }
    for (size_t i = 0; i < sizeof options.texts / sizeof options.texts[0]; i++)
        buf_release(&options.texts[i]);
    if (handle->core)
        open_handles++;
    else if (is_fine(env))
        signal_nomem(env);
}

/* Whether one more core may be open. */
static bool has_room(emacs_env *env)
{
    if (open_handles >= LIMIT_MODULE_CORES)
        (void)value_call(env, FN_GARBAGE_COLLECT, 0, NULL);
    if (!is_fine(env))
        return false;
    if (open_handles < LIMIT_MODULE_CORES)
        return true;
    signal_error(env, "%d cores are open; close one of them",
                 LIMIT_MODULE_CORES);
    return false;
}

emacs_value handle_open(emacs_env *env, emacs_value list)
{
    emacs_value nil = value_symbol(SYM_NIL);

    if (!has_room(env))
        return nil;
    struct handle *handle = calloc(1, sizeof *handle);
    if (!handle) {
        signal_nomem(env);
        return nil;
    }
    open_core(env, handle, list);
    emacs_value value = nil;
    if (is_fine(env))
        value = env->make_user_ptr(env, finalize, handle);
    if (is_fine(env))
        return value;
    finalize(handle);
    return nil;
}
