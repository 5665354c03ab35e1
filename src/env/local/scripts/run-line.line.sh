# shellcheck shell=bash
# Closed for the line, the descriptor of the report is kept by bash at a number from 10 on that no program inherits.
# `eval` keeps these words out of the shell's own error messages; a line may begin with a dash.
HERMES_LINE=$1;
shift;
eval -- "$HERMES_LINE" 3>&-
