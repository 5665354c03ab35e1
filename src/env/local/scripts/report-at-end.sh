# shellcheck shell=bash disable=SC2034,SC2154
# Inside a sandbox, before the command: when the shell ends, so does everything else there. What is just finishing gets
# a moment (`> >(cat)` is not awaited by the shell), and the names of the rest are reported after folder and exports,
# between two copies of the secret (READ_SECRET in command-line.ts). Descriptor 3 is the report; bash keeps it at 10
# while the line runs.
hermes_report() {
  set +efu
  { builtin printf %s "$1"; builtin pwd -P; builtin printf "\0"; builtin export -p; } >&3
  IFS=' '
  local try place line left
  for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
    left=
    for place in /proc/[0-9]*; do
      [[ $place == /proc/1 || $place == "/proc/$$" ]] && continue
      builtin read -r line < "$place/stat" || continue
      [[ $line == *") Z "* ]] && continue
      line=${line#*(}; left+="${line%)*}/"
    done
    [[ -z $left ]] && break
    builtin read -r -t 0.025 -u 3 line
  done
  builtin printf '\0%s' "$left$1" >&3
} 2>/dev/null
trap "{ builtin set -- $HERMES_SECRET;"'if [[ -S /dev/fd/3 ]]; then hermes_report "$1"; else hermes_report "$1" 3>&10; fi; } 2>/dev/null' EXIT
unset -v HERMES_SECRET
