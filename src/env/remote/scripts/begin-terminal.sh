# shellcheck shell=sh disable=SC2034
# The wrapper in a terminal, which must pass the header on as it is and show nothing of it.
HERMES_TTY=$(stty -g 2>/dev/null) && stty raw -echo 2>/dev/null || {
  printf '@T:tty:@T;'
  exit 125
}
printf '@T:r:@T;'
