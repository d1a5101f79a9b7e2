# shellcheck shell=sh
# shellcheck disable=SC1090,SC1091 # what it sources is written by other tools
# shellcheck disable=SC2329 # helpers are called through eval
# shellcheck disable=SC2030,SC2031 # what a subshell tries out is not meant to last
# activate.sh - activate this project in the current shell. Source it, do not run it:
#
#     . ./activate.sh
#
# substrax shell template 0.2.0, environment file format 1. `deactivate` gives everything back.
# For bash 3.2 and newer, zsh, dash, busybox ash, ksh93u+m and mksh; yash and posh where .venv lets them.

# A shell that cannot read this file shows this line with its error: fish and csh have scripts of their own.
_substrax_fish_and_csh='see .venv/bin/activate.fish and .venv/bin/activate.csh'

# >>> settings: this repository's own; an upgrade of the template keeps this block >>>
# What the project's variables begin with, the environment file in the project's root, and where that root is, seen
# from this file: . when it lies in the root. setup.sh has to say the same.
_substrax_prefix=SUBSTRAX
_substrax_env_file=.substrax.env
_substrax_root_from_here=..
# <<< settings <<<

# House rules, each bought with a measured failure:
#   * no command fails untested: under the caller's `set -e`, dash, busybox ash, mksh and bash 3.2 leave the caller
#     even from `. ./activate.sh || ...`;
#   * no word splitting, no cd and no globbing (but of numbers, once) in this shell: IFS, `set -f`, CDPATH and a cd
#     function cannot matter;
#   * functions keep scratch values in $1 $2 ...: ksh93 has no `local`, and so nothing leaks;
#   * \echo and \printf, since people have aliases at their prompts, and `command` is not for builtins in zsh;
#   * what one shell cannot parse is hidden in `eval`, and all is ASCII: yash refuses other bytes under LC_ALL=C;
#   * nothing changes before everything that can be checked has been checked;
#   * a process costs more than all the rest: at most six are started, and in bash one besides the two of .venv's script.

# ---- helpers; they are gone afterwards, but for _substrax_put_back, which deactivate needs and then removes ------

# Usage: _substrax_keep_names "NAME NAME ..."
#
# Sets _substrax_rest to the names of the variables in that list which this file may touch, _substrax_marks to
# assignments that mark each, and _substrax_values to what expands to the values of all. The list comes from the
# environment: one with anything but names in it is nobody's. The letters are spelled out, since ranges take accented
# ones in some locales.
_substrax_keep_names() {
    _substrax_rest='' _substrax_marks='' _substrax_values=''
    case $1 in
        *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_\ ]*) return ;;
    esac
    # The parser splits here, whatever IFS is, and in zsh too.
    eval "set -- $1"
    while [ "$#" -gt 0 ]; do
        case $1 in
            # Most of them: the list below is slow to go through.
            JAX_* | XLA_*) ;;
            PATH | HOME | PWD | OLDPWD | IFS | SHELL | USER | LOGNAME | TERM | ENV | CDPATH | FPATH | OPTIND | OPTARG | \
                PPID | UID | EUID | GID | EGID | LINENO | RANDOM | SECONDS | SHELLOPTS | GLOBIGNORE | PROMPT | \
                PROMPT_COMMAND | RPROMPT | RPS1 | PS[01234] | LD_PRELOAD | LD_AUDIT | VIRTUAL_ENV | VIRTUAL_ENV_PROMPT | \
                PYTHONHOME | USERNAME | TMOUT | POSIXLY_CORRECT | GROUPS | DIRSTACK | PIPESTATUS | FUNCNEST | HISTCHARS | \
                EDITOR | VISUAL | path | cdpath | fpath | manpath | argv | status | pipestatus | prompt | commands | \
                functions | aliases | options | history | signals | \
                [0123456789]* | _* | BASH* | ZSH* | KSH* | DYLD_INSERT*)
                shift
                continue
                ;;
        esac
        _substrax_rest="$_substrax_rest $1"
        _substrax_marks="$_substrax_marks $1=_substrax_unwritten"
        _substrax_values="$_substrax_values|\${$1-}"
        shift
    done
}
# Usage, as of what follows: eval "_substrax_put_back $names", which splits names that have been kept.
#
# Gives each variable its value from before the activation; one that was only a variable of the shell stays so.
_substrax_put_back() {
    while [ "$#" -gt 0 ]; do
        # With -v, since bash without it takes a function of that name when there is no variable.
        unset -v "$1"
        if eval "[ -n \"\${_SUBSTRAX_OLD_$1+set}\" ]"; then
            eval "$1=\$_SUBSTRAX_OLD_$1"
            unset -v "_SUBSTRAX_OLD_$1"
            # shellcheck disable=SC2163 # the variable that $1 names is meant
            case " ${_SUBSTRAX_EXPORTED-} " in *" $1 "*) export "$1" ;; esac
        fi
        shift
    done
}
# Collects text that, expanded, gives the commands which save what is set, and the names to save it under. They are used
# outside of functions, where zsh does not warn that they make global variables.
_substrax_save() {
    _substrax_rest='' _substrax_values=''
    while [ "$#" -gt 0 ]; do
        _substrax_rest="$_substrax_rest\${$1+ _SUBSTRAX_OLD_$1=\\\$$1}"
        _substrax_values="$_substrax_values _SUBSTRAX_OLD_$1"
        shift
    done
}

# Usage: _substrax_without_cuda LD_LIBRARY_PATH
#
# The libraries of the CUDA wheels lose to those of any directory in that list. A directory is taken out if a part of its
# path is named cuda or cudnn, alone or with a version, or math_libs in hpc_sdk; and an empty one, which is the current
# directory to the loader. .venv's own stay, and compat of a CUDA, which has the driver's library and none of the wheels'.
_substrax_without_cuda() {
    _substrax_kept='' _substrax_taken=''
    # The dot marks the end: posh cannot shorten a word to nothing.
    set -- "$1:."
    while [ "$1" != . ]; do
        set -- "${1#*[:;]}" "${1%%[:;]*}"
        case /$2/ in
            //) _substrax_taken="$_substrax_taken (empty)" ;;
            "/$_substrax_venv/"* | */[Cc][Uu][Dd][Aa]*/compat/*) _substrax_kept=$_substrax_kept:$2 ;;
            */[Cc][Uu][Dd][Aa]/* | */[Cc][Uu][Dd][Aa][0123456789]* | */[Cc][Uu][Dd][Aa][-_.][0123456789]* | \
                */[Cc][Uu][Dd][Nn][Nn]/* | */[Cc][Uu][Dd][Nn][Nn][0123456789]* | */[Cc][Uu][Dd][Nn][Nn][-_.][0123456789]* | \
                */[Cc][Uu][Dd][Nn][Nn]-linux* | */hpc_sdk/*/math_libs/*)
                _substrax_taken="$_substrax_taken $2"
                ;;
            *) _substrax_kept=$_substrax_kept:$2 ;;
        esac
    done
    _substrax_kept=${_substrax_kept#:}
}

# The trial run, in a subshell: a damaged file or a readonly variable ends that, not the user's shell. It answers, line
# by line, with the names to save (or one word that says what is wrong), the user's files as it comes to them, the names
# that those assign to, and `checked` at the end. What the caller's traps and traces print may stand in between, and is
# nobody's answer.
_substrax_trial() {
    # shellcheck disable=SC3047
    case ${BASH_VERSION-}${ZSH_VERSION-} in '') ;; *) trap - DEBUG ;; esac
    set +x
    {
        _substrax_rest=$PATH
        unset -v PATH VIRTUAL_ENV VIRTUAL_ENV_PROMPT PS1 _OLD_VIRTUAL_PATH _OLD_VIRTUAL_PS1 "$_substrax_manifest" || exit 1
        PATH=$_substrax_rest
        # As in the activation itself: what an earlier one has replaced comes back first.
        if [ -n "${_SUBSTRAX_SAVED-}$_substrax_listed" ]; then
            _substrax_keep_names "${_SUBSTRAX_SAVED-}"
            eval "unset -v $_substrax_manifest $_substrax_rest" || exit 1
            eval "_substrax_put_back $_substrax_rest"
            _substrax_keep_names "$_substrax_listed"
            eval "unset -v $_substrax_manifest $_substrax_rest" || exit 1
        fi
        . "$_substrax_file" || exit 1
        # A file that was cut off at the end of a line shows by the variables of its list that keep a mark.
        eval "_substrax_listed=\${$_substrax_manifest-}"
        _substrax_keep_names "$_substrax_listed"
        [ -n "$_substrax_listed" ] && [ "$_substrax_rest" = " $_substrax_listed" ] || exit 1
        eval "unset -v $_substrax_listed" || exit 1
        eval "$_substrax_marks"
        . "$_substrax_file" || exit 1
        eval "_substrax_rest=\"$_substrax_values|\""
        case $_substrax_rest in *'|_substrax_unwritten|'*) exit 1 ;; esac
        eval "_substrax_rest=\${${_substrax_prefix}_BACKEND-}"
        case "$_substrax_rest $_substrax_listed " in
            *' LD_LIBRARY_PATH '*) ;;
            cuda*)
                _substrax_without_cuda "${LD_LIBRARY_PATH-.}"
                if [ -n "$_substrax_taken" ]; then
                    unset -v LD_LIBRARY_PATH || exit 1
                    _substrax_listed="$_substrax_listed LD_LIBRARY_PATH"
                fi
                ;;
        esac
        eval "_substrax_rest=\${${_substrax_prefix}_ENV_ROOT-}"
        if [ "$_substrax_rest" != "$_substrax_root" ] && ! [ "$_substrax_rest" -ef "$_substrax_root" ]; then
            _substrax_listed=moved
        fi
        # The path of .venv is written into its script. Where the text was not to be had, or spells it in another way,
        # the script itself says which directory it would activate; posh, which has no -ef, compares the names.
        case $_substrax_script in
            *"VIRTUAL_ENV='$_substrax_venv'"* | *"VIRTUAL_ENV=\"$_substrax_venv\""* | *"VIRTUAL_ENV=$_substrax_venv$_substrax_newline"*) ;;
            *)
                # In the place of a process that it would start.
                unalias basename || :
                eval 'basename() { :; }'
                OSTYPE=${OSTYPE-}
                . "$_substrax_venv/bin/activate" || :
                if [ "$VIRTUAL_ENV" != "$_substrax_venv" ] && ! [ "$VIRTUAL_ENV" -ef "$_substrax_venv" ]; then
                    _substrax_listed=copied
                fi
                ;;
        esac
    } >/dev/null
    \echo "names: $_substrax_listed"
    _substrax_assigned='' _substrax_more=''
    # Whether patterns have classes of characters, as in all shells but posh.
    # shellcheck disable=SC2194
    case a in [[:alpha:]]) _substrax_classes=yes ;; *) _substrax_classes=no ;; esac
    for _substrax_rest in .env .env.local; do
        if [ -f "$_substrax_root/$_substrax_rest" ]; then
            if [ ! -r "$_substrax_root/$_substrax_rest" ]; then
                \echo "$_substrax_rest cannot be read; give yourself the right to read it, or remove it"
                exit 1
            fi
            \echo "$_substrax_rest"
            _substrax_read_user_file "$_substrax_root/$_substrax_rest" || exit 1
        elif [ -p "$_substrax_root/$_substrax_rest" ] ||
            { [ -h "$_substrax_root/$_substrax_rest" ] && [ ! -e "$_substrax_root/$_substrax_rest" ]; }; then
            # A pipe gives its text once, and this would take it.
            \echo "$_substrax_rest is a pipe, or a link to what is not there; put a file in its place, or remove it"
            exit 1
        fi
    done
    if [ -n "$_substrax_assigned" ]; then
        _substrax_keep_names "$_substrax_assigned"
        eval "_substrax_add $_substrax_rest"
        # The answer, if the next line is the end of this subshell.
        \echo '.env or .env.local sets a variable that is readonly here; use a new shell'
        eval "unset -v _substrax_assigned $_substrax_more" || exit 1
    fi
    \echo "more:$_substrax_more"
    \echo checked
    # bash has traps for return too. ksh93 would keep this function, as one that has not ended.
    if [ -n "${BASH_VERSION-}" ]; then exit 0; fi
}

_substrax_add() {
    while [ "$#" -gt 0 ]; do
        case " $_substrax_listed $_substrax_manifest$_substrax_more " in
            *" $1 "*) ;;
            *) _substrax_more="$_substrax_more $1" ;;
        esac
        shift
    done
}

# Usage: _substrax_read_user_file FILE
#
# Fails where sh cannot parse FILE, or says in which line it would not read what docker, python-dotenv and uv do.
_substrax_read_user_file() {
    _substrax_text='' _substrax_number=0 _substrax_open='' _substrax_part=''
    while IFS='' read -r _substrax_line || [ -n "$_substrax_line" ]; do
        _substrax_number=$((_substrax_number + 1))
        _substrax_text=$_substrax_text$_substrax_line$_substrax_newline
        _substrax_judge "$_substrax_line"
        if [ -n "$_substrax_problem" ]; then
            \echo "$_substrax_rest, line $_substrax_number: $_substrax_problem"
            return 1
        fi
    done <"$1"
    # Parsed as the body of a function that nobody calls. zsh's short forms of loops would take the end of that
    # function for the missing end of theirs.
    if [ -n "${ZSH_VERSION-}" ]; then unsetopt short_loops; fi
    eval "_substrax_parse() { :
$_substrax_text}"
}

# Usage: _substrax_judge LINE
#
# Sets _substrax_problem to what is wrong with LINE, if that is an assignment of which sh would make something else than
# the other readers; and _substrax_open to the quote of a value that goes on in the next line.
_substrax_judge() {
    _substrax_problem=''
    case $_substrax_classes$1 in
        yes*[[:blank:]]) ;;
        yes*[[:cntrl:]])
            _substrax_problem='it ends in a carriage return, or another control character, which sh keeps; save the file with LF line ends'
            return
            ;;
    esac
    if [ -n "$_substrax_open" ]; then
        if [ "$_substrax_open" = '"' ]; then _substrax_without_escapes "$1" && set -- "$_substrax_part"; fi
        case $1 in *"$_substrax_open"*) _substrax_open='' ;; esac
        return
    fi
    while :; do
        case $1 in
            [[:blank:]]?* | ' '?*) set -- "${1#?}" ;;
            export[[:blank:]]?* | 'export '?*) set -- "${1#export?}" ;;
            *=*) break ;;
            *) return ;;
        esac
    done
    set -- "${1%%=*}" "${1#*=}"
    case $1 in
        # The words of a command, or an operator of some shell's.
        *[]\[\(\)\{\}\'\"\`\$\\\#+/~*?!@%^,:\;\&\|\<\>]*) return ;;
        # A byte order mark, to begin with.
        '' | [!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-]*) ;;
        *' '*[!\ ]*) return ;;
        *' ')
            case $2 in '='*) return ;; esac
            _substrax_problem="sh would run '${1%% *}'; write ${1%% *}=... without a blank before the equals sign"
            return
            ;;
        UID | EUID | GID | EGID | USERNAME | PPID | LINENO | status)
            _substrax_problem="$1 is a variable of the shell itself, which cannot be set, or changes who you are; rename it"
            return
            ;;
        [0123456789]* | *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_]*) ;;
        *)
            _substrax_assigned="$_substrax_assigned $1"
            _substrax_judge_value "$1" "$2"
            return
            ;;
    esac
    _substrax_problem="'$1' is no name of a variable, so sh would run the line; rename it"
}

# Usage: _substrax_judge_value NAME VALUE
_substrax_judge_value() {
    # $2 becomes the value up to a blank, $3 the quote that it is in, and $4 what follows it. posh cannot shorten a word to
    # nothing, and takes no quote from a variable in a pattern.
    case $2 in
        # Shell on purpose, since no other reader runs a command.
        *\$\(* | *\`*) return ;;
        \"*)
            _substrax_without_escapes "${2#?}"
            case $_substrax_part in
                *\"*) set -- "$1" '' '"' "${_substrax_part#*\"}" ;;
                *) _substrax_open='"' && return ;;
            esac
            ;;
        \'*\'*) set -- "$1" '' "'" "${2#\'*\'}" ;;
        \'*) _substrax_open="'" && return ;;
        *' '*) set -- "$1" "${2%% *}" '' "${2#*' '} " ;;
        *) set -- "$1" "$2" '' '' ;;
    esac
    # What stands next to a quote is sh's.
    case $3:$4 in :* | ?:' '*) ;; *) return ;; esac
    while :; do
        case $4 in ' '?*) set -- "$1" "$2" "$3" "${4#?}" ;; *) break ;; esac
    done
    case $_substrax_classes$2 in
        *[\'\"\\\(]* | *[\;\&\|\<\>][!\;]* | *[\&\|\<\>] | yes*[[:blank:]][!\#[:blank:]]*) ;;
        *\;) return ;;
        *)
            case $3:$4 in
                *: | *:' ' | *:'#'* | *:[\;\)]* | *:'&&'* | *:'||'*) return ;;
                [\'\"]:[ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_]*=*) return ;;
            esac
            ;;
    esac
    # In the quotes that the value does not hold itself.
    case $2$4 in *\'*) set -- "$1" '"..."' ;; *) set -- "$1" "'...'" ;; esac
    _substrax_problem="the value of $1 has a blank, a quote, a backslash or one of ( ; & | < > that is not within quotes, so sh would not take all of it; write $1=$2"
}
# Sets _substrax_part to TEXT without each backslash and what it escapes.
_substrax_without_escapes() {
    _substrax_part=$1
    while :; do
        case $_substrax_part in
            *\\?*) _substrax_part=${_substrax_part%%\\*}${_substrax_part#*\\?} ;;
            *) break ;;
        esac
    done
}

# ---- 1. is this file sourced, and where is it? -------------------------------------------------------------------

_substrax_error=
_substrax_self=
_substrax_newline='
'
if [ -n "${BASH_VERSION-}" ]; then
    # shellcheck disable=SC3028,SC3054 # bash alone comes here
    _substrax_self=${BASH_SOURCE-}
    if [ "$_substrax_self" = "$0" ]; then _substrax_error=executed; fi
elif [ -n "${ZSH_VERSION-}" ]; then
    eval '_substrax_self=${(%):-%x}'
    # %x spells bytes that the locale cannot print as \M-x. The raw name is in a module, which stays in the subshell.
    if [ ! -f "$_substrax_self" ]; then
        eval '_substrax_self=$(zmodload zsh/parameter && unsetopt ksh_arrays && \printf %s. "${funcsourcetrace[1]%:*}")' || :
        _substrax_self=${_substrax_self%.}
    fi
    case ${ZSH_EVAL_CONTEXT-:file} in *:file*) ;; *) _substrax_error=executed ;; esac
else
    case ${KSH_VERSION-} in Version*) eval '_substrax_self=${.sh.file}' ;; esac
fi
# The name is fixed: it is how a file is told from others that are open.
case $_substrax_self in activate.sh | */activate.sh) ;; *) _substrax_self= ;; esac
if [ -z "$_substrax_self" ] && [ -r /proc/self/stat ]; then
    # dash, busybox ash, mksh, posh and yash have no name for the file, but keep it open: it is the last that was opened.
    _substrax_last=1048576
    while [ -z "$_substrax_self" ] && [ "$_substrax_last" -gt 2 ]; do
        _substrax_below=$_substrax_last _substrax_last=2
        case $- in *f*) set +f && _substrax_script='set -f' ;; *) _substrax_script=: ;; esac
        for _substrax_rest in /proc/self/fd/*; do
            _substrax_rest=${_substrax_rest##*/}
            if [ "$_substrax_rest" -gt "$_substrax_last" ] && [ "$_substrax_rest" -lt "$_substrax_below" ] &&
                [ -f "/proc/self/fd/$_substrax_rest" ]; then
                _substrax_last=$_substrax_rest
            fi
        done
        eval "$_substrax_script"
        # That it is the one here, as it mostly is, can be seen without a process. posh alone has no -ef.
        # shellcheck disable=SC3013
        if [ "/proc/self/fd/$_substrax_last" -ef "${PWD-}/activate.sh" ] 2>/dev/null && [ ! -h "$PWD/activate.sh" ]; then
            _substrax_self=$PWD/activate.sh
        else
            # readlink is a process with files of its own, and $$ is not the number of a subshell.
            IFS=' ' read -r _substrax_pid _substrax_rest </proc/self/stat || :
            _substrax_self=$(command readlink "/proc/$_substrax_pid/fd/$_substrax_last") || :
            case $_substrax_self in */activate.sh) ;; *) _substrax_self='' ;; esac
        fi
    done
fi
if [ -z "${BASH_VERSION-}${ZSH_VERSION-}" ]; then
    # $0 is the script that is run: this file, or one of the same name that sources it. posh alone has no -ef.
    # shellcheck disable=SC3013
    case ${0##*/} in
        activate.sh)
            if [ -z "$_substrax_self" ] || { [ "$_substrax_self" -ef "$0" ] || ! [ / -ef / ]; } 2>/dev/null; then
                _substrax_error=executed
            fi
            ;;
    esac
fi
if [ "$_substrax_error" = executed ]; then
    \printf '%s\n' "activate.sh: error: source it instead, so that it can change this shell: . $0" >&2
    exit 2
fi
case $_substrax_self in
    '' | /*) ;;
    *)
        # The shell's idea of where it is, if that is where it is: the directory may have been renamed.
        # shellcheck disable=SC3013
        if [ "${PWD-}/$_substrax_self" -ef "$_substrax_self" ]; then
            _substrax_self=$PWD/${_substrax_self#./}
        else
            _substrax_self=''
        fi
        ;;
esac
_substrax_root=${_substrax_self%/*}
if [ -z "$_substrax_root" ] && [ -n "$_substrax_self" ]; then _substrax_root=/; fi
if [ "$_substrax_root_from_here" != . ]; then _substrax_root=$_substrax_root/$_substrax_root_from_here; fi
case $_substrax_root in
    */.. | */../* | */. | */./*)
        # The dot keeps a line feed at the end of the path, which $(...) would take away. The slashes stand behind what a
        # trap prints.
        _substrax_root=$(CDPATH='' cd -- "$_substrax_root" >/dev/null 2>&1 && \printf '//%s.' "$PWD") || :
        _substrax_root=/${_substrax_root##*//}
        _substrax_root=${_substrax_root%.}
        ;;
esac

# ---- 2. check everything before changing anything ----------------------------------------------------------------

_substrax_venv=$_substrax_root/.venv
_substrax_file=$_substrax_root/$_substrax_env_file
_substrax_manifest=${_substrax_prefix}_MANAGED_ENV_VARS
case $_substrax_prefix in
    # It goes through eval.
    '' | [!ABCDEFGHIJKLMNOPQRSTUVWXYZ]* | *[!ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_]*)
        _substrax_error="the settings of activate.sh say that prefix is '$_substrax_prefix', expected an upper-case name such as DATARAX"
        ;;
    *) eval "_substrax_listed=\${$_substrax_manifest-}" ;;
esac
_substrax_names='' _substrax_more='' _substrax_rest='' _substrax_kept='' _substrax_taken='' _substrax_marks='' _substrax_values=''
if [ -n "$_substrax_error" ]; then
    :
elif [ ! -f "$_substrax_self" ] || [ -z "$_substrax_root" ]; then
    # Never the current directory: it may be another checkout of the same project.
    _substrax_error="this shell cannot tell where activate.sh is; use bash, zsh or ksh93, keep the name of the file, and cd anew if directories were renamed"
elif [ ! -r "$_substrax_venv/bin/activate" ] || [ ! -x "$_substrax_venv/bin/python" ]; then
    _substrax_error="no working virtual environment in $_substrax_venv; run setup.sh first"
elif [ ! -f "$_substrax_file" ] || [ ! -r "$_substrax_file" ]; then
    _substrax_error="$_substrax_file is missing; run setup.sh first"
elif [ -n "${YASH_VERSION-}" ] && ! (. "$_substrax_venv/bin/activate") >/dev/null 2>&1; then
    _substrax_error="yash cannot read $_substrax_venv/bin/activate (uv and virtualenv write it so); use another shell"
else
    # These shells read a file so without a process. For the others it would be a command that does nothing.
    _substrax_script=''
    if [ -n "${BASH_VERSION-}${ZSH_VERSION-}${KSH_VERSION-}" ]; then
        # shellcheck disable=SC3034
        _substrax_script=$(<"$_substrax_venv/bin/activate") || :
    fi
    _substrax_names=$(_substrax_trial 2>/dev/null) || :
    _substrax_rest=${_substrax_names##*"$_substrax_newline"}
    case $_substrax_names in
        *'names: '*"${_substrax_newline}more:"*) _substrax_more=${_substrax_names##*"${_substrax_newline}more:"} ;;
    esac
    case $_substrax_names in
        *'names: '*) _substrax_names=${_substrax_names#*'names: '} ;;
        *) _substrax_names='' ;;
    esac
    _substrax_more=${_substrax_more%%"$_substrax_newline"*}
    _substrax_names=${_substrax_names%%"$_substrax_newline"*}
    case $_substrax_names$_substrax_more in
        *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_\ ]*) _substrax_names='' ;;
    esac
    case $_substrax_names:$_substrax_rest in
        :*) _substrax_error="$_substrax_file cannot be loaded: it is damaged, or a variable that it or .venv sets is readonly here; run setup.sh again, or use a new shell" ;;
        copied:*) _substrax_error="this checkout was moved or copied: its .venv is another one's; run setup.sh --recreate" ;;
        moved:*) _substrax_error="this checkout was moved or copied: $_substrax_env_file is another one's; run setup.sh again" ;;
        *:checked) ;;
        *:.env | *:.env.local) _substrax_error="$_substrax_root/$_substrax_rest is not valid in this shell; sh -n $_substrax_rest says where" ;;
        *) _substrax_error="$_substrax_root/$_substrax_rest" ;;
    esac
fi

# ---- 3. activate -------------------------------------------------------------------------------------------------

if [ -z "$_substrax_error" ]; then
    # What an earlier activation in this shell replaced comes back first, whichever project's it was; of one that a
    # parent shell made there is only the list of names.
    if [ -n "${_SUBSTRAX_SAVED-}" ]; then
        _substrax_keep_names "$_SUBSTRAX_SAVED"
        eval "_substrax_put_back $_substrax_rest"
        unset -v _SUBSTRAX_SAVED _SUBSTRAX_EXPORTED
        eval "_substrax_listed=\${$_substrax_manifest-}"
    fi
    if [ -n "$_substrax_listed" ]; then
        _substrax_keep_names "$_substrax_listed"
        eval "unset -v $_substrax_rest $_substrax_manifest" || :
    fi

    # uv's script reads $OSTYPE, which dash, ksh and busybox do not set: an error under `set -u`. And it starts basename
    # for the name of .venv, which is a third of its time: where a shell can say that nobody has a function or an alias
    # of that name, a function takes its place.
    _substrax_script=:
    if [ -z "${OSTYPE+set}" ]; then OSTYPE='' _substrax_script='unset OSTYPE'; fi
    # shellcheck disable=SC3044 # where there is no typeset, that is an answer too
    if typeset -f _substrax_put_back && ! typeset -f basename && ! alias basename; then
        eval 'basename() { \echo .venv; }'
        _substrax_script="$_substrax_script; unset -f basename"
    fi >/dev/null 2>&1
    . "$_substrax_venv/bin/activate" || :
    eval "$_substrax_script"

    _SUBSTRAX_SAVED="$_substrax_names $_substrax_manifest$_substrax_more"
    eval "_substrax_save $_SUBSTRAX_SAVED"
    # Whatever the environment has under those names is not ours.
    eval "unset -v _SUBSTRAX_EXPORTED $_substrax_values; _substrax_rest=\"$_substrax_rest\""
    if [ -n "$_substrax_rest" ]; then
        eval "$_substrax_rest"
        # Only a child process can tell the variables that are exported from those that are merely set.
        _SUBSTRAX_EXPORTED=$(command sh -c 'while [ -n "$1" ]; do
            if eval "[ -n \"\${${1%% *}+set}\" ]"; then printf "%s " "${1%% *}"; fi
            set -- "${1#"${1%% *}"}"
            set -- "${1# }"
        done' sh "$_SUBSTRAX_SAVED") || :
        # Away with arrays, integers and other kinds of variables, which would make something else of the value. What the
        # user's files assign to stays until then, as they may add to it.
        eval "unset -v $_substrax_names $_substrax_manifest" || :
    fi
    . "$_substrax_file" || :
    eval "_substrax_rest=\" \${$_substrax_manifest-} \""
    case "$_substrax_names$_substrax_rest" in
        *' LD_LIBRARY_PATH '*' LD_LIBRARY_PATH '*) ;;
        *' LD_LIBRARY_PATH '*)
            LD_LIBRARY_PATH=${_SUBSTRAX_OLD_LD_LIBRARY_PATH-}
            case " ${_SUBSTRAX_EXPORTED-} " in
                *' LD_LIBRARY_PATH '*)
                    _substrax_without_cuda "$LD_LIBRARY_PATH"
                    if [ -n "$_substrax_kept" ]; then export LD_LIBRARY_PATH="$_substrax_kept"; else unset -v LD_LIBRARY_PATH; fi
                    ;;
            esac
            ;;
    esac

    # POSIX cannot rename the venv's own deactivate, but sourcing its script again brings it back: so put the
    # variables back, fetch the original, and call that.
    deactivate() {
        if ! (eval "unset -v $_SUBSTRAX_SAVED") 2>/dev/null; then
            \printf '%s\n' "deactivate: error: a variable that it would give back has become readonly; leave this shell" >&2
            return 1
        fi
        eval "_substrax_put_back $_SUBSTRAX_SAVED"
        unset -v _SUBSTRAX_SAVED _SUBSTRAX_EXPORTED
        unset -f _substrax_put_back
        if [ -r "${VIRTUAL_ENV-}/bin/activate" ]; then
            if [ -z "${OSTYPE+set}" ]; then OSTYPE='' && set -- ostype; else set --; fi
            . "$VIRTUAL_ENV/bin/activate" || :
            deactivate
            if [ -n "${1-}" ]; then unset OSTYPE; fi
        else
            PATH=${_OLD_VIRTUAL_PATH-$PATH}
            PS1=${_OLD_VIRTUAL_PS1-${PS1-}}
            if [ -n "${_OLD_VIRTUAL_PYTHONHOME-}" ]; then export PYTHONHOME="$_OLD_VIRTUAL_PYTHONHOME"; fi
            unset VIRTUAL_ENV VIRTUAL_ENV_PROMPT _OLD_VIRTUAL_PATH _OLD_VIRTUAL_PS1 _OLD_VIRTUAL_PYTHONHOME
            unset -f deactivate
        fi
    }

    # The user's own files may say KEY=value, as docker, python-dotenv and uv read it: that is exported. A name that
    # is not set is empty there, as it is to those.
    if [ -f "$_substrax_root/.env" ] || [ -f "$_substrax_root/.env.local" ]; then
        _substrax_rest=:
        case $- in *a*) ;; *) _substrax_rest='set +a' ;; esac
        case $- in *u*) _substrax_rest="$_substrax_rest; set -u" ;; esac
        # dash, busybox ash and mksh would leave over a line that fails, although the file is guarded.
        case $- in *e*) _substrax_rest="$_substrax_rest; set -e" ;; esac
        set -a +eu
        if [ -f "$_substrax_root/.env" ]; then . "$_substrax_root/.env" || :; fi
        if [ -f "$_substrax_root/.env.local" ]; then . "$_substrax_root/.env.local" || :; fi
        eval "$_substrax_rest"
    fi

    eval "_substrax_rest=\${${_substrax_prefix}_BACKEND:-unknown}"
    # One command, since printf is a process in mksh and posh.
    \printf '%s\n' ${_substrax_taken:+"$_substrax_prefix: taken out of LD_LIBRARY_PATH, where it would hide the CUDA wheels:$_substrax_taken"} \
        "$_substrax_prefix environment active: backend $_substrax_rest, root $_substrax_root" >&2
fi

# ---- 4. leave nothing behind -------------------------------------------------------------------------------------

unset -f _substrax_keep_names _substrax_save _substrax_without_cuda _substrax_trial _substrax_add _substrax_read_user_file \
    _substrax_judge _substrax_judge_value _substrax_without_escapes
if [ -z "${_SUBSTRAX_SAVED+set}" ]; then unset -f _substrax_put_back; fi
# What an activation by template 0.1.0 has left for its own deactivate.
unset -f _substrax_each _substrax_try 2>/dev/null || :
unset _substrax_prefix _substrax_env_file _substrax_root_from_here _substrax_self _substrax_pid _substrax_root _substrax_venv \
    _substrax_file _substrax_manifest _substrax_listed _substrax_names _substrax_more _substrax_rest _substrax_last \
    _substrax_below _substrax_newline _substrax_script _substrax_kept _substrax_taken _substrax_marks _substrax_values \
    _substrax_fish_and_csh
if [ -z "$_substrax_error" ]; then
    unset _substrax_error
else
    \printf '%s\n' "activate.sh: error: $_substrax_error" >&2
    unset _substrax_error
    # `return 1 || :` lets `. ./activate.sh || ...` work under `set -e` in dash and busybox ash, where a plain
    # `return 1` ends the script; ksh93 is the other way round.
    case ${KSH_VERSION-} in Version*) return 1 ;; esac
    # shellcheck disable=SC2317
    return 1 || :
fi
