/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.c: see format.h. ECL reads the control string at each call of FORMAT,
   makes a string stream for the text, and asks for all variables of the printer
   at each directive. This definition of CL_FORMAT takes the place of the one in
   the library, which has it as the function of the symbol, and so do libraries
   of compiled code. It makes the whole text at once where that is known to be
   the text of the library: for directives without modifiers, strings, symbols,
   characters and fixnums, while the variables that matter have their usual
   values, into a new string or to a stream of ECL's own. Nothing has happened
   yet when anything is otherwise: the library's function does it all then, and
   signals the errors. */
#include "image/format.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <ecl/ecl.h>

#include "image/conses.h"
#include "image/format_text.h"
#include "image/writing.h"

enum {
    LENGTH = 2000, /* of a text for a stream, which is made on the C stack */
    WIDTH = 999,   /* of a column */
    ENTRIES = 8 /* of the table of pretty printers, but for those of conses */
};

/* Parts of the control string that are left, and the arguments that are. */
struct control {
    const void *from;
    cl_index at;
    cl_index end;
    cl_object *arguments;
    cl_narg left;
    unsigned char size;
};

/* A call: its thread, and the stream, or NULL. */
struct place {
    cl_env_ptr env;
    cl_object stream;
};

/* A directive and its parameters. */
struct directive {
    ecl_character name;
    ecl_character pad;
    cl_index number;
    bool has_number;
    bool has_pad;
};

static cl_object (*library_format)(cl_narg narg, cl_object destination,
                                   cl_object control, ...);

/* What is known about the printer. */
static struct {
    cl_object output; /* *STANDARD-OUTPUT* */
    cl_object base;   /* and other variables of the printer */
    cl_object radix;
    cl_object circle;
    cl_object letters;
    cl_object pretty;
    cl_object dispatch;
    cl_object readtable;
    cl_object upcase;
    cl_object interpreter; /* the symbol of FORMAT's own part in Lisp */
    cl_object function;    /* and its function */
    cl_object table;       /* the class of tables of pretty printers */
    cl_object entries[ENTRIES];
    int count;
    bool ready;
} printer;

__attribute__((constructor)) static void find_original(void)
{
    void *found = dlsym(RTLD_NEXT, "cl_format");

    memcpy(&library_format, &found, sizeof found);
}

/* --- What is known ------------------------------------------------------ */

enum { TABLE_ENTRIES = 1 }; /* the slot of a table with the list of entries */

/* Notes the entries of the table of pretty printers, none of which is for
   symbols, characters or numbers; the one for arrays prints strings as they
   are. */
static void note_entries(void)
{
    cl_object table = ecl_symbol_value(printer.dispatch);
    cl_object list;

    if (!ECL_INSTANCEP(table) || table->instance.length <= TABLE_ENTRIES)
        return;
    list = table->instance.slots[TABLE_ENTRIES];
    for (; ECL_CONSP(list) && printer.count < ENTRIES; list = cons_cdr(list))
        printer.entries[printer.count++] = cons_car(list);
    if (list == ECL_NIL)
        printer.table = ECL_CLASS_OF(table);
}

void format_begin(void)
{
    printer.output = ecl_make_symbol("*STANDARD-OUTPUT*", "COMMON-LISP");
    printer.base = ecl_make_symbol("*PRINT-BASE*", "COMMON-LISP");
    printer.radix = ecl_make_symbol("*PRINT-RADIX*", "COMMON-LISP");
    printer.circle = ecl_make_symbol("*PRINT-CIRCLE*", "COMMON-LISP");
    printer.letters = ecl_make_symbol("*PRINT-CASE*", "COMMON-LISP");
    printer.pretty = ecl_make_symbol("*PRINT-PRETTY*", "COMMON-LISP");
    printer.dispatch =
        ecl_make_symbol("*PRINT-PPRINT-DISPATCH*", "COMMON-LISP");
    printer.readtable = ecl_make_symbol("*READTABLE*", "COMMON-LISP");
    printer.upcase = ecl_make_keyword("UPCASE");
    printer.interpreter = ecl_make_symbol("FORMATTER-AUX", "SI");
    if (cl_fboundp(printer.interpreter) == ECL_NIL)
        return;
    printer.function = ECL_SYM_FUN(printer.interpreter);
    note_entries();
    printer.ready = library_format != NULL;
}

/* Whether pretty printing is off or knows no more than at the start. */
static bool is_plain(cl_env_ptr env)
{
    cl_object pretty = ECL_SYM_VAL(env, printer.pretty);
    cl_object table;
    cl_object list;
    int i = 0;

    if (!pretty || ECL_SYM_VAL(env, printer.circle) != ECL_NIL)
        return false;
    if (pretty == ECL_NIL)
        return true;
    table = ECL_SYM_VAL(env, printer.dispatch);
    if (!table || !printer.table || !ECL_INSTANCEP(table) ||
        ECL_CLASS_OF(table) != printer.table)
        return false;
    list = table->instance.slots[TABLE_ENTRIES];
    for (; ECL_CONSP(list) && i < printer.count; list = cons_cdr(list))
        if (cons_car(list) != printer.entries[i++])
            return false;
    return list == ECL_NIL && i == printer.count;
}

static bool prints_decimals(cl_env_ptr env)
{
    return ECL_SYM_VAL(env, printer.base) == ecl_make_fixnum(10) &&
           ECL_SYM_VAL(env, printer.radix) == ECL_NIL;
}

/* Whether the names of symbols are printed as they are. */
static bool prints_names(cl_env_ptr env)
{
    cl_object readtable = ECL_SYM_VAL(env, printer.readtable);

    return ECL_SYM_VAL(env, printer.letters) == printer.upcase && readtable &&
           ecl_t_of(readtable) == t_readtable &&
           readtable->readtable.read_case == ecl_case_upcase;
}

/* --- Directives --------------------------------------------------------- */

/* What PRINC prints, or PRIN1 if it is READABLE. */
static bool add_printed(struct format_text *text, const struct place *place,
                        cl_object x, bool readable)
{

    cl_env_ptr env = place->env;

    if (!is_plain(env))
        return false;
    if (ECL_FIXNUMP(x))
        return prints_decimals(env) &&
               format_add_fixnum(text, ecl_fixnum(x), 10, 0, ' ');
    if (format_is_string(x))
        return readable ? format_add_quoted(text, x)
                        : format_add_string(text, x);
    if (readable)
        return false;
    if (ECL_CHARACTERP(x))
        return format_add_fill(text, (ecl_character)ECL_CHAR_CODE(x), 1);
    if (ECL_SYMBOLP(x))
        return prints_names(env) &&
               (x == ECL_NIL ? format_add_piece(text, "NIL", 1, 3)
                             : format_add_string(text, x->symbol.name));
    return false;
}

/* ~A and ~S; the text of a column comes before what fills it, and is not
   flushed. */
static bool add_object(struct format_text *text, const struct place *place,
                       cl_object x, const struct directive *d)
{
    cl_index before = text->length;
    bool readable = d->name == 'S';
    cl_index length;

    if (d->has_pad || !add_printed(text, place, x, readable))
        return false;
    if (!d->has_number)
        return !readable || format_add_flush(text);
    length = text->length - before;
    return d->number <= length ||
           format_add_fill(text, ' ', d->number - length);
}

/* ~D and other bases. */
static bool add_integer(struct format_text *text, const struct place *place,
                        cl_object x, const struct directive *d)
{
    unsigned base = d->name == 'D'   ? 10
                    : d->name == 'X' ? 16
                    : d->name == 'O' ? 8
                                     : 2;

    if (!ECL_FIXNUMP(x) || !is_plain(place->env) ||
        !format_add_fixnum(text, ecl_fixnum(x), base, d->number, d->pad))
        return false;
    return d->has_number || d->has_pad || format_add_flush(text);
}

/* ~&. */
static bool add_fresh_line(struct format_text *text, const struct place *place)
{
    bool fresh = text->length > 0 ? text->last == '\n'
                 : place->stream  ? ecl_file_column(place->stream) == 0
                                  : true;

    return fresh || (format_add_fill(text, '\n', 1) && format_add_flush(text));
}

static bool next_argument(struct control *control, cl_object *x)
{
    if (control->left == 0)
        return false;
    control->left--;
    *x = *control->arguments++;
    return true;
}

static bool add_directive(struct format_text *text, const struct place *place,
                          struct control *control, const struct directive *d)
{
    cl_index times = d->has_number ? d->number : 1;
    cl_object x;

    switch (d->name) {
    case 'A':
    case 'S':
        return next_argument(control, &x) && add_object(text, place, x, d);
    case 'D':
    case 'B':
    case 'O':
    case 'X':
        return next_argument(control, &x) && add_integer(text, place, x, d);
    case 'C':
        return !d->has_number && !d->has_pad && next_argument(control, &x) &&
               ECL_CHARACTERP(x) &&
               format_add_fill(text, (ecl_character)ECL_CHAR_CODE(x), 1);
    case '%':
        return !d->has_pad && format_add_fill(text, '\n', times) &&
               (times == 0 || format_add_flush(text));
    case '~':
    case '|':
        return !d->has_pad &&
               format_add_fill(text, d->name == '~' ? '~' : '\f', times);
    case '&':
        return !d->has_number && !d->has_pad && add_fresh_line(text, place);
    default:
        return false;
    }
}

/* --- The control string ------------------------------------------------- */

static ecl_character next_character(struct control *control)
{
    return control->at == control->end
               ? 0
               : format_character(control->from, control->size, control->at++);
}

/* Reads what follows a tilde: a number, a comma and a character to pad with,
   and the name, all but the last optional. */
static bool read_directive(struct control *control, struct directive *d)
{
    ecl_character c = next_character(control);

    *d = (struct directive){.pad = ' '};
    for (; c >= '0' && c <= '9'; c = next_character(control)) {
        d->has_number = true;
        d->number = 10 * d->number + (cl_index)(c - '0');
        if (d->number > WIDTH)
            return false;
    }
    if (c == ',' && d->has_number) {
        if (next_character(control) != '\'' || control->at == control->end)
            return false;
        d->has_pad = true;
        d->pad = next_character(control);
        c = next_character(control);
    }
    d->name = c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
    return true;
}

/* The next tilde in the control string, or its end. */
static cl_index find_tilde(const struct control *control)
{
    cl_index at = control->at;

    if (control->size == 1) {
        const char *from = control->from;
        const char *found = memchr(from + at, '~', control->end - at);

        return found ? (cl_index)(found - from) : control->end;
    }
    while (at < control->end &&
           format_character(control->from, control->size, at) != '~')
        at++;
    return at;
}

/* False when the text is not known. */
static bool make_text(struct format_text *text, const struct place *place,
                      struct control *control)
{
    struct directive d;

    while (control->at < control->end) {
        cl_index tilde = find_tilde(control);

        if (!format_add_piece(
                text, (const char *)control->from + control->at * control->size,
                control->size, tilde - control->at))
            return false;
        control->at = tilde;
        if (tilde == control->end)
            return true;
        control->at++;
        if (!read_directive(control, &d) ||
            !add_directive(text, place, control, &d))
            return false;
    }
    return true;
}

/* --- Where the text goes ------------------------------------------------ */

/* Whether STREAM appends to a string that TEXT is made of: what is printed of
   that is more with each directive. */
static bool is_own_text(const struct format_text *text, cl_object stream)
{
    cl_object string;
    cl_index size;

    if (stream->stream.mode != ecl_smm_string_output)
        return false;
    string = stream->stream.object0;
    if (!string || !format_is_string(string))
        return true; // what it is made of is not known
    size = ecl_t_of(string) == t_base_string ? 1 : sizeof(ecl_character);
    return format_is_made_of(text, string->base_string.self,
                             string->base_string.dim * size);
}

/* Writes the text as the library does: what it has flushed is flushed. False
   when it does not fit, or the stream may not be able to take it. */
static bool write_text(const struct format_text *text, cl_object stream)
{
    ecl_character characters[LENGTH];
    struct ecl_string string = {.t = t_string,
                                .elttype = ecl_aet_ch,
                                .displaced = ECL_NIL,
                                .dim = text->length,
                                .fillp = text->length,
                                .self = characters};
    cl_object object = (cl_object)&string;
    cl_object start = ecl_make_fixnum(0);

    if (text->length > LENGTH || is_own_text(text, stream))
        return false;
    if (format_copy(text, characters) >= 128 &&
        stream->stream.mode != ecl_smm_string_output &&
        (stream->stream.flags & ECL_STREAM_FORMAT) != ECL_STREAM_UTF_8)
        return false;
    if (text->flushes) {
        si_do_write_sequence(object, stream, start,
                             ecl_make_fixnum(text->flushed));
        ecl_force_output(stream);
        start = ecl_make_fixnum(text->flushed);
    }
    si_do_write_sequence(object, stream, start, ecl_make_fixnum(text->length));
    return true;
}

/* The value of the call, or NULL when nothing has been done. */
static cl_object format_quickly(cl_object destination, cl_object string,
                                cl_object *arguments, cl_narg count)
{
    struct place place = {ecl_process_env(), NULL};
    struct control control = {.arguments = arguments, .left = count};
    struct format_text text;
    cl_object made;

    format_begin_text(&text);
    if (!format_is_string(string))
        return NULL;
    if (destination != ECL_NIL) {
        if (destination == ECL_T)
            destination = ECL_SYM_VAL(place.env, printer.output);
        place.stream = writing_final_stream(place.env, destination);
        if (!place.stream)
            return NULL;
    }
    control.size =
        ecl_t_of(string) == t_base_string ? 1 : sizeof(ecl_character);
    control.from = control.size == 1 ? (void *)string->base_string.self
                                     : (void *)string->string.self;
    control.end = string->base_string.fillp;
    if (!make_text(&text, &place, &control))
        return NULL;
    if (place.stream)
        return write_text(&text, place.stream) ? ECL_NIL : NULL;
    made = ecl_alloc_simple_vector(text.length, ecl_aet_ch);
    format_copy(&text, made->string.self);
    return made;
}

cl_object cl_format(cl_narg narg, cl_object stream, cl_object string, ...)
{
    cl_object all[ECL_C_ARGUMENTS_LIMIT];
    cl_object value;
    va_list list;

    if (narg < 2 || narg > ECL_C_ARGUMENTS_LIMIT) // the others: Lisp's stack
        return library_format(narg, stream, string);
    all[0] = stream;
    all[1] = string;
    va_start(list, string);
    for (cl_narg i = 2; i < narg; i++)
        all[i] = va_arg(list, cl_object);
    va_end(list);
    value =
        printer.ready && ECL_SYM_FUN(printer.interpreter) == printer.function
            ? format_quickly(stream, string, all + 2, narg - 2)
            : NULL;
    if (!value)
        return APPLY(narg, (cl_objectfn)library_format, all);
    ecl_return1(ecl_process_env(), value);
}
