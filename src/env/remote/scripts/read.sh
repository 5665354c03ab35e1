# shellcheck shell=sh disable=SC2154
# $2: "real" when links are refused; $3 and $4: first byte and number of bytes, empty for all.
file=$1
[ "$2" != real ] || { enter "$folder"; file=$name; [ ! -L "$file" ] || fail MOVED; }
[ ! -d "$file" ] || fail FOLDER
if [ ! -f "$file" ]; then
  [ ! -e "$file" ] || fail SPECIAL
  [ "$folder" != "$file" ] && [ -d "$folder" ] && [ -x "$folder" ] && fail ENOENT
  why "$1"
fi
[ -r "$file" ] || fail EACCES
exec 8<"$file" || exit 1
if [ "$2" = real ]; then
  place=$(readlink -n /proc/self/fd/8 2>/dev/null; printf x)
  case $place in
    "$1x"|"$1 (deleted)x") ;;
    x) [ ! -L "$file" ] || fail MOVED ;;
    *) fail MOVED ;;
  esac
fi
if [ -z "$3$4" ]; then exec cat <&8; fi
dd bs=65536 iflag=skip_bytes,count_bytes "skip=${3:-0}" ${4:+"count=$4"} <&8
