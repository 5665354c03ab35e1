# shellcheck shell=sh disable=SC2086
# Prints a description of everything below $1 (which must be there, otherwise it ends with 66) each time it has
# changed; $2: `-maxdepth 1` or nothing. No line of it that begins with two slashes can be a part of a name.
snapshot() {
  if [ -d "$1" ]; then
    cd -- "$1" && find . $2 -exec stat -c '//%f %s %y %i %n' {} +
    cd /
  else
    stat -c '//%f %s %y %i .' -- "$1"
  fi 2>/dev/null
}
[ -e "$1" ] || exit 66
last=none
while :; do
  now=$(snapshot "$1" "$2")
  if [ "$now" != "$last" ]; then
    last=$now
    printf '//begin\n%s\n//end\n' "$now"
  fi
  sleep 1
done
