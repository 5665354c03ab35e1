# shellcheck shell=sh
# Follows every link itself, so that a dangling one and what does not exist come out as well.
rest=$1/; out=; links=0
while [ -n "$rest" ]; do
  part=${rest%%/*}; rest=${rest#*/}
  case $part in ''|.) continue ;; ..) out=${out%/*}; continue ;; esac
  if [ -L "$out/$part" ]; then
    links=$((links + 1)); [ "$links" -le 40 ] || fail ELOOP
    target=$(readlink -n -- "$out/$part"; printf x) || exit 1
    target=${target%x}
    case $target in /*) out= ;; esac
    rest=$target/$rest
  else out=$out/$part; fi
done
printf '%s' "${out:-/}"
