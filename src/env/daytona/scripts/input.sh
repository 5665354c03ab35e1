# shellcheck shell=sh disable=SC2154,SC2086,SC2015
# Stores $bytes (base64) as piece $number of the input; answers "full" when the program has not read the earlier ones
# yet, of which 8 may lie around. Without a number: the end of the input.
cd "$folder" 2>/dev/null || exit
if [ -n "$number" ]; then
  tries=100
  while [ -e i.$((number-8)).ok ] && [ ! -e x ]; do
    tries=$((tries-1)); [ $tries = 0 ] && { echo full; exit; }
    sleep 0.1 || sleep 1
  done
fi
read -r pid <p && kill -0 "$pid" 2>/dev/null && [ ! -e x ] || exit
if [ -n "$number" ]; then
  printf %s "$bytes" | base64 -d > i.$number
  : > i.$number.ok
else
  : > i.end
fi
echo >c
