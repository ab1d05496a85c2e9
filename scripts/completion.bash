# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of the options of ecl-mcp in bash; it reads them from --help.
_ecl_mcp()
{
    local program=$1 word=$2 option=$3 help choices='' before=''
    COMPREPLY=()
    # bash takes --tools=eval apart
    [ "$word" = = ] && word=''
    [ "$option" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]}
    help=$("${program/#\~/$HOME}" --help 2>/dev/null) || return 0
    case $option in
    -w | --workspace)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    --policy | --audit | --listen)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    -t | --tools)
        # the last of a list
        before=${word%"${word##*,}"}
        choices="all $(sed -n 's/^Tool sets: \([^.]*\)\..*/\1/p' <<<"$help" | tr -d ,)"
        ;;
    -l | --log-level) choices='error warn info debug' ;;
    --sandbox) choices='workspace read-only off' ;;
    --native) choices='on off now' ;;
    -m | --memory | --max-output | --max-message | --approval-timeout) ;;
    --allow | --deny | --secret | --protect) ;;
    *) choices=$(sed -n 's/^  *\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' <<<"$help") ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$choices" -- "${word#"$before"}")
}
complete -F _ecl_mcp ecl-mcp
