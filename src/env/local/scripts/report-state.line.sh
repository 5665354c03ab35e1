# shellcheck shell=bash disable=SC2016,SC2154
# When the shell ends it reports its folder and what it exports, between two copies of the secret. Descriptor 3 is the
# report; bash keeps it at 10 while the line runs, and does not put it back when a function of the line ends the shell.
# Left of `||`, a failure does not count for `set -e`; the exit code stays that of the line.
trap "{ builtin set -- $HERMES_SECRET;"'
if [[ -S /dev/fd/3 ]]; then
{ builtin printf %s "$1"; builtin pwd -P; builtin printf "\0"; builtin export -p; builtin printf "\0%s" "$1"; } >&3;
else if [[ -S /dev/fd/10 ]]; then
{ builtin printf %s "$1"; builtin pwd -P; builtin printf "\0"; builtin export -p; builtin printf "\0%s" "$1"; } >&10;
else :; fi; fi; } 2>/dev/null || :' EXIT;
unset -v HERMES_SECRET;
