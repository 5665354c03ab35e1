# shellcheck shell=sh disable=SC2154,SC2086,SC2164
# Starts the program "$@" below $supervisor in $folder, unless an earlier copy of this request did. $input as $1 of
# supervisor.sh; that of `file` is $uploaded, a file, or $bytes in base64.
umask 077
if mkdir "$folder" 2>/dev/null; then
  cd "$folder" || exit
  if [ -n "$uploaded" ]; then mv -- "$uploaded" in
  elif [ "$input" = file ]; then printf %s "$bytes" | base64 -d > in
  fi
  mkfifo o e b c
  own=; if command -v setsid >/dev/null; then own=setsid; fi
  $own sh -c "$supervisor" sh "$input" "$@" </dev/null >/dev/null 2>&1 &
  echo $! > p
fi
