# shellcheck shell=sh
# Prints a letter and the name, each pair ended by a NUL.
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
