# shellcheck shell=sh disable=SC2154,SC2086,SC2015
# $2: bytes to come on stdin; $3: `any`, `new`, or the SHA-256 the file must have; $4: name for the new content until
# it is whole; $5: option that keeps mv and ln out of folders; $6: mode, when it is not that of the old file.
drain=1
size=$2 expected=$3 new=./$4
hash() {
  { sha256sum || shasum -a 256 || openssl dgst -sha256 -r; } <"$name" 2>/dev/null | { read -r sum rest; printf %s "$sum"; }
}
check() {
  [ "$expected" != any ] || return 0
  if [ -e "$name" ] || [ -L "$name" ]; then actual=$(hash); else actual=none; fi
  [ "$expected" = new ] && wanted=none || wanted=$expected
  [ "$actual" = "$wanted" ] || fail "CONFLICT $actual"
}
case $expected in
  any|new) hold "$folder" ;;
  *) [ -e "$folder" ] || fail 'CONFLICT none'; enter "$folder" ;;
esac
like= created=1
[ ! -L "$name" ] || fail LINK
[ ! -d "$name" ] || fail FOLDER
if [ -e "$name" ]; then
  [ -f "$name" ] || fail SPECIAL
  check
  [ -w "$name" ] || fail EACCES
  created=0; like=$(stat -c '%a %u:%g' "$name") || exit 1
fi
check
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM PIPE
set -C
dd bs=65536 conv=fsync >"$new" || exit 1
[ "$(wc -c <"$new")" -eq "$size" ] || fail SHORT
if [ -n "$6" ]; then
  chmod "$6" "$new" || exit 1
elif [ -n "$like" ]; then
  chown "${like#* }" "$new" 2>/dev/null
  chmod "${like%% *}" "$new" || exit 1
fi
# One writer at a time in this folder, from whatever process: the lock is on the folder itself and leaves nothing behind.
# It is held for a comparison and a rename; where there is no such program, nobody waits.
if command -v flock >/dev/null 2>&1; then exec 9<. && flock 9; fi
check
mine=$(stat -c %d:%i "$new")
if [ "$expected" = new ]; then
  ln $5 "$new" "$name" 2>/dev/null || { check; mv -f $5 "$new" "$name" || exit 1; }
else
  [ ! -L "$name" ] || fail LINK
  mv -f $5 "$new" "$name" || exit 1
fi
# What lies at the path now, if it is what was put there and the folder is still in its place.
there=$(stat -c '%f %s %d:%i %Y|%y' "$name" 2>/dev/null)
case $there in *" $size $mine "*) [ "$(here)" = "$folder" ] || there= ;; *) there= ;; esac
printf '%s %s %s' "$created" "$made" "$there"
