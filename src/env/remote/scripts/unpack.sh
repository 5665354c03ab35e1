# shellcheck shell=sh disable=SC2086,SC2154,SC2015
# Takes a tar archive on stdin into a folder, which is made when it is missing. One that is there already may hold
# links: the archive is unpacked aside ($2) first, and its parts are put in place folder by folder, each of them
# entered like any other. $3 as $5 of write.sh.
drain=1
target=$1 aside=./$2 option=$3
hold "$target"
if [ "$made" = 1 ]; then
  tar -xof - && exit 0
  rm -rf ./* ./.[!.]* ./..?*
  exit 1
fi
trap 'cd -P -- "$target" && rm -rf "$aside"' EXIT
trap 'exit 1' HUP INT TERM PIPE
mkdir "$aside" && cd -P "$aside" && exec 7<. && tar -xof - || exit 1
if [ -d /proc/self/fd ]; then source=/proc/self/fd/7; else source=$target/$2; fi
pour() {
  enter "$target${1:+/$1}"
  for each in "$source${1:+/$1}"/* "$source${1:+/$1}"/.*; do
    case ${each##*/} in .|..) continue ;; esac
    if [ -L "$each" ] || [ -f "$each" ]; then mv -f $option "$each" "./${each##*/}" || exit 1; fi
  done
  for each in "$source${1:+/$1}"/* "$source${1:+/$1}"/.*; do
    each=${each##*/}
    case $each in .|..) continue ;; esac
    [ -d "$source${1:+/$1}/$each" ] && [ ! -L "$source${1:+/$1}/$each" ] || continue
    [ ! -L "./$each" ] || fail MOVED
    [ -d "./$each" ] || mkdir "./$each" || exit 1
    pour "${1:+$1/}$each"
    enter "$target${1:+/$1}"
  done
}
pour ''
