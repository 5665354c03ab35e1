# shellcheck shell=sh disable=SC2154,SC2086
# Removes $folders of programs that are over. A supervisor that still runs is ended; its program has a process group
# of its own and goes on without its streams.
for d in $folders; do
  [ -e $d/x ] && [ -e $d/o.end ] && [ -e $d/e.end ] || { read -r pid <$d/p && kill -9 -- -$pid; }
done 2>/dev/null
rm -rf $folders
