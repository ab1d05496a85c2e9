/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c: see options.h. --help and the messages are made from one table. */
#include "server/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/version.h"
#include "core/core.h"
#include "host/workspace.h"
#include "image/names.h"

enum option_id {
    OPT_WORKSPACE = 'w',
    OPT_TOOLS = 't',
    OPT_LOG_LEVEL = 'l',
    OPT_MEMORY = 'm',
    OPT_HELP = 'h',
    OPT_VERSION = 'V',
    OPT_MAX_MESSAGE = 256, // without a short form from here on
    OPT_MAX_OUTPUT,
    OPT_APPROVAL_TIMEOUT,
    OPT_ALLOW,
    OPT_DENY,
    OPT_SECRET,
    OPT_POLICY,
    OPT_AUDIT,
    OPT_SANDBOX,
    OPT_PROTECT,
    OPT_NO_PROTECT,
    OPT_ALLOW_NETWORK,
    OPT_NATIVE,
    OPT_SUPERVISE,
    OPT_LISTEN,
    OPT_ATTACH
};

struct option_help {
    struct option option;
    const char *value; /* the name of its argument in --help, or NULL */
    const char *help;
};

static const struct option_help TABLE[] = {
    {{"workspace", required_argument, NULL, OPT_WORKSPACE},
     "DIR",
     "the workspace, in which Lisp starts (default: the current directory)"},
    {{"tools", required_argument, NULL, OPT_TOOLS},
     "SET,...",
     "tool sets to offer, or all (default: not step, threads, replay)"},
    {{"memory", required_argument, NULL, OPT_MEMORY},
     "SIZE",
     "Lisp heap of a session, 64M to 1T (default: 1G)"},
    {{"max-output", required_argument, NULL, OPT_MAX_OUTPUT},
     "N",
     "characters of one answer, 1000 to 1000000 (default: 10000)"},
    {{"max-message", required_argument, NULL, OPT_MAX_MESSAGE},
     "SIZE",
     "bytes of one message, 4K to 1G (default: 16M)"},
    {{"allow", required_argument, NULL, OPT_ALLOW},
     "TOOL",
     "let a tool run without approval; may be repeated"},
    {{"deny", required_argument, NULL, OPT_DENY},
     "TOOL",
     "never let a tool run; may be repeated"},
    {{"secret", required_argument, NULL, OPT_SECRET},
     "PATTERN",
     "hide more files from the agent, by name; may be repeated"},
    {{"policy", required_argument, NULL, OPT_POLICY},
     "FILE",
     "rules for tools (default: ~/.config/ecl-mcp/policy.json)"},
    {{"audit", required_argument, NULL, OPT_AUDIT},
     "FILE",
     "log of all calls, or off (default: ~/.local/state/ecl-mcp/audit/)"},
    {{"approval-timeout", required_argument, NULL, OPT_APPROVAL_TIMEOUT},
     "S",
     "seconds for the user's answer, 1 to 86400 (default: 300)"},
    {{"sandbox", required_argument, NULL, OPT_SANDBOX},
     "MODE",
     "what Lisp may change: workspace (the default), read-only, off"},
    {{"protect", required_argument, NULL, OPT_PROTECT},
     "PATTERN",
     "more files of the workspace that Lisp must not change; may be repeated"},
    {{"no-protect", no_argument, NULL, OPT_NO_PROTECT},
     NULL,
     "let Lisp change all of the workspace, hooks and settings of git too"},
    {{"allow-network", no_argument, NULL, OPT_ALLOW_NETWORK},
     NULL,
     "let Lisp use the network"},
    {{"native", required_argument, NULL, OPT_NATIVE},
     "on|off|now",
     "compile functions to native code, in the background or at once (default: "
     "on)"},
    {{"log-level", required_argument, NULL, OPT_LOG_LEVEL},
     "LEVEL",
     "error, warn, info or debug, on standard error (default: warn)"},
    {{"supervise", no_argument, NULL, OPT_SUPERVISE},
     NULL,
     "keep Lisp images for a program that speaks frames on standard input and "
     "output"},
    {{"listen", required_argument, NULL, OPT_LISTEN},
     "SOCKET",
     "with --supervise: let servers share the images through SOCKET"},
    {{"attach", optional_argument, NULL, OPT_ATTACH},
     "[SOCKET]",
     "use the images at SOCKET (default: ~/.local/state/ecl-mcp/image.sock)"},
    {{"version", no_argument, NULL, OPT_VERSION}, NULL, "print the version"},
    {{"help", no_argument, NULL, OPT_HELP}, NULL, "print this text"},
};

enum { TABLE_N = sizeof TABLE / sizeof TABLE[0] };

static void print_help(FILE *out)
{
    (void)fputs(
        "Usage: ecl-mcp [OPTION]...\n"
        "A live Common Lisp for MCP clients, on standard input and output.\n\n",
        out);
    for (size_t i = 0; i < TABLE_N; i++) {
        const struct option_help *row = &TABLE[i];
        char name[40];

        (void)snprintf(name, sizeof name, "--%s%s%s", row->option.name,
                       row->value ? " " : "", row->value ? row->value : "");
        if (row->option.val < 256)
            (void)fprintf(out, "  -%c, %-22s %s\n", row->option.val, name,
                          row->help);
        else
            (void)fprintf(out, "      %-22s %s\n", name, row->help);
    }
    (void)fprintf(
        out, "\nTool sets: %s. SIZE is a number; K, M, G or T may follow.\n",
        core_tool_sets());
}

static int fail_value(const char *option, const char *value, const char *valid)
{
    (void)fprintf(stderr, "ecl-mcp: --%s: '%s' is not valid; valid: %s\n",
                  option, value, valid);
    return 2;
}

static int fail_option(void)
{
    (void)fputs("ecl-mcp: valid options:",
                stderr); // getopt has named the wrong one
    for (size_t i = 0; i < TABLE_N; i++)
        (void)fprintf(stderr, " --%s", TABLE[i].option.name);
    (void)fputs("\n", stderr);
    return 2;
}

static const char units[] = "KMGT";

/* A whole number from MIN to MAX; K, M, G or T may follow it. */
static bool parse_size(const char *text, uint64_t min, uint64_t max,
                       uint64_t *out)
{
    char *end;
    unsigned shift = 0;

    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0 || end == text || text[0] < '0' || text[0] > '9')
        return false;
    int letter = toupper((unsigned char)*end);

    if (letter != '\0') {
        const char *unit = strchr(units, letter);

        if (!unit || end[1] != '\0')
            return false;
        shift = 10u * (unsigned)(unit - units + 1);
    }
    if (n > max >> shift || n << shift < min)
        return false;
    *out = n << shift;
    return true;
}

/* Writes N as --help does, with a unit if that says the same. */
static void write_size(uint64_t n, char *to, size_t size)
{
    size_t unit = 0;

    while (n % 1024 == 0 && units[unit] != '\0') {
        n /= 1024;
        unit++;
    }
    (void)snprintf(to, size, "%llu%.1s", (unsigned long long)n,
                   unit > 0 ? units + unit - 1 : "");
}

static int set_size(const char *option, const char *value, uint64_t min,
                    uint64_t max, uint64_t *out)
{
    char least[24];
    char most[24];
    char valid[80];

    if (parse_size(value, min, max, out))
        return -1;
    write_size(min, least, sizeof least);
    write_size(max, most, sizeof most);
    (void)snprintf(valid, sizeof valid, "%s to %s", least, most);
    return fail_value(option, value, valid);
}

static int set_workspace(const char *value, struct options *options)
{
    struct stat status;

    if (stat(value, &status) < 0) {
        (void)fprintf(stderr, "ecl-mcp: --workspace: '%s': %s\n", value,
                      strerror(errno));
        return 2;
    }
    if (!S_ISDIR(status.st_mode))
        return fail_value("workspace", value, "a directory");
    options->workspace = value;
    return -1;
}

static int fail_tool(const char *option, const char *value)
{
    const char *name;

    (void)fprintf(
        stderr, "ecl-mcp: --%s: there is no tool '%s'; the tools are:", option,
        value);
    for (size_t i = 0; (name = core_tool_name(i)) != NULL; i++)
        (void)fprintf(stderr, "%s %s", i > 0 ? "," : "", name);
    (void)fputs("\n", stderr);
    return 2;
}

static int add_rule(const char *option, const char *value,
                    enum policy_decision decision, struct options *options)
{
    const struct tool *tool = core_find_tool(str_from(value));

    if (!tool)
        return fail_tool(option, value);
    if (policy_add(&options->rules, tool, decision) == ST_OK)
        return -1;
    (void)fputs("ecl-mcp: out of memory\n", stderr);
    return 1;
}

/* Adds VALUE to the patterns in LIST, at most MAX of them. */
static int add_pattern(const char *option, const char *value, const char **list,
                       int max)
{
    int n = 0;

    if (!workspace_takes_secret(value))
        return fail_value(option, value, WORKSPACE_SECRETS);
    while (list[n])
        n++;
    if (n == max) {
        (void)fprintf(stderr, "ecl-mcp: --%s: at most %d are allowed\n", option,
                      max);
        return 2;
    }
    list[n] = value;
    return -1;
}

static int set_sandbox(const char *value, struct options *options)
{
    if (sandbox_mode_find(str_from(value), &options->sandbox.mode) == ST_OK)
        return -1;
    return fail_value("sandbox", value, SANDBOX_MODES);
}

static int set_socket(const char *option, const char *value, const char **out)
{
    struct sockaddr_un address;
    char valid[60];

    *out = value;
    if (address_fill(value, &address))
        return -1;
    (void)snprintf(valid, sizeof valid, "a path of less than %zu bytes",
                   ADDRESS_SIZE);
    return fail_value(option, value, valid);
}

/* VALUE is NULL when the option has no argument. */
static int set_attach(const char *value, struct options *options)
{
    if (value)
        return set_socket("attach", value, &options->attach);
    options->attach = options->socket;
    if (address_default(options->socket))
        return -1;
    (void)fputs(
        "ecl-mcp: --attach: no socket can be found below HOME; name it: "
        "--attach SOCKET\n",
        stderr);
    return 2;
}

/* Images get it by the environment. */
static int set_native(const char *value)
{
    if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0 &&
        strcmp(value, "now") != 0)
        return fail_value("native", value, "on, off, now");
    (void)setenv(NAME_NATIVE, value, 1); // without memory, it is off
    return -1;
}

/* The options that are for images alone; other ones are not valid. */
static int set_image_option(int id, const char *value, struct options *options)
{
    options->of_images = true;
    switch (id) {
    case OPT_MEMORY:
        return set_size("memory", value, LIMIT_HEAP_MIN, LIMIT_HEAP_MAX,
                        &options->memory);
    case OPT_SANDBOX:
        return set_sandbox(value, options);
    case OPT_PROTECT:
        return add_pattern("protect", value, options->protects, LIMIT_PROTECTS);
    case OPT_NO_PROTECT:
        options->sandbox.unprotected = true;
        return -1;
    case OPT_ALLOW_NETWORK:
        options->sandbox.network = true;
        return -1;
    case OPT_NATIVE:
        return set_native(value);
    default:
        return fail_option();
    }
}

static int set_option(int id, const char *value, struct options *options)
{
    uint64_t n = 0;
    int result;

    switch (id) {
    case OPT_WORKSPACE:
        return set_workspace(value, options);
    case OPT_TOOLS:
        options->tools = value;
        return core_has_tool_sets(value)
                   ? -1
                   : fail_value("tools", value, core_tool_sets());
    case OPT_LOG_LEVEL:
        if (log_level_find(str_from(value), &options->level) != ST_OK)
            return fail_value("log-level", value, "error, warn, info, debug");
        return -1;
    case OPT_MAX_MESSAGE:
        result = set_size("max-message", value, LIMIT_MESSAGE_MIN,
                          LIMIT_MESSAGE_MAX, &n);
        options->max_message = (size_t)n;
        return result;
    case OPT_MAX_OUTPUT:
        result = set_size("max-output", value, LIMIT_OUTPUT_MIN,
                          LIMIT_OUTPUT_MAX, &n);
        options->max_output = (size_t)n;
        return result;
    case OPT_APPROVAL_TIMEOUT:
        result = set_size("approval-timeout", value, 1, LIMIT_TIMEOUT_MAX, &n);
        options->approval_ms = (int64_t)n * 1000;
        return result;
    case OPT_ALLOW:
        return add_rule("allow", value, POLICY_ALLOW, options);
    case OPT_DENY:
        return add_rule("deny", value, POLICY_DENY, options);
    case OPT_SECRET:
        return add_pattern("secret", value, options->secrets, LIMIT_SECRETS);
    case OPT_POLICY:
        options->policy = value;
        return -1;
    case OPT_AUDIT:
        options->audit = value;
        return -1;
    case OPT_SUPERVISE:
        options->supervise = true;
        return -1;
    case OPT_LISTEN:
        return set_socket("listen", value, &options->listen);
    case OPT_ATTACH:
        return set_attach(value, options);
    case OPT_HELP:
        print_help(stdout);
        return 0;
    case OPT_VERSION:
        (void)printf("ecl-mcp %s\n", ECL_MCP_VERSION);
        return 0;
    default:
        return set_image_option(id, value, options);
    }
}

/* The optional argument of an option, given as a word of its own. */
static const char *next_word(int argc, char **argv)
{
    return optind < argc && argv[optind][0] != '-' ? argv[optind++] : NULL;
}

/* Checks that the options go together: -1, or the exit status. */
static int check(const struct options *options)
{
    const char *why = NULL;

    if (options->attach && options->supervise)
        why = "--supervise keeps images of its own, --attach uses others";
    else if (options->attach && options->of_images)
        why = "--memory, --sandbox, --protect, --no-protect and "
              "--allow-network are for the program that keeps the images, not "
              "for --attach";
    else if (options->protects[0] && options->sandbox.unprotected)
        why = "--no-protect and --protect exclude each other";
    else if (options->listen && !options->supervise)
        why = "--listen needs --supervise";
    if (why)
        (void)fprintf(stderr, "ecl-mcp: %s\n", why);
    return why ? 2 : -1;
}

int options_parse(int argc, char **argv, struct options *options)
{
    struct option known[TABLE_N + 1];
    int id;

    *options = (struct options){.level = LOG_WARN,
                                .max_message = LIMIT_MESSAGE,
                                .max_output = LIMIT_OUTPUT,
                                .memory = LIMIT_HEAP,
                                .approval_ms = LIMIT_APPROVAL_MS};
    policy_init(&options->rules);
    (void)set_native("on");
    options->sandbox.secrets = options->secrets;
    options->sandbox.protects = options->protects;
    for (size_t i = 0; i < TABLE_N; i++)
        known[i] = TABLE[i].option;
    known[TABLE_N] = (struct option){NULL, 0, NULL, 0};
    while ((id = getopt_long(argc, argv, "w:t:l:m:Vh", known, NULL)) != -1) {
        const char *value =
            id == OPT_ATTACH && !optarg ? next_word(argc, argv) : optarg;
        int status = set_option(id, value, options);

        if (status >= 0)
            return status;
    }
    if (optind < argc) {
        (void)fprintf(stderr, "ecl-mcp: '%s': unexpected argument\n",
                      argv[optind]);
        return fail_option();
    }
    return check(options);
}
