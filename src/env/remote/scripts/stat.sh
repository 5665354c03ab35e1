# shellcheck shell=sh
# Of what a link leads to; of the link itself when it leads nowhere.
said=$(stat -L -c '%f %s %d:%i %Y|%y' -- "$1" 2>&1) && { printf '%s' "$said"; exit 0; }
case $said in *'oo many levels'*|*'ymbolic link loop'*) fail ELOOP ;; esac
stat -c '%f %s %d:%i %Y|%y' -- "$1"
