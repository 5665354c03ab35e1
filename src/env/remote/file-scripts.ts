/**
 * Shell scripts for file work there, for GNU and busybox tools alike. Each is one start: what goes wrong is a
 * line `HERMES:<code>` on stderr, or what the tool itself says in the C locale.
 */

/**
 * `enter` makes a folder the current one and proves that no link was on the way: the kernel says where that
 * is. From then on the current folder is a handle that nobody can exchange, and names in it are used as `./name`.
 * The shell's own `pwd` will not do: bash works it out from the names.
 */
const PRELUDE = `LC_ALL=C TZ=UTC0; export LC_ALL TZ; unset -v CDPATH
fail() { printf 'HERMES:%s\\n' "$1" >&2; exit 1; }
here() { readlink /proc/self/cwd 2>/dev/null || env pwd -P; }
why() {
[ -d "$1" ] && fail EACCES
[ -L "$1" ] && fail MOVED
[ -e "$1" ] && fail ENOTDIR
set -- "\${1%/*}"
while [ -n "$1" ]; do
[ -d "$1" ] && { [ -x "$1" ] || fail EACCES; break; }
[ -e "$1" ] && fail ENOTDIR
set -- "\${1%/*}"
done
fail ENOENT
}
enter() {
cd -P -- "$1" 2>/dev/null || why "$1"
[ "$(here; printf x)" = "$1
x" ] || fail MOVED
}
hold() {
if [ "$1" = / ] || [ -e "$1" ] || [ -L "$1" ]; then enter "$1"; return; fi
set -- "$1" "\${1%/*}"
hold "\${2:-/}"
mkdir "./\${1##*/}" && made=1 || [ -d "./\${1##*/}" ] || exit 1
enter "$1"
}
folder=\${1%/*}; [ -n "$folder" ] || folder=/
name=./\${1##*/}
made=0
`;

const script = (body: string) => PRELUDE + body;

/**
 * For scripts that are sent something: an engine that cannot get rid of it (Podman) drops what the script said. So
 * all of it is taken before a refusal is.
 */
const DRAIN = `fail() { cat >/dev/null; printf 'HERMES:%s\\n' "$1" >&2; exit 1; }
`;
const receivingScript = (body: string) => PRELUDE + DRAIN + body;

/** Follows every link itself, so that a dangling one and what does not exist come out as well. */
export const REALPATH = script(`rest=$1/; out=; links=0
while [ -n "$rest" ]; do
part=\${rest%%/*}; rest=\${rest#*/}
case $part in ''|.) continue ;; ..) out=\${out%/*}; continue ;; esac
if [ -L "$out/$part" ]; then
links=$((links + 1)); [ "$links" -le 40 ] || fail ELOOP
target=$(readlink -n -- "$out/$part"; printf x) || exit 1
target=\${target%x}
case $target in /*) out= ;; esac
rest=$target/$rest
else out=$out/$part; fi
done
printf '%s' "\${out:-/}"`);

const STAT_FORMAT = "'%f %s %d:%i %Y|%y'";

export const STAT = script(`said=$(stat -L -c ${STAT_FORMAT} -- "$1" 2>&1) && { printf '%s' "$said"; exit 0; }
case $said in *'oo many levels'*|*'ymbolic link loop'*) fail ELOOP ;; esac
stat -c ${STAT_FORMAT} -- "$1"`);

/** Prints a letter and the name, each pair ended by a NUL. */
export const LIST = script(`cd -- "$1" 2>/dev/null || why "$1"
[ -r . ] || fail EACCES
for entry in * .*; do
case $entry in .|..) continue ;; esac
if [ -L "./$entry" ]; then kind=l
elif [ -d "./$entry" ]; then kind=d
elif [ -f "./$entry" ]; then kind=f
elif [ -e "./$entry" ]; then kind=o
else continue; fi
printf '%s%s\\0' "$kind" "$entry"
done`);

/** $2: "real" when links are refused; $3 and $4: first byte and number of bytes, empty for all. */
export const READ = script(`file=$1
[ "$2" != real ] || { enter "$folder"; file=$name; [ ! -L "$file" ] || fail MOVED; }
[ ! -d "$file" ] || fail FOLDER
if [ ! -f "$file" ]; then
[ ! -e "$file" ] || fail SPECIAL
[ "$folder" != "$file" ] && [ -d "$folder" ] && [ -x "$folder" ] && fail ENOENT
why "$1"
fi
[ -r "$file" ] || fail EACCES
exec 8<"$file" || exit 1
if [ "$2" = real ]; then
place=$(readlink -n /proc/self/fd/8 2>/dev/null; printf x)
case $place in
"$1x"|"$1 (deleted)x") ;;
x) [ ! -L "$file" ] || fail MOVED ;;
*) fail MOVED ;;
esac
fi
if [ -z "$3$4" ]; then exec cat <&8; fi
dd bs=65536 iflag=skip_bytes,count_bytes "skip=\${3:-0}" \${4:+"count=$4"} <&8`);

/**
 * $2: bytes to come on stdin; $3: `any`, `new`, or the SHA-256 the file must have; $4: name for the new content
 * until it is whole; $5: option that keeps mv and ln out of folders; $6: mode, when it is not that of the old file.
 */
export const WRITE = receivingScript(`size=$2 expected=$3 new=./$4
hash() {
{ sha256sum || shasum -a 256 || openssl dgst -sha256 -r; } <"$name" 2>/dev/null | { read -r sum rest; printf %s "$sum"; }
}
check() {
[ "$expected" != any ] || return 0
if [ -e "$name" ] || [ -L "$name" ]; then actual=$(hash); else actual=none; fi
[ "$expected" = new ] && wanted=none || wanted=$expected
[ "$actual" = "$wanted" ] || fail "CONFLICT $actual"
}
case $expected in any|new) hold "$folder" ;; *) [ -e "$folder" ] || fail 'CONFLICT none'; enter "$folder" ;; esac
like= created=1
[ ! -L "$name" ] || fail LINK
[ ! -d "$name" ] || fail FOLDER
if [ -e "$name" ]; then
[ -f "$name" ] || fail SPECIAL
check
[ -w "$name" ] || fail EACCES
created=0; like=$(stat -c '%a %u:%g' "$name") || exit 1
fi
check
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM PIPE
set -C
dd bs=65536 conv=fsync >"$new" || exit 1
[ "$(wc -c <"$new")" -eq "$size" ] || fail SHORT
[ -z "$6" ] || { chmod "$6" "$new" || exit 1; }
[ -n "$6" ] || [ -z "$like" ] || { chown "\${like#* }" "$new" 2>/dev/null; chmod "\${like%% *}" "$new" || exit 1; }
check
if [ "$expected" = new ]; then
ln $5 "$new" "$name" 2>/dev/null || { check; mv -f $5 "$new" "$name" || exit 1; }
else
[ ! -L "$name" ] || fail LINK
mv -f $5 "$new" "$name" || exit 1
fi
printf '%s %s' "$created" "$made"`);

export const REMOVE = script(`enter "$folder"
if [ -L "$name" ] || { [ -e "$name" ] && [ ! -d "$name" ]; }; then rm -f "$name"
elif [ -d "$name" ]; then rmdir "$name"
else fail ENOENT; fi`);

/** $2: where to; $3 as $5 of the write. The old folder is kept as a descriptor, the new one is the current. */
export const RENAME = script(`enter "$folder"
[ -e "$name" ] || [ -L "$name" ] || fail ENOENT
exec 7<. || exit 1
if [ -d /proc/self/fd ]; then old=/proc/self/fd/7/\${1##*/}; else old=$1; fi
folder=\${2%/*}; hold "\${folder:-/}"
mv -f $3 "$old" "./\${2##*/}"`);

/** A folder as a tar archive on stdout. */
export const PACK = script('cd -- "$1" 2>/dev/null || why "$1"; exec tar -cf - .');

/**
 * Takes a tar archive on stdin into a folder, which is made when it is missing. One that is there already may
 * hold links: the archive is unpacked aside ($2) first, and its parts are put in place folder by folder, each of
 * them entered like any other. $3 as $5 of the write.
 */
export const UNPACK = receivingScript(`target=$1 aside=./$2 option=$3
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
enter "$target\${1:+/$1}"
for each in "$source\${1:+/$1}"/* "$source\${1:+/$1}"/.*; do
case \${each##*/} in .|..) continue ;; esac
if [ -L "$each" ] || [ -f "$each" ]; then mv -f $option "$each" "./\${each##*/}" || exit 1; fi
done
for each in "$source\${1:+/$1}"/* "$source\${1:+/$1}"/.*; do
each=\${each##*/}
case $each in .|..) continue ;; esac
[ -d "$source\${1:+/$1}/$each" ] && [ ! -L "$source\${1:+/$1}/$each" ] || continue
[ ! -L "./$each" ] || fail MOVED
[ -d "./$each" ] || mkdir "./$each" || exit 1
pour "\${1:+$1/}$each"
enter "$target\${1:+/$1}"
done
}
pour ''`);

/**
 * Prints a description of everything below $1 (which must be there, otherwise it ends with 66) each time it has changed; $2: \`-maxdepth 1\` or nothing. No line
 * of it that begins with two slashes can be a part of a name.
 */
export const WATCH = script(`snapshot() {
if [ -d "$1" ]; then cd -- "$1" 2>/dev/null && find . $2 -exec stat -c '//%f %s %y %i %n' {} + ; cd /
else stat -c '//%f %s %y %i .' -- "$1"; fi 2>/dev/null
}
[ -e "$1" ] || exit 66
last=none
while :; do
now=$(snapshot "$1" "$2")
if [ "$now" != "$last" ]; then
last=$now
printf '//begin\\n%s\\n//end\\n' "$now"
fi
sleep 1
done`);
