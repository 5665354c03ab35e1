# shellcheck shell=sh disable=SC2086,SC2046
# Prints what the leader ($2) has as its input, and a line for each process with the mark ($1):
# `process|state|group|foreground group|how|where`. When the system call it sleeps in may be seen, `how` is `call` and
# `where` are the places behind the descriptors that it waits to read from, with the memory of `poll` and `select`
# looked into for which those are. Otherwise `how` is `kernel` and `where` the kernel function and the place of its
# input.
IFS=' '
printf 'input|%s\n' "$(readlink "/proc/$2/fd/0")" 2>/dev/null
case $(uname -m) in
  x86_64) reads=' 0 19 ' polls=' 7 271 ' selects=' 23 270 ' epolls=' 232 281 441 ' ;;
  aarch64|arm64) reads=' 63 65 ' polls=' 73 ' selects=' 72 ' epolls=' 22 441 ' ;;
  *) reads= polls= selects= epolls= ;;
esac
# Bytes of a process's memory as numbers.
memory() { dd if="$f/mem" bs=64 iflag=skip_bytes,count_bytes skip="$(($1))" count="$2" | od -An -v -tu1 | tr '\n' ' '; }
polled() { while [ $# -ge 8 ]; do [ $(($5 & 1)) = 1 ] && printf '%s ' $(($1 + 256 * $2)); shift 8; done; }
selected() { n=0; for bit in 1 2 4 8 16 32 64 128; do [ $((${1:-0} & bit)) -ne 0 ] && printf '%s ' $n; n=$((n + 1)); done; }
registered() { while read -r word number rest; do [ "$word" = tfd: ] && printf '%s ' "$number"; done <"$f/fdinfo/$(($1))"; }
describe() {
  read -r line <"$f/stat" || return
  set -- ${line##*) }
  row="process|$1|$3|$6"
  call=; read -r call <"$f/syscall"
  set -- $call
  if [ -n "$1" ] && [ -n "$reads" ] && [ "$1" != running ]; then
    case $1 in
      -1) waits= ;;
      *)
        waits=
        case $reads in *" $1 "*) waits=$(($2)) ;; esac
        case $polls in *" $1 "*) waits=$(polled $(memory "$2" $((($3 > 16 ? 16 : $3) * 8)))) ;; esac
        case $selects in *" $1 "*) waits=$(selected $(memory "$3" 1)) ;; esac
        case $epolls in *" $1 "*) waits=$(registered "$2") ;; esac
        ;;
    esac
    printf '%s|call|' "$row"
    for d in $waits; do printf '%s ' "$(readlink "$f/fd/$d")"; done
  else
    place=; read -r place <"$f/wchan"
    printf '%s|kernel|%s %s' "$row" "${place:-0}" "$(readlink "$f/fd/0")"
  fi
  printf '\n'
}
for f in $(grep -l -z -x -F -e "$1" /proc/[0-9]*/environ | while read -r f; do printf '%s ' "${f%/environ}"; done); do
  describe
done 2>/dev/null
