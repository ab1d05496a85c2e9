#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs into an empty folder, uses what is installed, and uninstalls it:
#   tests/install/run.sh FOLDER
set -u
root=$1
passed=0
failed=0

# check WHAT COMMAND…: one test.
check()
{
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAIL $what"
        failed=$((failed + 1))
    fi
}

evaluates()
{
    version='"io.modelcontextprotocol/protocolVersion":"2026-07-28"'
    client='"io.modelcontextprotocol/clientCapabilities":{}'
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{' \
        '"name":"evaluate-lisp","arguments":{"code":"(* 6 7)"},' \
        "\"_meta\":{$version,$client}}}" |
        HOME=/nonexistent "$root/opt/bin/ecl-mcp" | grep -q '=> 42"'
}

is_empty()
{
    [ -z "$(find "$root" -type f)" ]
}

links_lead_somewhere()
{
    doc=$root/opt/share/doc/ecl-mcp
    for file in $(cd "$doc" && find . -name '*.md'); do
        for link in $(grep -o '](\(docs\|adr\)[^)]*)' "$doc/$file" |
            tr -d '])('); do
            [ -e "$doc/$(dirname "$file")/${link%%#*}" ] || {
                echo "$file: $link"
                return 1
            }
        done
    done
}

# The installed elisp finds the installed module and the installed server.
emacs_evaluates()
{
    HOME=/nonexistent emacs -Q --batch -L "$root/opt/share/emacs/site-lisp/ecl-mcp" \
        --eval "(progn (require 'ecl-mcp-client) (setq ecl-mcp-image-socket nil)
                  (ecl-mcp-module-ensure)
                  (princ (ecl-mcp-lisp-program)))" |
        grep -qxF "$root/opt/bin/ecl-mcp"
}

# The man page has each word of --help, in this order.
man_says_help()
{
    page=$root/opt/share/man/man1/ecl-mcp.1
    said=$(sed -n '/^\.SH SYNOPSIS/,/^\.SH FILES/p' "$page" |
        sed '/^\.\(SH\|TP\|PP\)/d; s/^\.B //; s/\\-/-/g; s/\\(ti/~/g; s/\\&//; s/\\e/\\/g' | xargs -d '\n')
    helped=$("$root/opt/bin/ecl-mcp" --help | sed 's/^Usage: //' | xargs -d '\n')
    [ -n "$said" ] && [ "$(echo $said)" = "$(echo $helped)" ] || {
        printf '%s\n' "$said" "$helped"
        return 1
    }
    ! command -v groff >/dev/null ||
        [ -z "$(groff -man -Tutf8 -wall "$page" 2>&1 >/dev/null)" ]
}

# completes WORDS…: what bash offers for the last of them, in a line.
completes()
{
    PATH="$root/opt/bin:$PATH" bash -c '
        . "$1"; shift
        compopt() { :; } # bash has it only while it completes
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _ecl_mcp "$1" "${@: -1}" "${@: -2:1}"
        echo "${COMPREPLY[*]}"' - \
        "$root/opt/share/bash-completion/completions/ecl-mcp" ecl-mcp "$@"
}

bash_completes()
{
    options=$("$root/opt/bin/ecl-mcp" --help | grep -o '^ .*--[a-z-]*  *' | wc -l)
    [ "$options" -gt 15 ] && [ "$(completes '' | wc -w)" = "$options" ] &&
        [ "$(completes --pro)" = '--protect' ] &&
        [ "$(completes -t se)" = 'session' ] &&
        [ "$(completes --tools = th)" = 'threads' ] &&
        [ "$(completes -t eval,se)" = 'eval,session' ] &&
        [ "$(completes --tools = eval,th,me)" = 'eval,th,measure' ] &&
        [ "$(completes -t eval, | wc -w)" = "$(completes -t '' | wc -w)" ] &&
        [ "$(completes --sandbox r)" = 'read-only' ] &&
        [ "$(completes -w tests/inst)" = 'tests/install' ] &&
        [ "$(completes --memory '')" = '' ]
}

# typed TEXT: the words of the command that bash makes of TEXT and a tab, each in
# angle brackets, in a folder with others whose names begin as sets of tools do. An
# interactive bash would take the terminal, so it gets none.
typed()
{
    mkdir -p "$root/typed/files" "$root/typed/a b"
    cat >"$root/typed/rc" <<EOF
. '$root/opt/share/bash-completion/completions/ecl-mcp'
ecl-mcp()
{
    if [ "\$*" = --help ]; then
        '$root/opt/bin/ecl-mcp' --help
    else
        printf '<%s>' "\$@"
        echo
    fi
}
EOF
    (cd "$root/typed" && printf '%s\t\nexit\n' "$1" |
        HOME=/nonexistent INPUTRC=/dev/null TERM=dumb PS1='' \
            setsid -w bash --noprofile --rcfile ./rc -i 2>/dev/null | grep '^<')
}

bash_completes_what_is_typed()
{
    [ "$(typed 'ecl-mcp -t fi')" = '<-t><files>' ] &&
        [ "$(typed 'ecl-mcp --tools=eval,fi')" = '<--tools=eval,files>' ] &&
        [ "$(typed 'ecl-mcp -w fi')" = '<-w><files/>' ] &&
        [ "$(typed 'ecl-mcp --policy=a')" = '<--policy=a b/>' ]
    found=$?
    rm -rf "$root/typed"
    return $found
}

# Each value that bash offers is one that the program takes, and in --help.
bash_completes_values()
{
    for option in --sandbox --native --log-level; do
        for value in $(completes $option ''); do
            "$root/opt/bin/ecl-mcp" $option "$value" --version >/dev/null &&
                "$root/opt/bin/ecl-mcp" --help | grep -e "$option" | grep -q -e "$value" ||
                return 1
        done
    done
}

# refuses_prefix PREFIX: a relative one would install into the clone.
refuses_prefix()
{
    for target in install uninstall; do
        said=$(make -s $target DESTDIR="$root" PREFIX="$1" 2>&1) && return 1
        case $said in
        *"PREFIX=$1 is not absolute; give the whole path, such as PREFIX=${HOME-}/.local"*) ;;
        *) return 1 ;;
        esac
    done
    is_empty && [ ! -e "$1" ]
}

# Nobody may write below a file, not even root.
refuses_file()
{
    : >"$root/file"
    said=$(make -s install DESTDIR="$root/file" PREFIX=/opt 2>&1) && return 1
    rm "$root/file"
    case $said in
    *"make install: $root/file is not a folder in which you may write; run it as root, or"*) ;;
    *) return 1 ;;
    esac
}

# deps_without PACKAGE: what scripts/deps.sh check says where only PACKAGE is missing,
# to somebody who is not root and has no sudo.
deps_without()
{
    rm -rf "$root" && mkdir -p "$root"
    for tool in sh sed cat; do
        ln -s "$(command -v $tool)" "$root/$tool"
    done
    for tool in node npm emacs; do
        ln -s "$(command -v true)" "$root/$tool"
    done
    printf '#!/bin/sh\necho 1000\n' >"$root/id"
    cat >"$root/dpkg-query" <<EOF
#!/bin/sh
shift 3
for package; do
    [ "\$package" = "$1" ] || echo "\$package installed"
done
EOF
    chmod +x "$root/id" "$root/dpkg-query"
    env PATH="$root" sh scripts/deps.sh check 2>&1
}

deps_skip()
{
    [ "$(deps_without slime)" = 'deps: tests that need slime are skipped' ]
}

deps_refuse()
{
    said=$(deps_without libgc-dev) && return 1
    [ "$said" = 'deps: not root and no sudo; as root run: apt-get install libgc-dev' ]
}

check 'packages that tests may lack are not asked for' deps_skip
check 'packages that are needed are named' deps_refuse
rm -rf "$root" && mkdir -p "$root"
check 'a relative PREFIX is refused' refuses_prefix build/relative
check 'a PREFIX with a ~ is refused' refuses_prefix '~/ecl-mcp'
check 'a folder without rights is named' refuses_file
check 'make install' make -s install DESTDIR="$root" PREFIX=/opt
check 'the installed server evaluates' evaluates
check 'the installed elisp finds what is installed' emacs_evaluates
check 'what is installed is protected against its own errors' \
    sh scripts/hardened.sh build/release/obj/image/main.o "$root/opt/bin/ecl-mcp" \
    "$root/opt/libexec/ecl-mcp/ecl-mcp-image" \
    "$root/opt/lib/ecl-mcp/ecl-mcp-module.so"
check 'links of the installed documents' links_lead_somewhere
check 'the man page says what --help says' man_says_help
check 'bash completes options and values' bash_completes
check 'bash completes what is typed' bash_completes_what_is_typed
check 'bash completes what the program takes' bash_completes_values
check 'make uninstall' make -s uninstall DESTDIR="$root" PREFIX=/opt
check 'nothing is left' is_empty
check 'make install below a folder with a blank' make -s install DESTDIR="$root" PREFIX='/my opt'
check 'make uninstall below a folder with a blank' make -s uninstall DESTDIR="$root" PREFIX='/my opt'
check 'nothing is left below a folder with a blank' is_empty
rm -rf "$root"
echo "install: $passed passed, $failed failed"
[ $failed -eq 0 ]
