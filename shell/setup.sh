#!/bin/sh
# setup.sh - create or update this project's .venv and its environment file. Try: ./setup.sh --help
#
# substrax shell template 0.2.0, environment file format 1.
# POSIX sh, plain ASCII; for bash 3.2 and newer, dash, zsh, ksh93u+m, mksh and busybox ash, yash and posh.
# In zsh's own mode a function has another $0, and a trap for EXIT inside one runs when that function ends.
if [ -n "${ZSH_VERSION-}" ]; then emulate sh; fi
set -eu

# >>> settings: this repository's own; an upgrade of the template keeps this block >>>
# shellcheck disable=SC2034 # the extras of a backend are read by name
settings() {
    # What the project's variables begin with, the environment file in the project's root, and where that root is,
    # seen from this file: . when it lies in the root. activate.sh has to say the same.
    prefix=SUBSTRAX
    env_file=.substrax.env
    root_from_here=..

    # Extras of pyproject.toml, separated by single blanks: for every environment, and for each backend.
    extras=''
    extras_cpu=''
    extras_cuda12='cuda12'
    extras_cuda13='cuda13'
    extras_metal=''
    extras_rocm=''

    # Further variables for the environment file: NAME=VALUE, one a line.
    values=''
}
# <<< settings <<<

usage() {
    cat <<'END'
Usage: ./setup.sh [options] [-- COMMAND...]

  --backend NAME   what to install jax for: auto, cpu, cuda12, cuda13, metal or rocm (default: auto, what is here)
  --python V       the Python to use, such as 3.12
  --extra NAME     one more extra of pyproject.toml; may be repeated
  --recreate       make .venv anew
  --force-clean    make .venv and the environment file anew, and delete what tests leave behind
  --dry-run        print the commands, to be pasted into a shell; change nothing
  -h, --help       print this

With a COMMAND, runs that in the activated environment afterwards.
END
}
say() { printf '%s\n' "setup.sh: $*" >&2; }
die() {
    say "error: $*"
    exit 1
}
# One line, whatever the user has typed.
bad_usage() {
    say "error: $(printf '%s' "$*" | tr '\n' ' '); see ./setup.sh --help"
    exit 2
}

main() {
    settings
    backend=auto python='' requested='' recreate='' force_clean='' dry_run='' has_command='' root='' start=$PWD
    while [ "$#" -gt 0 ] && [ -z "$has_command" ]; do
        case $1 in
            --backend | --python | --extra)
                if [ "$#" -lt 2 ]; then bad_usage "$1 needs a value"; fi
                take_option "$1" "$2"
                shift
                ;;
            --backend=* | --python=* | --extra=*) take_option "${1%%=*}" "${1#*=}" ;;
            --recreate) recreate=1 ;;
            --force-clean) recreate=1 force_clean=1 ;;
            --dry-run) dry_run=1 ;;
            -h | --help) usage && exit 0 ;;
            --) has_command=1 ;;
            *) bad_usage "unknown option '$1'" ;;
        esac
        shift
    done
    if [ -n "$has_command" ] && [ "$#" -eq 0 ]; then bad_usage "-- needs a command after it"; fi

    answer='' probe='' lock=''
    # EXIT alone is not enough: dash, busybox ash, yash, posh and zsh skip it when a signal ends them, and mksh then
    # exits with status 0.
    trap leave EXIT
    trap 'leave; exit 129' HUP
    trap 'leave; exit 130' INT
    trap 'leave; exit 143' TERM

    enter_root
    resolve_backend
    eval "extras=\"\$extras \$extras_$backend \$requested\""
    say "project $root, backend $backend"
    if [ -z "$dry_run" ]; then take_lock; fi
    # Before anything is deleted.
    find_uv
    clean
    sync
    write_environment_file
    leave
    if [ "$#" -gt 0 ]; then
        run_activated "$@"
    elif [ -z "$dry_run" ]; then
        say "done; next: . $here/activate.sh"
    fi
}

# Usage: take_option --backend|--python|--extra VALUE
take_option() {
    case $2 in
        '') bad_usage "$1 needs a value" ;;
        -*) bad_usage "$1 needs a value, not '$2'" ;;
    esac
    case $1 in
        --backend)
            case $2 in
                auto | cpu | cuda12 | cuda13 | metal | rocm) backend=$2 ;;
                *) bad_usage "--backend is '$2', expected auto, cpu, cuda12, cuda13, metal or rocm" ;;
            esac
            ;;
        --python) python=$2 ;;
        --extra)
            case $2 in
                *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-]*)
                    bad_usage "--extra is '$2', expected the name of an extra"
                    ;;
            esac
            requested="$requested $2"
            ;;
    esac
}

# Takes away what must not outlive this script; nothing is left for a second call.
leave() {
    if [ -n "$probe" ]; then kill -9 "$probe" 2>/dev/null || :; fi
    if [ -n "$answer" ]; then rm -f "$answer"; fi
    if [ -n "$lock" ]; then rm -rf "$lock"; fi
    answer='' probe='' lock=''
    trap - EXIT HUP INT TERM
}

# ---- where, and for what -----------------------------------------------------------------------------------------

# `here` is how the user reached this file's directory, for the messages; `root` is the project, and the directory
# that everything after this runs in.
enter_root() {
    case $0 in
        /*) here=${0%/*} ;;
        ./* | ../*) here=${0%/*} ;;
        */*) here=./${0%/*} ;;
        *) here=. ;;
    esac
    CDPATH='' cd "${here:-/}/$root_from_here" >/dev/null
    root=$PWD
    if [ ! -f pyproject.toml ]; then die "no pyproject.toml in $root; is root_from_here right in $0?"; fi
    case $root in *:*) die "$root has a colon in it, which PATH cannot hold: .venv/bin would not be found" ;; esac
    run cd "$root"
    # uv would warn of another environment that is active.
    unset VIRTUAL_ENV
}

# Once a run, so that the extras that are synced and the file that is written agree.
resolve_backend() {
    if [ "$backend" != auto ]; then return; fi
    backend=cpu
    case $(uname -s)-$(uname -m) in
        Darwin-arm64) backend=metal ;;
        Linux-*)
            if command -v nvidia-smi >/dev/null 2>&1; then
                if nvidia_gpu_visible; then
                    backend=cuda12
                else
                    say "nvidia-smi is here, but lists no GPU, so the backend is cpu; --backend overrides"
                fi
            fi
            ;;
    esac
}

# As the writer's own `auto`: a GPU is listed, with status 0, within 5 s. macOS has no timeout(1), and a process stuck in
# the driver survives even SIGKILL: so it is polled, and waited for only when it has ended.
nvidia_gpu_visible() {
    answer=$(mktemp "${TMPDIR:-/tmp}/setup.XXXXXX") || die "no file can be made in ${TMPDIR:-/tmp}; set TMPDIR to another place"
    nvidia-smi -L </dev/null >"$answer" 2>/dev/null &
    probe=$!
    tenths=50
    while [ "$tenths" -gt 0 ] && kill -0 "$probe" 2>/dev/null; do
        if sleep 0.1 2>/dev/null; then tenths=$((tenths - 1)); else sleep 1 && tenths=$((tenths - 10)); fi
    done
    set -- 1
    if [ "$tenths" -le 0 ]; then
        kill -9 "$probe" 2>/dev/null || :
    elif wait "$probe" && grep '^GPU ' "$answer" >/dev/null; then
        set -- 0
    fi
    rm -f "$answer"
    answer='' probe=''
    return "$1"
}

# ---- the work ----------------------------------------------------------------------------------------------------

clean() {
    # A former run that was interrupted may have left the second of the two steps to this one.
    if [ -d .venv.deleted ] || [ -L .venv.deleted ]; then run rm -rf .venv.deleted; fi
    if [ -n "$recreate" ] && { [ -e .venv ] || [ -L .venv ]; }; then
        if [ ! -L .venv ] && [ ! -f .venv/pyvenv.cfg ]; then
            die "$root/.venv is no virtual environment, so it is not deleted; move it away yourself"
        fi
        # Half a .venv could not be told from a directory of somebody else's: so it goes out of the way at once.
        run mv .venv .venv.deleted
        run rm -rf .venv.deleted
    fi
    if [ -n "$force_clean" ]; then run rm -rf "$env_file" .pytest_cache .coverage htmlcov; fi
}

find_uv() {
    uv=uv
    if command -v uv >/dev/null 2>&1; then return; fi
    uv=.setup-uv/bin/uv
    if "$uv" --version >/dev/null 2>&1; then return; fi
    if ! command -v python3 >/dev/null 2>&1; then die "neither uv nor python3 is here; install one of them"; fi
    say "uv is not installed; getting it from the package index into .setup-uv"
    run python3 -m venv --clear .setup-uv
    run .setup-uv/bin/python -m pip install --quiet --disable-pip-version-check uv
    if [ -z "$dry_run" ]; then printf '*\n' >.setup-uv/.gitignore; fi
}

sync() {
    # activate.sh looks in .venv, whatever the caller's shell says.
    set -- env UV_PROJECT_ENVIRONMENT=.venv "$uv" sync
    while [ -n "$extras" ]; do
        extra=${extras%% *}
        extras=${extras#"$extra"}
        extras=${extras# }
        if [ -n "$extra" ]; then set -- "$@" --extra "$extra"; fi
    done
    if [ -n "$python" ]; then set -- "$@" --python "$python"; fi
    run "$@"
}

write_environment_file() {
    set -- env UV_PROJECT_ENVIRONMENT=.venv "$uv" run --no-sync python -m substrax.runtime.managed_env write \
        --prefix "$prefix" --backend "$backend" --output "$env_file"
    newline='
'
    while [ -n "$values" ]; do
        value=${values%%"$newline"*}
        values=${values#"$value"}
        values=${values#"$newline"}
        if [ -n "$value" ]; then set -- "$@" --set "$value"; fi
    done
    run "$@"
}

run_activated() {
    run cd "$start"
    if [ -z "$dry_run" ]; then
        # shellcheck disable=SC1091 # the template beside this one
        . "$here/activate.sh" || exit 1
        exec "$@"
    fi
    quoted . "$here/activate.sh"
    quoted "$@"
}

# Usage: run WORD...
#
# The one way this script changes anything, so that --dry-run cannot tell another story.
run() {
    if [ -n "$dry_run" ]; then
        quoted "$@"
        if [ "$1" != cd ]; then return; fi
    elif [ "$1" != cd ]; then
        say "$(quoted "$@")"
    fi
    # Not on standard output, which is that of the command behind `--`.
    "$@" >&2 || fail "$?" "$@"
}
fail() {
    exit_status=$1
    shift
    say "error: status $exit_status from: $(quoted "$@")"
    exit "$exit_status"
}

# Usage: quoted WORD...
#
# Prints the words as one line that a shell reads back as the same words.
quoted() {
    while [ "$#" -gt 0 ]; do
        case $1 in
            '' | *[!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-]*)
                printf "'"
                printf '%s' "$1." | sed "s/'/'\\\\''/g; \$s/\\.\$//"
                printf "'"
                ;;
            *) printf '%s' "$1" ;;
        esac
        shift
        if [ "$#" -gt 0 ]; then printf ' '; fi
    done
    printf '\n'
}

# ---- one at a time -----------------------------------------------------------------------------------------------

# A directory is the lock. One whose owner is gone is taken over in place, inside a second one: whoever gets that
# looks again, so that two cannot both believe the same corpse. What was killed before it wrote its number down, in
# either of them, is told by its age.
take_lock() {
    place=$root/$env_file.lock
    if ! mkdir "$place" 2>/dev/null; then
        if [ ! -d "$place" ]; then
            if [ -e "$place" ]; then die "$place is in the way; move it elsewhere"; fi
            die "cannot write in $root"
        fi
        owner=unknown host='' state=alive forgotten=''
        # Asked first: what follows makes it young again.
        if is_old "$place"; then forgotten=1; fi
        if is_old "$place/takeover"; then rmdir "$place/takeover" 2>/dev/null || :; fi
        if mkdir "$place/takeover" 2>/dev/null; then
            if [ -r "$place/owner" ]; then read -r owner host <"$place/owner" || :; fi
            if { [ "$owner" = unknown ] && [ -n "$forgotten" ]; } ||
                { [ "$host" = "$(uname -n)" ] && ! is_alive "$owner"; }; then
                say "taking over from the setup.sh of process $owner, which is gone"
                state=dead
            else
                rmdir "$place/takeover" 2>/dev/null || :
            fi
        fi
        if [ "$state" = alive ]; then
            die "another setup.sh is at work here (process $owner); if that is not so: rm -r $(quoted "$place")"
        fi
    fi
    lock=$place
    printf '%s\n' "$$ $(uname -n)" >"$lock/owner" || die "lost the lock $lock"
    rmdir "$lock/takeover" 2>/dev/null || :
}
# kill -0 says no to the process of another user as well.
is_alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1; }
is_old() { [ -d "$1" ] && [ -n "$(find "$1" -prune -mmin +1 2>/dev/null)" ]; }

main ${1+"$@"}
