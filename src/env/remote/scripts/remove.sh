# shellcheck shell=sh disable=SC2154
# A file, a link or an empty folder.
enter "$folder"
if [ -L "$name" ] || { [ -e "$name" ] && [ ! -d "$name" ]; }; then rm -f "$name"
elif [ -d "$name" ]; then rmdir "$name"
else fail ENOENT; fi
