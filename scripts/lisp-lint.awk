# SPDX-License-Identifier: GPL-3.0-or-later
# Rules for the Common Lisp of the image. Usage:
#   awk -f scripts/lisp-lint.awk lisp/*.lisp
# build.lisp runs at build time; only its form is checked.

function wrong(text)
{
    print FILENAME ":" FNR ": " text
    bad = 1
}

# LINE without its comment and the inside of its strings. INSIDE remembers a
# string, mostly a docstring, that continues in the next line.
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
    # Names of ECL's are data in some tables; calls and specials are not.
    if (file !~ /^(ecl|native)(-[a-z]+)?\.lisp$/ &&
        text ~ /(\(|#')(si|ext|mp|ffi|c|gray|sys)::?[a-z%]|(si|ext|mp|ffi|gray|sys)::?[*+]/)
        wrong("ECL's own functions are called in ecl*.lisp or native*.lisp")
    if (file != "evaluate.lisp" && text ~ /\((cl:)?eval /)
        wrong("only evaluate.lisp calls eval")
    if (text ~ /#[+-](sbcl|ccl|clisp|abcl|allegro|lispworks)/)
        wrong("this runs on ECL only")
    if (file !~ /^(ecl|native)(-[a-z]+)?\.lisp$/ && text ~ /\((cl:)?intern /)
        wrong("names from outside are found, not interned")
    # A record that comes after a new class makes each start longer.
    if (file !~ /^(conditions|specials|ecl|ecl-input)\.lisp$/ &&
        text ~ /^\((defclass|define-condition|define-lean-condition|defstruct) /)
        wrong("classes are made in conditions.lisp, ecl.lisp or ecl-input.lisp; use define-record")
}

END { exit bad }
