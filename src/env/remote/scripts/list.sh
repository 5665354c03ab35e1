# shellcheck shell=sh
# Prints a letter and the name, each pair ended by a NUL. With `details` as $2 there follow two more parts, each behind an
# empty entry: a line of stat for each entry, and, ended by NULs, name and real path of each link. One start for a whole folder,
# whatever is in it.
cd -- "$1" 2>/dev/null || why "$1"
[ -r . ] || fail EACCES
for entry in * .*; do
  case $entry in .|..) continue ;; esac
  if [ -L "./$entry" ]; then kind=l
  elif [ -d "./$entry" ]; then kind=d
  elif [ -f "./$entry" ]; then kind=f
  elif [ -e "./$entry" ]; then kind=o
  else continue; fi
  printf '%s%s\0' "$kind" "$entry"
done
[ "$2" = details ] || exit 0
printf '\0'
facts() { [ $# -eq 0 ] || stat -c '%f %s %d:%i %Y|%y|%n' -- "$@" 2>/dev/null; }
set --
for entry in * .*; do
  case $entry in .|..) continue ;; esac
  set -- "$@" "./$entry"
  [ $# -lt 300 ] || { facts "$@"; set --; }
done
facts "$@"
printf '\0\0'
for entry in * .*; do
  [ -L "./$entry" ] || continue
  target=$(readlink -f -- "./$entry" 2>/dev/null) || target=$(readlink -- "./$entry") || continue
  printf '%s\0%s\0' "$entry" "$target"
done
exit 0
