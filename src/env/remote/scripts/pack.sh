# shellcheck shell=sh
# A folder as a tar archive on stdout.
cd -- "$1" 2>/dev/null || why "$1"
exec tar -cf - .
