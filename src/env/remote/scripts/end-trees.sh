# shellcheck shell=sh disable=SC2086,SC2048
# Ends every process that carries one of the marks, descends from one that does, or is in the group of a wrapper ($1,
# blank-separated), and the wrappers last. The other arguments are marks. Prints what is left as `pid name` lines.
# Builtins are enough, so that it works in the smallest image; grep and awk make it quick.
set -f; groups=$1; shift; marks=$*; set +f
IFS=' '
printf 'a\0b\0' | grep -q -z -x -F -e b 2>/dev/null; grep=$?
[ "$(echo 'a) b' | awk '{ sub(/^.*\) /, ""); print }' 2>/dev/null)" = b ]; awk=$?
rest() { sleep "$1" 2>/dev/null || sleep 1 2>/dev/null; }
marked() {
  if [ "$grep" = 0 ]; then
    for m in $marks; do grep -l -z -x -F -e "$m" /proc/[0-9]*/environ; done
  else
    for f in /proc/[0-9]*/environ; do
      text=; while IFS= read -r line || [ -n "$line" ]; do text="$text$line "; line=; done <"$f"
      for m in $marks; do case $text in *"$m"*) echo "$f" ;; esac; done
    done
  fi | while read -r f; do f=${f%/environ}; printf '%s ' "${f#/proc/}"; done
}
# Finds the living members: those that are marked, in a wrapper's group, or descend from one that is. The older
# first: a shell must not see its child end and go on to the next command.
members() {
  known=" $(marked)"
  if [ "$awk" = 0 ]; then
    found=$(cat /proc/[0-9]*/stat | awk -v marked="$known" -v groups=" $groups " -v left_out=" $$ $groups " '
      {
        pid = $1; line = $0; sub(/^.*\) /, "", line); split(line, field, " ")
        if (pid !~ /^[0-9]+$/ || field[1] ~ /[ZX]/ || index(left_out, " " pid " ")) next
        parent[pid] = field[2]
        if (index(groups, " " field[3] " ") || index(marked, " " pid " ")) known[pid] = 1
      }
      END {
        do {
          more = 0
          for (pid in parent) if (!(pid in known) && (parent[pid] in known)) { known[pid] = 1; more = 1 }
        } while (more)
        for (pid in known) {
          n++
          for (i = n; i > 1 && order[i - 1] > pid + 0; i--) order[i] = order[i - 1]
          order[i] = pid + 0
        }
        for (i = 1; i <= n; i++) printf "%d ", order[i]
      }')
    return
  fi
  table=
  for f in /proc/[0-9]*; do
    read -r line <"$f/stat" || continue
    pid=${f#/proc/}; set -- ${line##*) }
    case $1 in Z|X) continue ;; esac
    case " $$ $groups " in *" $pid "*) continue ;; esac
    table="$table $pid,$2,$3"
  done
  more=1
  while [ -n "$more" ]; do
    more=
    for row in $table; do
      pid=${row%%,*}; group=${row##*,}; parent=${row#*,}; parent=${parent%,*}
      case $known in *" $pid "*) continue ;; esac
      case " $groups " in *" $group "*) known="$known$pid "; more=1; continue ;; esac
      case $known in *" $parent "*) known="$known$pid "; more=1 ;; esac
    done
  done
  found=
  for row in $table; do case $known in *" ${row%%,*} "*) found="$found ${row%%,*}" ;; esac; done
}
look() { members 2>/dev/null; }
send() { [ -z "$found" ] || kill "-$1" $found; } 2>/dev/null
if [ -r /proc/self/stat ]; then
  look; send TERM; send CONT
  for n in 1 1 2 3 3 3 3 3; do [ -n "$found" ] || break; rest "0.0$((n * 3))"; look; done
  n=0; while [ -n "$found" ] && [ $n -lt 60 ]; do n=$((n + 1)); send KILL; rest 0.05; look; done
  # A wrapper ends by itself when its command has; one that has not even begun must not begin now.
  for pid in $groups; do [ -d "/proc/$pid" ] && rest 0.2 && kill -KILL "$pid" 2>/dev/null; done
  for pid in $found; do
    { read -r name <"/proc/$pid/comm"; } 2>/dev/null || name='?'
    printf '%s %s\n' "$pid" "$name"
  done
else
  send_groups() { for g in $groups; do kill "-$1" "-$g"; done 2>/dev/null; }
  alive() { for g in $groups; do kill -0 "-$g" 2>/dev/null && return 0; done; return 1; }
  send_groups TERM; send_groups CONT
  n=0; while alive && [ $n -lt 16 ]; do n=$((n + 1)); rest 0.06; done
  n=0; while alive && [ $n -lt 60 ]; do n=$((n + 1)); send_groups KILL; rest 0.05; done
  for g in $groups; do kill -0 "-$g" 2>/dev/null && printf '%s process group\n' "$g"; done
fi
printf 'done\n'
