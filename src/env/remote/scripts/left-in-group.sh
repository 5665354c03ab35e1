# shellcheck shell=sh disable=SC2086
# Part of the wrapper, after the command has ended: reports what is still in its process group, on descriptor 9. The
# group is that of the wrapper when it leads one. Its members are younger than it, so that only the numbers given out
# since are looked at, as long as they are few. One that is on its way out is looked at twice. @T is the token.
{
  IFS=' '
  hermes_left() {
    HERMES_LEFT=; HERMES_PID=$$; HERMES_LAST=
    read -r HERMES_LINE </proc/loadavg && HERMES_LAST=${HERMES_LINE##* }
    if [ "$HERMES_LAST" -gt "$$" ] && [ "$((HERMES_LAST - $$))" -lt 300 ]; then
      while [ "$HERMES_PID" -lt "$HERMES_LAST" ]; do
        HERMES_PID=$((HERMES_PID + 1)); [ -d "/proc/$HERMES_PID" ] && hermes_look
      done
    else
      for HERMES_PID in /proc/[0-9]*; do
        HERMES_PID=${HERMES_PID#/proc/}; [ "$HERMES_PID" -gt "$$" ] && hermes_look
      done
    fi
  }
  hermes_look() {
    read -r HERMES_LINE <"/proc/$HERMES_PID/stat" || return
    HERMES_NAME=${HERMES_LINE#*(}
    set -- ${HERMES_LINE##*) }
    [ "$3" = "$$" ] && [ "$1" != Z ] && [ "$1" != X ] && HERMES_LEFT="$HERMES_LEFT$HERMES_PID ${HERMES_NAME%)*}/"
  }
  hermes_left; [ -n "$HERMES_LEFT" ] && sleep 0.05 && hermes_left
} 2>/dev/null
[ -n "$HERMES_LEFT" ] && printf '@T:left:%s@T;' "$HERMES_LEFT" >&9
