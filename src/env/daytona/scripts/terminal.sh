# shellcheck shell=sh disable=SC2154
# The program "$@" in a terminal, between two $mark. This shell outlives interrupts that are typed for the program,
# to tell its exit code.
rm -f -- "$0"
trap : INT QUIT
printf '\036%s+\036' "$mark"
"$@"
printf '\036%s%s\036' "$mark" $?
sleep 5
