# shellcheck shell=bash disable=SC2034
# The secret comes on the descriptor of the report, so that it is in neither arguments nor environment, and ends up in
# the text of a trap: no program that a line starts can know it.
IFS= builtin read -r HERMES_SECRET <&3;
