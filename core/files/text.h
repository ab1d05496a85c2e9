/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.h: the bytes of a file as text for a model, and back without changing
   what the model did not mean to change: coding and line ends. */
#ifndef FILES_TEXT_H
#define FILES_TEXT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

enum text_coding { TEXT_UTF8, TEXT_UTF8_BOM, TEXT_LATIN1 };

enum text_ends {
    TEXT_LF,   /* also a text without line ends */
    TEXT_CRLF, /* all of them; the text has line feeds only */
    TEXT_MIXED /* the text has them as they are */
};

struct text {
    struct str text; /* UTF-8 */
    enum text_coding coding;
    enum text_ends ends;
};

/* Finds the form of BYTES, those of a whole file; OUT->text is a view of them,
   without a byte order mark, as they are. What is not UTF-8 is read as Latin-1,
   in which all bytes are characters. ST_INVALID: BYTES contain a NUL, so they
   are not a text. Here and below, the steps are those of ARENA's strand. */
enum status MUST_CHECK text_detect(const struct arena *arena, struct str bytes,
                                   struct text *out);

/* *OUT is the text of BYTES, whole lines of a file that has FORM, in UTF-8 and
   without the carriage returns of CR LF. It lives in ARENA, or is a view. */
enum status MUST_CHECK text_convert(struct arena *arena,
                                    const struct text *form, struct str bytes,
                                    struct str *out);

/* Both. ST_LIMIT: the text would have more than MAX bytes. */
enum status MUST_CHECK text_decode(struct arena *arena, struct str bytes,
                                   size_t max, struct text *out);

/* Whether text_encode can do this: ST_INVALID as there. */
enum status MUST_CHECK text_check(struct arena *arena, const struct text *form,
                                  struct str text, struct str *problem);

/* *OUT is TEXT (UTF-8) in the coding and with the line ends of FORM.
   ST_INVALID: it has a character that the coding lacks; *PROBLEM names it and
   its line. */
enum status MUST_CHECK text_encode(struct arena *arena, const struct text *form,
                                   struct str text, struct str *out,
                                   struct str *problem);

/* *OUT is TEXT with the line ends of FORM->text: without the carriage returns
   of CR LF, which FORM adds again, or does not have. A text without line ends,
   or with several kinds, takes TEXT as it is. */
enum status MUST_CHECK text_normalize(struct arena *arena,
                                      const struct text *form, struct str text,
                                      struct str *out);

/* What is unusual about TEXT, as ", Latin-1, CR LF line ends"; else empty. */
struct str text_describe(struct arena *arena, const struct text *text);

#endif
