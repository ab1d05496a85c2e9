# SPDX-License-Identifier: GPL-3.0-or-later
# Rules for the Common Lisp of the image. Usage:
#   awk -f scripts/lisp-lint.awk lisp/*.lisp
# build.lisp runs at build time and is only held to the form.

function wrong(text)
{
    print FILENAME ":" FNR ": " text
    bad = 1
}

# LINE without its comment and the inside of its strings. Strings that go on in
# the next line are docstrings in all but name: INSIDE remembers them.
function code(line,    out, i, c)
{
    out = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (inside) {
            if (c == "\\")
                i++
            else if (c == "\"")
                inside = 0
        } else if (c == "\"") {
            inside = 1
        } else if (c == "#" && substr(line, i + 1, 1) == "\\") {
            i += 2
        } else if (c == ";") {
            break
        } else {
            out = out c
        }
    }
    return out
}

FNR == 1 {
    inside = 0
    file = FILENAME
    sub(/.*\//, "", file)
}

length($0) > 100 { wrong("longer than 100 columns") }

{
    text = tolower(code($0))
    if (file == "build.lisp")
        next
    if (file !~ /^(ecl|native)\.lisp$/ &&
        text ~ /(^|[^a-z0-9*+-])(si|ext|mp|ffi|c|gray|sys)::?[a-z*+%]/)
        wrong("ECL's own symbols belong into ecl.lisp or native.lisp")
    if (file != "evaluate.lisp" && text ~ /\((cl:)?eval /)
        wrong("only evaluate.lisp calls eval")
    if (text ~ /#[+-](sbcl|ccl|clisp|abcl|allegro|lispworks)/)
        wrong("this runs on ECL only")
    if (file !~ /^(ecl|native)\.lisp$/ && text ~ /\((cl:)?intern /)
        wrong("names from outside are found, not interned")
}

END { exit bad }
