# shellcheck shell=sh
# Ends `ssh` when its input ends, which is what the system makes of it when the runtime dies, however it dies.
# Arguments: socket, folder to remove or nothing, then the program. The watcher's streams are not the caller's: nobody
# may wait for it.
socket=$1 folder=$2; shift 2
exec 3<&0 </dev/null
"$@" 3<&- & master=$!
{ while read -r _; do :; done <&3; kill "$master"; } >/dev/null 2>&1 & watcher=$!
exec 3<&-
wait "$master"; code=$?
kill "$watcher" 2>/dev/null
rm -f -- "$socket"
[ -z "$folder" ] || rmdir -- "$folder" 2>/dev/null
exit "$code"
