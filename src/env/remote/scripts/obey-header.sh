# shellcheck shell=sh disable=SC2154
# Part of the wrapper: obeys the header it has read, which sets variables and arguments, and enters the folder, which is
# the first of them. A header that is not whole is not obeyed: the connection broke in the middle of it. 125: nothing
# was started. @T is the token, @R the descriptor for reports.
case $HERMES_HEADER in *'#@T'*) ;; *) exit 125 ;; esac
eval "$HERMES_HEADER" 2>/dev/null
unset -v HERMES_HEADER HERMES_LINE
cd -- "$1" 2>/dev/null || {
  if [ -d "$1" ]; then HERMES_WHY=denied; elif [ -e "$1" ]; then HERMES_WHY=file; else HERMES_WHY=missing; fi
  printf '@T:cd:%s@T;' "$HERMES_WHY" >&@R
  exit 125
}
shift
