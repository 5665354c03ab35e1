# shellcheck shell=sh disable=SC2261,SC2288
# When the command's shell ends, its folder and what it exports, on descriptor @K. @B is `builtin` where the shell has it.
{ @B printf @T:cwd:; @B pwd -P; @B printf '@T;@T:vars:'; @B export -p; @B printf '@T;'; } 2>/dev/null >&@K || :
