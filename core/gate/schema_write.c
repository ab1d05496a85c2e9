/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema_write.c: writes a table of fields as the JSON schema that clients
   see. */
#include "base/limits.h"
#include "gate/schema.h"

static void write_field(struct jsonw *w, const struct schema_field *field)
{
    static const char *const types[] = {
        [SCHEMA_STRING] = "string", [SCHEMA_INTEGER] = "integer",
        [SCHEMA_NUMBER] = "number", [SCHEMA_BOOLEAN] = "boolean",
        [SCHEMA_CHOICE] = "string", [SCHEMA_NAME] = "string",
        [SCHEMA_PATH] = "string",   [SCHEMA_CODE] = "string",
        [SCHEMA_SIZE] = "string",   [SCHEMA_LIST] = "array",
    };

    jsonw_name(w, field->name);
    jsonw_object(w);
    jsonw_member(w, "type", str_from(types[field->kind]));
    if (field->kind == SCHEMA_CHOICE) {
        jsonw_name(w, "enum");
        jsonw_array(w);
        for (size_t i = 0; field->choices[i]; i++)
            jsonw_string(w, str_from(field->choices[i]));
        jsonw_end_array(w);
    }
    if (field->max != 0 && field->max < LIMIT_OUTPUT_KEPT &&
        field->kind != SCHEMA_SIZE) {
        // models know that an amount is not negative, unless it may be
        if (field->min > 1 || field->min < 0)
            jsonw_member_int(w, "minimum", field->min);
        jsonw_member_int(w, "maximum", field->max);
    }
    if (field->kind == SCHEMA_LIST) {
        jsonw_name(w, "items");
        schema_write(w, field->items);
    }
    // a boolean is false by default, a choice the first one
    if (field->fallback && field->kind != SCHEMA_BOOLEAN &&
        field->kind != SCHEMA_CHOICE) {
        jsonw_name(w, "default");
        jsonw_raw(w, str_from(field->fallback));
    }
    if (field->help)
        jsonw_member(w, "description", str_from(field->help));
    jsonw_end_object(w);
}

static void write_required(struct jsonw *w, const struct schema_field *fields)
{
    bool any = false;

    for (size_t i = 0; fields && fields[i].name; i++) {
        if (!fields[i].required)
            continue;
        if (!any) {
            jsonw_name(w, "required");
            jsonw_array(w);
        }
        any = true;
        jsonw_string(w, str_from(fields[i].name));
    }
    if (any)
        jsonw_end_array(w);
}

void schema_write(struct jsonw *w, const struct schema_field *fields)
{
    jsonw_object(w);
    jsonw_member(w, "type", STR("object"));
    jsonw_name(w, "properties");
    jsonw_object(w);
    for (size_t i = 0; fields && fields[i].name; i++)
        if (!fields[i].hidden)
            write_field(w, &fields[i]);
    jsonw_end_object(w);
    write_required(w, fields);
    jsonw_member_bool(w, "additionalProperties", false);
    jsonw_end_object(w);
}
