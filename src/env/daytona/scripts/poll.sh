# shellcheck shell=sh disable=SC2154,SC2086
# Answers with pieces and news as soon as there are any; `readAnswer` in scripts.ts reads them. $stdout and $stderr:
# pieces of each stream that have arrived; $seen_stdout and $seen_stderr: how many of them an earlier request named
# already, those are deleted. $known: x (exit code), o and e (end of a stream). $wait: `news` or `no`.
# 10 rounds of 2 seconds: WAIT_SECONDS in scripts.ts.
cd "$folder" 2>/dev/null || { echo gone; exit; }
drop() {
  s=$1 n=$2 end=$3
  set --
  while [ $n -lt $end ]; do set -- "$@" $s.$n $s.$n.ok; n=$((n+1)); done
  [ $# = 0 ] || rm -f "$@"
}
drop o $seen_stdout $stdout
drop e $seen_stderr $stderr
# Held open from before the first look: a bell that rings in between must not be lost with its last ringer.
bell=; if [ -p b ] && command -v timeout >/dev/null; then exec 7<>b; bell=1; fi
dead() { [ -s p ] && [ ! -e x ] && read -r pid <p && ! kill -0 "$pid" 2>/dev/null && [ ! -e x ]; }
unknown() { case $known in *$1*) false ;; *) [ -e $2 ] ;; esac; }
news() {
  [ -e o.$stdout.ok ] || [ -e e.$stderr.ok ] || unknown x x || unknown o o.end || unknown e e.end || dead
}
rounds=0
if [ "$wait" = news ]; then rounds=10; fi
until news || [ $rounds = 0 ]; do
  if [ $bell ]; then timeout 2 dd of=/dev/null bs=512 count=1 <&7 2>/dev/null || rounds=$((rounds-1))
  else sleep 1; rounds=$((rounds-1))
  fi
done
# Most of what belongs together arrives together, and every answer is a way there and back.
if [ $rounds != 0 ] && [ ! -e x ]; then sleep 0.03; fi
tries=16
while [ -e x ] && [ $tries != 0 ] && { [ ! -e o.end ] || [ ! -e e.end ]; }; do
  tries=$((tries-1))
  sleep 0.025 || sleep 1
done
give() {
  s=$1 n=$2
  set --
  # MAX_PIECES in scripts.ts.
  while [ -e $s.$n.ok ] && [ $# -lt 64 ]; do set -- "$@" $s.$n; n=$((n+1)); done
  if [ $# != 0 ]; then printf '%s %s ' $s $n; cat "$@" | base64 | tr -d '\n'; echo; fi
  if [ -e $s.end ] && [ ! -e $s.$n.ok ]; then echo "end $s"; fi
}
if dead; then echo dead; fi
if [ -e full ]; then echo full; fi
if [ -e x ] && read -r code <x; then echo "exit $code"; fi
give o $stdout
give e $stderr
echo complete
