# shellcheck shell=sh disable=SC2034
# Before every script for files, for GNU and busybox tools alike. Each is one start with a path as $1: what goes
# wrong is a line `HERMES:<code>` on stderr, or what the tool itself says in the C locale.
#
# `enter` makes a folder the current one and proves that no link was on the way: the kernel says where that is.
# From then on the current folder is a handle that nobody can exchange, and names in it are used as `./name`. The
# shell's own `pwd` will not do: bash works it out from the names. `hold` makes the folders that are missing.
LC_ALL=C TZ=UTC0; export LC_ALL TZ; unset -v CDPATH
# A script that is sent something sets `drain`: an engine that cannot get rid of it (Podman) drops what the script
# said. So all of it is taken before a refusal is.
drain=
fail() { [ -z "$drain" ] || cat >/dev/null; printf 'HERMES:%s\n' "$1" >&2; exit 1; }
here() { readlink /proc/self/cwd 2>/dev/null || env pwd -P; }
# Why a folder cannot be entered.
why() {
  [ -d "$1" ] && fail EACCES
  [ -L "$1" ] && fail MOVED
  [ -e "$1" ] && fail ENOTDIR
  set -- "${1%/*}"
  while [ -n "$1" ]; do
    [ -d "$1" ] && { [ -x "$1" ] || fail EACCES; break; }
    [ -e "$1" ] && fail ENOTDIR
    set -- "${1%/*}"
  done
  fail ENOENT
}
enter() {
  cd -P -- "$1" 2>/dev/null || why "$1"
  [ "$(here; printf x)" = "$1
x" ] || fail MOVED
}
hold() {
  if [ "$1" = / ] || [ -e "$1" ] || [ -L "$1" ]; then enter "$1"; return; fi
  set -- "$1" "${1%/*}"
  hold "${2:-/}"
  mkdir "./${1##*/}" && made=1 || [ -d "./${1##*/}" ] || exit 1
  enter "$1"
}
folder=${1%/*}; [ -n "$folder" ] || folder=/
name=./${1##*/}
made=0
