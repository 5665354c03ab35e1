# shellcheck shell=sh disable=SC2034
# Part of the wrapper, for shells that cannot read an exact number of bytes: reads the header up to its last line.
HERMES_HEADER=
while IFS= read -r HERMES_LINE; do
  HERMES_HEADER="$HERMES_HEADER$HERMES_LINE
"
  [ "$HERMES_LINE" = '#@T' ] && break
done
