# shellcheck shell=bash disable=SC2154
# Inside a sandbox: the command is about to begin.
builtin printf %s "$HERMES_SECRET+" >&3;
