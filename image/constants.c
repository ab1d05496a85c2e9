/* SPDX-License-Identifier: GPL-3.0-or-later */
/* constants.c: see constants.h. ECL reads the constants of each module with its
   reader, character by character through a stream; that was a third of its
   start. This definition of ECL_READ_OBJECT takes the place of the one in the
   library, which calls it through its table of symbols, and reads them from
   their text. What is not a symbol, keyword, string, small integer or list of
   such is left to the library's, as is everything if the library does not call
   this one, or the module looks in any way unfamiliar. */
#include "image/constants.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include <ecl/ecl.h>

#include "image/conses.h"

enum {
    TOKEN = 128,   /* characters of the longest token that is read here */
    NESTING = 100, /* of lists */
    KNOWN = 2048,  /* symbols that are remembered: a third of all are new */
    PARTS = 100000 /* of constants, which are looked at for references */
};

/* Digits of the largest number: any such is a fixnum. */
enum { DIGITS = sizeof(cl_fixnum) == 8 ? 15 : 8 };

/* A text, and where in it reading has come. */
struct text {
    const char *at;
    const char *end;
    unsigned depth;
};

/* The module whose constants are read. */
static struct {
    cl_object block;
    cl_object stream; /* from which the library would read them */
    const char *text;
    struct text rest;
    cl_fixnum left; /* constants still to read */
    unsigned parts; /* still to look at */
    bool open;      /* one may have a reference that must be replaced */
} module;

/* A symbol whose token was read in a package. Looking it up takes ECL a hash
   for each package in which it may be; symbols and packages stay meanwhile. */
struct known {
    const char *token; /* in the text of a module, which is not freed yet */
    size_t n;
    cl_object package;
    cl_object symbol;
};

/* What modules share; NULL: there is no memory for it. */
static struct shared {
    struct known symbols[KNOWN];
    char name[TOKEN]; /* of the package that was looked up last */
    size_t n;
    cl_object package; /* kept by the list of all packages */
} * shared;

static cl_object (*library_read)(cl_object stream);

/* In the thread whose modules are read here. */
static __thread bool active;

/* The variables in which the library has the module, and the labels of shared
   parts that were read, with these. */
static cl_object block_variable;
static cl_object labels_variable;

/* Whether the library's reader makes strings with room for any character; -1
   until it has made one. */
static int wide = -1;

__attribute__((constructor)) static void find_original(void)
{
    void *found = dlsym(RTLD_NEXT, "ecl_read_object");

    memcpy(&library_read, &found, sizeof found);
}

void constants_begin(void)
{
    void *memory = shared;

    if (!memory) // pages of its own, which no session needs
        memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = memory == MAP_FAILED ? NULL : memory;
    active = true;
    wide = -1; // code of the user may have changed that since
}

void constants_end(void)
{
    active = false;
    if (shared)
        (void)munmap(shared, sizeof *shared);
    shared = NULL;
}

/* --- Tokens ------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A string in the memory of the caller, which no object refers to for long. */
static struct ecl_base_string string_of(char *p, size_t n)
{
    return (struct ecl_base_string){.t = (int8_t)t_base_string,
                                    .elttype = ecl_aet_bc,
                                    .displaced = ECL_NIL,
                                    .dim = n,
                                    .fillp = n,
                                    .self = (ecl_base_char *)p};
}

/* The symbol named by the N characters at P in PACKAGE. OBJNULL: the library's
   reader has to say what is wrong with it. */
static cl_object symbol_in(cl_object package, char *p, size_t n, bool external)
{
    struct ecl_base_string name = string_of(p, n);
    cl_object found;
    int kind = 0;

    if (n == 0 || package == ECL_NIL)
        return OBJNULL;
    if (!external) // a new symbol has a copy of its name
        return ecl_intern((cl_object)&name, package, &kind);
    found = ecl_find_symbol((cl_object)&name, package, &kind);
    return kind == ECL_EXTERNAL ? found : OBJNULL;
}

/* The package named by the N characters at P, or NIL. */
static cl_object package_named(char *p, size_t n)
{
    struct ecl_base_string name = string_of(p, n);
    cl_object found;

    if (shared && shared->package && n == shared->n &&
        memcmp(shared->name, p, n) == 0)
        return shared->package;
    found = cl_find_package((cl_object)&name);
    if (!shared || found == ECL_NIL)
        return found;
    memcpy(shared->name, p, n);
    shared->n = n;
    return shared->package = found;
}

/* The package named by the N characters at P that the module will make, which
   the library has made when it read the first symbol of it; or NIL. */
static cl_object package_to_come(const char *p, size_t n)
{
    cl_env_ptr env = ecl_process_env();
    cl_object rest = env->packages_to_be_created_p == ECL_NIL
                         ? ECL_NIL
                         : env->packages_to_be_created;

    for (; ECL_CONSP(rest); rest = cons_cdr(rest)) {
        cl_object name = ecl_car(cons_car(rest));
        cl_index i = 0;

        if (!ECL_STRINGP(name) || (size_t)ecl_length(name) != n)
            continue;
        while (i < n && ecl_char(name, i) == (ecl_character)p[i])
            i++;
        if (i == n)
            return ecl_cdr(cons_car(rest));
    }
    return ECL_NIL;
}

/* The symbol whose token are the N characters at P. */
static cl_object symbol_of(char *p, size_t n)
{
    char *colon = memchr(p, ':', n);
    size_t before = colon ? (size_t)(colon - p) : 0;
    size_t colons = colon && before + 1 < n && colon[1] == ':' ? 2 : 1;
    char *name = p + before + colons;
    char keyword[] = "KEYWORD";
    cl_object package;

    if (!colon)
        return symbol_in(ecl_current_package(), p, n, false);
    if (before + colons >= n || memchr(name, ':', n - before - colons))
        return OBJNULL;
    if (before == 0)
        return colons == 2 ? OBJNULL
                           : symbol_in(package_named(keyword, 7), name,
                                       n - colons, false);
    package = package_named(p, before);
    if (package == ECL_NIL && colons == 2)
        package = package_to_come(p, before);
    return symbol_in(package, name, n - before - colons, colons == 1);
}

/* What SYMBOL_OF says of the N characters at P, which stand at TOKEN. */
static cl_object known_symbol(const char *token, char *p, size_t n)
{
    cl_object package = ecl_current_package();
    size_t hash = n;
    struct known *known;

    if (!shared)
        return symbol_of(p, n);
    for (size_t i = 0; i < n; i++)
        hash = hash * 31 + (unsigned char)token[i];
    known = &shared->symbols[hash % KNOWN];
    if (known->n == n && known->package == package &&
        memcmp(known->token, token, n) == 0)
        return known->symbol;
    *known = (struct known){token, n, package, symbol_of(p, n)};
    if (known->symbol == OBJNULL)
        known->n = 0;
    return known->symbol;
}

/* Takes the token at *TEXT to TOKEN, in upper case. Returns its length, or 0
   when it has something special, or is too long. */
static size_t take_token(struct text *text, char token[TOKEN])
{
    static const bool special[0x80] = {
        ['\0'] = true, ['"'] = true,  ['\''] = true, ['`'] = true, [','] = true,
        [';'] = true,  ['\\'] = true, ['|'] = true,  ['#'] = true};
    size_t n = 0;

    for (; text->at < text->end; text->at++) {
        char c = *text->at;

        if (is_space(c) || c == '(' || c == ')')
            return n;
        if (n == TOKEN || !is_ascii(c) || special[(unsigned char)c])
            return 0;
        token[n++] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    return n;
}

/* What the N characters of a token at P are, which stand at TOKEN: a symbol or
   a small integer. */
static cl_object token_object(const char *token, char *p, size_t n)
{
    bool sign = p[0] == '+' || p[0] == '-';
    cl_fixnum number = 0;
    size_t i = sign && n > 1 ? 1 : 0;

    if (p[0] == '.')
        return OBJNULL;
    if (!is_digit(p[i])) {
        // one that begins like this and has digits may be a number
        for (; sign && i < n; i++)
            if (is_digit(p[i]) || p[i] == '.')
                return OBJNULL;
        return known_symbol(token, p, n);
    }
    if (n - i > DIGITS)
        return OBJNULL;
    for (; i < n; i++) {
        if (!is_digit(p[i]))
            return OBJNULL;
        number = number * 10 + (p[i] - '0');
    }
    return ecl_make_integer(p[0] == '-' ? -number : number);
}

/* --- Strings and lists -------------------------------------------------- */

static void put(cl_object string, cl_index i, char c)
{
    if (wide)
        string->string.self[i] = (ecl_character)c;
    else
        string->base_string.self[i] = (ecl_base_char)c;
}

/* The string after whose quote TEXT is. */
static cl_object take_string(struct text *text)
{
    const char *p = text->at;
    cl_index n = 0;
    cl_object string;

    if (wide < 0)
        return OBJNULL;
    for (; p < text->end && *p != '"'; p++, n++)
        if ((*p == '\\' && ++p == text->end) || !is_ascii(*p))
            return OBJNULL;
    if (p == text->end)
        return OBJNULL;
    string = wide ? ecl_alloc_simple_extended_string(n)
                  : ecl_alloc_simple_base_string(n);
    p = text->at;
    for (cl_index i = 0; i < n; i++, p++) {
        if (*p == '\\')
            p++;
        put(string, i, *p);
    }
    text->at = p + 1;
    return string;
}

static cl_object take_object(struct text *text);

static void skip_space(struct text *text)
{
    while (text->at < text->end && is_space(*text->at))
        text->at++;
}

/* Whether TEXT is at a dot between the last two parts of a list. */
static bool is_dot(const struct text *text)
{
    return text->end - text->at > 1 && text->at[0] == '.' &&
           is_space(text->at[1]);
}

/* The list after whose parenthesis TEXT is. */
static cl_object take_list(struct text *text)
{
    cl_object list = ECL_NIL;
    cl_object last = ECL_NIL;

    for (;;) {
        cl_object part;

        skip_space(text);
        if (text->at == text->end)
            return OBJNULL;
        if (*text->at == ')')
            break;
        if (last != ECL_NIL && is_dot(text)) {
            text->at++;
            part = take_object(text);
            skip_space(text);
            if (part == OBJNULL || text->at == text->end || *text->at != ')')
                return OBJNULL;
            ECL_RPLACD(last, part);
            break;
        }
        part = take_object(text);
        if (part == OBJNULL)
            return OBJNULL;
        part = ecl_list1(part);
        if (last == ECL_NIL)
            list = part;
        else
            ECL_RPLACD(last, part);
        last = part;
    }
    text->at++;
    return list;
}

/* The object of TEXT after a quote. */
static cl_object take_quoted(struct text *text)
{
    char package[] = "COMMON-LISP";
    char name[] = "QUOTE";
    cl_object quote = symbol_in(package_named(package, 11), name, 5, true);
    cl_object object = take_object(text);

    return quote == OBJNULL || object == OBJNULL ? OBJNULL
                                                 : cl_list(2, quote, object);
}

static cl_object take_nested(struct text *text)
{
    cl_object object;
    char first = *text->at++;

    if (text->depth == NESTING)
        return OBJNULL;
    text->depth++;
    object = first == '(' ? take_list(text) : take_quoted(text);
    text->depth--;
    return object;
}

/* The next object of TEXT, or OBJNULL when the library has to read it. */
static cl_object take_object(struct text *text)
{
    char token[TOKEN];
    const char *start;
    size_t n;

    skip_space(text);
    if (text->at == text->end)
        return OBJNULL;
    if (*text->at == '"') {
        text->at++;
        return take_string(text);
    }
    if (*text->at == '(' || *text->at == '\'')
        return take_nested(text);
    start = text->at;
    n = take_token(text, token);
    return n > 0 ? token_object(start, token, n) : OBJNULL;
}

/* --- Modules ------------------------------------------------------------ */

/* Whether STREAM reads TEXT, all of it, and has not begun. */
static bool is_stream_of(cl_object stream, cl_object text)
{
    return ecl_t_of(stream) == t_stream &&
           stream->stream.mode == (int8_t)ecl_smm_sequence_input &&
           stream->stream.object1 == text && stream->stream.int0 == 0 &&
           (cl_index)stream->stream.int1 == text->base_string.fillp;
}

/* BLOCK is a module whose constants the library begins to read from STREAM. */
static void begin_module(cl_object block, cl_object stream)
{
    const cl_object *texts;

    module.block = block;
    module.stream = stream;
    module.left = 0;
    module.parts = PARTS;
    module.open = false;
    if (ecl_t_of(block) != t_codeblock)
        return;
    texts = block->cblock.data_text;
    if (!texts || !texts[0] || texts[1] ||
        ecl_t_of(texts[0]) != t_base_string || !is_stream_of(stream, texts[0]))
        return;
    module.text = (const char *)texts[0]->base_string.self;
    module.rest.at = module.text;
    module.rest.end = module.text + texts[0]->base_string.fillp;
    module.rest.depth = 0;
    module.left = block->cblock.data_size + block->cblock.temp_data_size;
}

/* Whether the next constant of a module is wanted, and STREAM has it. */
static bool is_wanted(cl_object stream)
{
    cl_object block;

    if (!block_variable) {
        block_variable = ecl_make_symbol("*CBLOCK*", "SI");
        labels_variable = ecl_make_symbol("*SHARP-EQ-CONTEXT*", "SI");
    }
    block = ecl_symbol_value(block_variable);
    if (block != module.block)
        begin_module(block, stream);
    return module.left > 0 && stream == module.stream;
}

/* --- Shared parts ------------------------------------------------------- */

/* Where a module has labels for shared parts, the library copies all constants
   when it has read the last one, with a hash table for each, to put the parts
   in the place of the references to them. But it has done that already, except
   for references from within the part itself. */

/* Whether X is one of the labels from LABELS up to END. */
static bool is_label(cl_object x, cl_object labels, cl_object end)
{
    for (; ECL_CONSP(labels) && labels != end; labels = cons_cdr(labels))
        if (cons_car(labels) == x)
            return true;
    return false;
}

static bool may_refer(cl_object x, cl_object labels, cl_object end,
                      unsigned deep);

/* What MAY_REFER says of X, which is no list. Constants that compiled C has are
   less aligned than objects that ECL makes. */
__attribute__((no_sanitize("alignment"))) static bool
atom_may_refer(cl_object x, cl_object labels, cl_object end, unsigned deep)
{
    cl_type type = ecl_t_of(x);

    if (type == t_array || type == t_complex || type == t_bclosure ||
        type == t_bytecodes)
        return true;
    if (type != t_vector || x->vector.elttype != (int8_t)ecl_aet_object)
        return false;
    for (cl_index i = 0; i < x->vector.fillp; i++)
        if (may_refer(x->vector.self.t[i], labels, end, deep + 1))
            return true;
    return false;
}

/* Whether X refers to one of the labels from LABELS up to END, or may: it has
   too many parts, is nested too DEEP, or is of an unusual kind. */
static bool may_refer(cl_object x, cl_object labels, cl_object end,
                      unsigned deep)
{
    if (deep == NESTING)
        return true;
    for (; ECL_CONSP(x); x = cons_cdr(x)) {
        if (module.parts == 0 || is_label(x, labels, end))
            return true;
        module.parts--;
        if (may_refer(cons_car(x), labels, end, deep + 1))
            return true;
    }
    return atom_may_refer(x, labels, end, deep);
}

/* Has the library read a constant from STREAM. */
static cl_object read_labelled(cl_object stream)
{
    cl_object before = ecl_symbol_value(labels_variable);
    cl_object object = library_read(stream);
    cl_object labels = ecl_symbol_value(labels_variable);

    // what refers to a label from within is where the label is
    if (labels != before && object != OBJNULL &&
        may_refer(object, labels, before, 0))
        module.open = true;
    return object;
}

/* After the last constant of the module. */
static void end_module(void)
{
    if (!module.open && ecl_symbol_value(labels_variable) != ECL_NIL)
        (void)cl_set(labels_variable, ECL_NIL); // as bound by the library
}

/* Has the library read the next constant of the module. */
static cl_object leave_to_library(cl_object stream)
{
    cl_fixnum at = module.rest.at - module.text;
    cl_object object;

    (void)ecl_file_position_set(stream, ecl_make_fixnum(at));
    active = false; // parts of it, too
    object = read_labelled(stream);
    active = true;
    module.rest.at = module.text + ecl_fixnum(ecl_file_position(stream));
    if (object != OBJNULL && wide < 0 && ECL_STRINGP(object))
        wide = !ECL_BASE_STRING_P(object);
    return object;
}

cl_object ecl_read_object(cl_object in)
{
    struct text before;
    cl_object object;

    if (!active || !is_wanted(in))
        return library_read(in);
    before = module.rest;
    module.left--;
    object = take_object(&module.rest);
    if (object == OBJNULL) {
        module.rest = before;
        object = leave_to_library(in);
    }
    if (module.left == 0)
        end_module();
    return object;
}
