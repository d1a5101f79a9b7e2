# shellcheck shell=sh
# shellcheck disable=SC1090,SC1091 # what it sources is written by other tools
# shellcheck disable=SC2329 # helpers are called by name, through _substrax_each
# shellcheck disable=SC2030,SC2031 # what a subshell tries out is not meant to last
# activate.sh - activate this project in the current shell. Source it, do not run it:
#
#     . ./activate.sh
#
# substrax shell template 0.1.0, environment file format 1. `deactivate` gives everything back.
# For bash 3.2 and newer, zsh, dash, busybox ash, ksh93u+m and mksh; yash and posh where .venv lets them.

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
#   * no word splitting, no globbing, no cd in this shell: IFS, `set -f`, CDPATH and a cd function cannot matter;
#   * functions keep scratch values in $1 $2 ...: ksh93 has no `local`, and so nothing leaks;
#   * what one shell cannot parse is hidden in `eval`, and all is ASCII: yash refuses other bytes under LC_ALL=C;
#   * nothing changes before everything that can be checked has been checked.

# ---- helpers; they are gone afterwards, but for the three that deactivate needs and then removes -----------------

# Usage: _substrax_each COMMAND "NAME NAME ..."
#
# Runs `COMMAND NAME` for each name of a variable that this file may touch, and skips everything else: the list comes
# from the environment. The letters are spelled out, since ranges take accented ones in some locales.
_substrax_each() {
    while [ -n "$2" ]; do
        case $2 in
            *' '*) set -- "$1" "${2#* }" "${2%% *}" ;;
            *) set -- "$1" '' "$2" ;;
        esac
        case $3 in
            '' | [0123456789]* | *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_]*) ;;
            PATH | HOME | PWD | OLDPWD | IFS | SHELL | USER | LOGNAME | TERM | ENV | CDPATH | FPATH | OPTIND | OPTARG | \
                PPID | UID | EUID | GID | EGID | LINENO | RANDOM | SECONDS | SHELLOPTS | GLOBIGNORE | PROMPT | \
                PROMPT_COMMAND | RPROMPT | RPS1 | PS[01234] | LD_PRELOAD | LD_AUDIT | VIRTUAL_ENV | VIRTUAL_ENV_PROMPT | \
                PYTHONHOME | USERNAME | TMOUT | POSIXLY_CORRECT | GROUPS | DIRSTACK | PIPESTATUS | FUNCNEST | HISTCHARS | \
                EDITOR | VISUAL | path | cdpath | fpath | manpath | argv | status | pipestatus | prompt | commands | \
                functions | aliases | options | history | signals) ;;
            _* | BASH* | ZSH* | KSH* | DYLD_INSERT*) ;;
            *) "$1" "$3" ;;
        esac
    done
}
# With -v, since bash without it takes a function of that name when there is no variable.
_substrax_unset() {
    unset -v "$1"
}
# Gives the variable its value from before the activation; one that was only a variable of the shell stays so.
_substrax_put_back() {
    unset -v "$1"
    if eval "[ -n \"\${_SUBSTRAX_OLD_$1+set}\" ]"; then
        eval "$1=\$_SUBSTRAX_OLD_$1"
        unset -v "_SUBSTRAX_OLD_$1"
        # shellcheck disable=SC2163 # the variable that $1 names is meant
        case " ${_SUBSTRAX_EXPORTED-} " in *" $1 "*) export "$1" ;; esac
    fi
}
# What a trial run in a subshell needs: may the name be unset, mark it, has the mark been overwritten?
_substrax_try() {
    unset -v "$1" || exit 1
}
_substrax_mark() {
    _substrax_rest="$_substrax_rest $1"
    eval "$1=_substrax_unwritten" || exit 1
}
_substrax_written() {
    if eval "[ \"\${$1-}\" = _substrax_unwritten ]"; then exit 1; fi
}
# Collects, as commands, how to save each variable that is set. They run outside of functions, where zsh does not
# warn that they make global variables.
_substrax_save() {
    if eval "[ -n \"\${$1+set}\" ]"; then
        _substrax_rest="$_substrax_rest _SUBSTRAX_OLD_$1=\$$1"
    fi
}

# ---- 1. is this file sourced, and where is it? -------------------------------------------------------------------

_substrax_error=
_substrax_self=
if [ -n "${BASH_VERSION-}" ]; then
    # shellcheck disable=SC3028,SC3054 # bash alone comes here
    _substrax_self=${BASH_SOURCE-}
    if [ "$_substrax_self" = "$0" ]; then _substrax_error=executed; fi
elif [ -n "${ZSH_VERSION-}" ]; then
    eval '_substrax_self=${(%):-%x}'
    # %x spells bytes that the locale cannot print as \M-x. The raw name is in a module, which stays in the subshell.
    if [ ! -f "$_substrax_self" ]; then
        eval '_substrax_self=$(zmodload zsh/parameter && unsetopt ksh_arrays && printf %s. "${funcsourcetrace[1]%:*}")' || :
        _substrax_self=${_substrax_self%.}
    fi
    case ${ZSH_EVAL_CONTEXT-:file} in *:file*) ;; *) _substrax_error=executed ;; esac
else
    case ${KSH_VERSION-} in Version*) eval '_substrax_self=${.sh.file}' ;; esac
fi
# The name is fixed: it is how a file is told from others that are open.
case $_substrax_self in activate.sh | */activate.sh) ;; *) _substrax_self= ;; esac
if [ -z "$_substrax_self" ] && [ -r /proc/self/stat ]; then
    # dash, busybox ash, mksh, posh and yash have no name for the file, but keep it open. Within $(...) there is no
    # `case` and no comment: bash 3.2 and posh would look for the closing parenthesis in them.
    IFS=' ' read -r _substrax_pid _substrax_rest </proc/self/stat || :
    _substrax_self=$(
        set +f
        fd=2 path=
        for link in "/proc/$_substrax_pid/fd/"*; do
            if [ "${link##*/}" -gt "$fd" ] 2>/dev/null && target=$(command readlink "$link" 2>/dev/null) &&
                [ "${target%/activate.sh}" != "$target" ]; then
                fd=${link##*/} path=$target
            fi
        done
        printf '%s' "$path"
    ) || :
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
    printf '%s\n' "activate.sh: error: source it instead, so that it can change this shell: . $0" >&2
    exit 2
fi
case $_substrax_self in
    '' | /*) ;;
    ./*) _substrax_self=$PWD/${_substrax_self#./} ;;
    *) _substrax_self=$PWD/$_substrax_self ;;
esac
_substrax_root=${_substrax_self%/*}
if [ -z "$_substrax_root" ] && [ -n "$_substrax_self" ]; then _substrax_root=/; fi
if [ "$_substrax_root_from_here" != . ]; then _substrax_root=$_substrax_root/$_substrax_root_from_here; fi
case $_substrax_root in
    */.. | */../* | */. | */./*)
        # The dot keeps a line feed at the end of the path, which $(...) would take away.
        _substrax_root=$(CDPATH='' cd -- "$_substrax_root" >/dev/null 2>&1 && printf '%s.' "$PWD") || :
        _substrax_root=${_substrax_root%.}
        ;;
esac

# ---- 2. check everything before changing anything ----------------------------------------------------------------

_substrax_venv=$_substrax_root/.venv
_substrax_file=$_substrax_root/$_substrax_env_file
_substrax_manifest=${_substrax_prefix}_MANAGED_ENV_VARS
eval "_substrax_listed=\${$_substrax_manifest-}"
_substrax_names=
if [ ! -f "$_substrax_self" ] || [ -z "$_substrax_root" ]; then
    # Never the current directory: it may be another checkout of the same project.
    _substrax_error="this shell cannot tell where activate.sh is; use bash, zsh or ksh93, and keep the name of the file"
elif [ ! -r "$_substrax_venv/bin/activate" ] || [ ! -x "$_substrax_venv/bin/python" ]; then
    _substrax_error="no working virtual environment in $_substrax_venv; run setup.sh first"
elif [ ! -f "$_substrax_file" ] || [ ! -r "$_substrax_file" ]; then
    _substrax_error="$_substrax_file is missing; run setup.sh first"
elif [ -n "${YASH_VERSION-}" ] && ! (. "$_substrax_venv/bin/activate") >/dev/null 2>&1; then
    _substrax_error="yash cannot read $_substrax_venv/bin/activate (uv and virtualenv write it so); use another shell"
else
    # The path of .venv is written into its script. Read as text it answers at no cost; where it is spelled another
    # way, the script itself says which directory it would activate.
    case $(command cat "$_substrax_venv/bin/activate") in
        *"VIRTUAL_ENV='$_substrax_venv'"* | *"VIRTUAL_ENV=\"$_substrax_venv\""* | *"VIRTUAL_ENV=$_substrax_venv
"*) ;;
        *)
            # shellcheck disable=SC3013 # posh alone has no -ef, and takes the next check instead
            if ! (
                OSTYPE=${OSTYPE-}
                . "$_substrax_venv/bin/activate" >/dev/null 2>&1
                [ "$VIRTUAL_ENV" -ef "$_substrax_venv" ] 2>/dev/null || [ "$VIRTUAL_ENV" = "$_substrax_venv" ]
            ); then
                _substrax_error="this checkout was moved or copied: its .venv is another one's; run setup.sh --recreate"
            fi
            ;;
    esac
    # A trial run in a subshell: a damaged file or a readonly variable ends that, not the user's shell. It unsets what
    # the venv's script sets, what an activation before this one has set, and the file's own variables. A file that was
    # cut off at the end of a line shows by the names of its list that keep the mark.
    _substrax_names=$(
        {
            for _substrax_rest in PATH VIRTUAL_ENV VIRTUAL_ENV_PROMPT PS1 _OLD_VIRTUAL_PATH _OLD_VIRTUAL_PS1; do
                unset -v "$_substrax_rest" || exit 1
            done
            _substrax_each _substrax_try "${_SUBSTRAX_SAVED-}"
            _substrax_each _substrax_try "$_substrax_listed"
            unset -v "$_substrax_manifest" || exit 1
            . "$_substrax_file" || exit 1
            eval "_substrax_listed=\${$_substrax_manifest-}"
            _substrax_rest=
            _substrax_each _substrax_try "$_substrax_listed"
            _substrax_each _substrax_mark "$_substrax_listed"
            [ -n "$_substrax_listed" ] && [ "$_substrax_rest" = " $_substrax_listed" ] || exit 1
            . "$_substrax_file" || exit 1
            _substrax_each _substrax_written "$_substrax_listed"
            eval "_substrax_rest=\${${_substrax_prefix}_ENV_ROOT-}"
            if [ "$_substrax_rest" != "$_substrax_root" ] && ! [ "$_substrax_rest" -ef "$_substrax_root" ]; then
                _substrax_listed=moved
            fi
        } >/dev/null 2>&1
        printf '%s' "$_substrax_listed"
    ) || _substrax_names=
    case $_substrax_error$_substrax_names in
        '') _substrax_error="$_substrax_file cannot be loaded: it is damaged, or a variable that it or .venv sets is readonly here; run setup.sh again, or use a new shell" ;;
        moved) _substrax_error="this checkout was moved or copied: $_substrax_env_file is another one's; run setup.sh again" ;;
    esac
    # The user's files: each is parsed as the body of a function that nobody calls. zsh's short forms of loops would
    # take the end of that function for the missing end of theirs.
    for _substrax_rest in .env .env.local; do
        if [ -f "$_substrax_root/$_substrax_rest" ] && ! (
            if [ -n "${ZSH_VERSION-}" ]; then unsetopt short_loops; fi
            eval "_substrax_parse() { :
$(command cat "$_substrax_root/$_substrax_rest")
}"
        ) >/dev/null 2>&1; then
            _substrax_error="$_substrax_root/$_substrax_rest is not valid in this shell; sh -n $_substrax_rest says where"
        fi
    done
fi

# ---- 3. activate -------------------------------------------------------------------------------------------------

if [ -z "$_substrax_error" ]; then
    # What an earlier activation in this shell replaced comes back first, whichever project's it was; of one that a
    # parent shell made there is only the list of names.
    _substrax_each _substrax_put_back "${_SUBSTRAX_SAVED-}"
    unset -v _SUBSTRAX_SAVED _SUBSTRAX_EXPORTED
    eval "_substrax_listed=\${$_substrax_manifest-}"
    _substrax_each _substrax_unset "$_substrax_listed"
    unset -v "$_substrax_manifest"

    # uv's script reads $OSTYPE, which dash, ksh and busybox do not set: an error under `set -u`.
    if [ -z "${OSTYPE+set}" ]; then OSTYPE='' _substrax_rest=ostype; else _substrax_rest=; fi
    . "$_substrax_venv/bin/activate" || :
    if [ "$_substrax_rest" = ostype ]; then unset OSTYPE; fi

    _SUBSTRAX_SAVED="$_substrax_names $_substrax_manifest"
    _substrax_rest=
    _substrax_each _substrax_save "$_SUBSTRAX_SAVED"
    if [ -n "$_substrax_rest" ]; then
        eval "$_substrax_rest"
        # Only a child process can tell the variables that are exported from those that are merely set.
        _SUBSTRAX_EXPORTED=$(command sh -c 'while [ -n "$1" ]; do
            if eval "[ -n \"\${${1%% *}+set}\" ]"; then printf "%s " "${1%% *}"; fi
            set -- "${1#"${1%% *}"}"
            set -- "${1# }"
        done' sh "$_SUBSTRAX_SAVED") || :
        # Away with arrays, integers and other kinds of variables, which would make something else of the value.
        _substrax_each _substrax_unset "$_SUBSTRAX_SAVED"
    fi
    . "$_substrax_file" || :

    # POSIX cannot rename the venv's own deactivate, but sourcing its script again brings it back: so put the
    # variables back, fetch the original, and call that.
    deactivate() {
        if ! (_substrax_each _substrax_try "${_SUBSTRAX_SAVED-}") 2>/dev/null; then
            printf '%s\n' "deactivate: error: a variable that it would give back has become readonly; leave this shell" >&2
            return 1
        fi
        _substrax_each _substrax_put_back "${_SUBSTRAX_SAVED-}"
        unset -v _SUBSTRAX_SAVED _SUBSTRAX_EXPORTED
        unset -f _substrax_each _substrax_put_back _substrax_try
        if [ -r "${VIRTUAL_ENV-}/bin/activate" ]; then
            if [ -z "${OSTYPE+set}" ]; then OSTYPE='' && set -- ostype; else set --; fi
            . "$VIRTUAL_ENV/bin/activate" || :
            deactivate
            if [ -n "${1-}" ]; then unset OSTYPE; fi
        else
            PATH=${_OLD_VIRTUAL_PATH-$PATH}
            PS1=${_OLD_VIRTUAL_PS1-${PS1-}}
            unset VIRTUAL_ENV VIRTUAL_ENV_PROMPT _OLD_VIRTUAL_PATH _OLD_VIRTUAL_PS1
            unset -f deactivate
        fi
    }

    # The user's own files may say KEY=value, as docker, python-dotenv and uv read it: that is exported. A name that
    # is not set is empty there, as it is to those.
    _substrax_rest=:
    case $- in *a*) ;; *) _substrax_rest='set +a' ;; esac
    case $- in *u*) _substrax_rest="$_substrax_rest; set -u" ;; esac
    # dash, busybox ash and mksh would leave over a line that fails, although the file is guarded.
    case $- in *e*) _substrax_rest="$_substrax_rest; set -e" ;; esac
    set -a +eu
    if [ -f "$_substrax_root/.env" ]; then . "$_substrax_root/.env" || :; fi
    if [ -f "$_substrax_root/.env.local" ]; then . "$_substrax_root/.env.local" || :; fi
    eval "$_substrax_rest"

    eval "_substrax_rest=\${${_substrax_prefix}_BACKEND:-unknown}"
    printf '%s\n' "$_substrax_prefix environment active: backend $_substrax_rest, root $_substrax_root" >&2
fi

# ---- 4. leave nothing behind -------------------------------------------------------------------------------------

unset -f _substrax_unset _substrax_mark _substrax_written _substrax_save
if [ -z "${_SUBSTRAX_SAVED+set}" ]; then unset -f _substrax_each _substrax_put_back _substrax_try; fi
if [ -n "$_substrax_error" ]; then
    printf '%s\n' "activate.sh: error: $_substrax_error" >&2
    unset _substrax_prefix _substrax_env_file _substrax_root_from_here _substrax_error _substrax_self _substrax_pid \
        _substrax_root _substrax_venv _substrax_file _substrax_manifest _substrax_listed _substrax_names _substrax_rest
    # `return 1 || :` lets `. ./activate.sh || ...` work under `set -e` in dash and busybox ash, where a plain
    # `return 1` ends the script; ksh93 is the other way round.
    case ${KSH_VERSION-} in Version*) return 1 ;; esac
    # shellcheck disable=SC2317
    return 1 || :
fi
unset _substrax_prefix _substrax_env_file _substrax_root_from_here _substrax_error _substrax_self _substrax_pid \
    _substrax_root _substrax_venv _substrax_file _substrax_manifest _substrax_listed _substrax_names _substrax_rest
