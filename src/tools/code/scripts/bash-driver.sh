# shellcheck shell=bash
# A shell that stays. The outer one reads the channel; the inner one has a process group of its own and is
# interactive, so that an interrupt ends what it does and not the shell. It gets one line for each order.
set -m
coproc INNER {
trap : INT
PS1= PS2= "$BASH" --noprofile --norc --noediting -i >&4 2>/dev/null 3<&- 4>&-
CODE=$?
trap '' INT
printf -v END '{"exit":%d,"ended":true}' "$CODE"
printf '%sd.%04x%s' "$1" "${#END}" "$END" >&4
}
GROUP=$INNER_PID
while IFS= read -r -u 3 LINE; do
case $LINE in
interrupt) kill -INT -- "-$GROUP" ;;
*) printf '%s\n' "$LINE" >&"${INNER[1]}" ;;
esac
done 2>/dev/null
