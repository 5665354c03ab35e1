# shellcheck shell=sh disable=SC2086,SC2154
# $2: where to; $3 as $5 of write.sh. The old folder is kept as a descriptor, the new one is the current.
enter "$folder"
[ -e "$name" ] || [ -L "$name" ] || fail ENOENT
exec 7<. || exit 1
if [ -d /proc/self/fd ]; then old=/proc/self/fd/7/${1##*/}; else old=$1; fi
folder=${2%/*}; hold "${folder:-/}"
mv -f $3 "$old" "./${2##*/}"
