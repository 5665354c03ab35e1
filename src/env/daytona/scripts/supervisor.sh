# shellcheck shell=sh disable=SC2086
# Runs a program ("$@" after the first) in the current folder, cuts its two streams into numbered pieces (o.0, o.1 …
# and e.0 …, whole when o.0.ok is there), and writes its exit code to x. The fifo b is a bell that rings at news.
# $1: `none`, `file` (its input is the file `in`) or `open` (its input comes in pieces i.0 … until i.end; the fifo c
# rings).
# A group of its own, so that ending one side does not end the other.
own=; if command -v setsid >/dev/null; then own=setsid; fi
input=$1; shift
exec 9<>b
pump() {
  n=0
  while :; do
    dd of=$1.$n bs=65536 count=1 2>/dev/null || : > full
    [ -s $1.$n ] || break
    : > $1.$n.ok
    n=$((n+1))
    echo >&9
    # Pieces that may lie around: MAX_PIECES in scripts.ts.
    while [ -e $1.$((n-64)).ok ]; do sleep 0.02 || sleep 1; done
  done
  : > $1.end
  echo >&9
}
feed() {
  n=0
  while [ ! -e x ]; do
    if [ -e i.$n.ok ]; then cat i.$n || return; rm -f i.$n i.$n.ok; n=$((n+1))
    elif [ -e i.end ]; then return
    else dd if=c of=/dev/null bs=512 count=1 2>/dev/null
    fi
  done
}
run() { $own sh -c 'cd /; exec "$@"' sh "$@" >o 2>e 8>&- 9>&-; }
finish() { echo $1 > x.part; mv x.part x; echo >&9; }
pump o <o &
pump e <e &
case $input in
  none) run "$@" </dev/null; finish $? ;;
  file) run "$@" <in; finish $? ;;
  open)
    # A pipe and not a named one: programs are asked whether they wait for their input.
    exec 8<>c
    feed 2>/dev/null 9>&- | { run "$@"; finish $?; echo >&8; }
    ;;
esac
wait
