# shellcheck shell=sh disable=SC2086,SC2016
# Looks around, in one start. $1: the token that begins and ends every report, because start-up files of a login shell
# may print anything; $2: the mark that a login shell carries, empty when its variables are not wanted.
token=$1 mark=$2
put() { printf '%s:%s:%s%s;' "$token" "$1" "$2" "$token"; }
put home "$HOME"
[ -n "$HOME" ] || put home "$(cd && pwd)"
put user "$({ id -un || id -u || printf %s "$USER"; } 2>/dev/null | { IFS= read -r line; printf %s "$line"; })"
put system "$(uname -srm 2>/dev/null)"
for tool in bash sh awk cat chmod chown dd env find grep head id kill ln ls mkdir mv readlink realpath rm rmdir \
  sha256sum shasum openssl sleep stat stty sync tail tar timeout touch tr wc; do
  place=$(command -v "$tool" 2>/dev/null) && put has "$tool=$place"
done
case $(mv -T 2>&1) in *invalid*|*unrecognized*|*illegal*) ;; *) put mvT 1 ;; esac
[ "$(printf abc | dd bs=2 count=1 iflag=fullblock 2>/dev/null)" = ab ] && put block 1
if command -v bash >/dev/null 2>&1; then
  set -- bash --noprofile --norc; login='bash -l'
  put version "$(bash --noprofile --norc -c 'echo "$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))"')"
else
  set -- sh; login='sh -l'
fi
printf '%s:vars:' "$token"; "$@" -c 'export -p' </dev/null; printf '%s;' "$token"
put plain ''
[ -z "$mark" ] ||
  HERMES_EXEC_ID=$mark $login -c "printf $token:login:; export -p; printf '$token;'" </dev/null 2>/dev/null
