# shellcheck shell=sh
# The shell line that starts every driver. It moves the channel to descriptors 3 and 4, takes away variables
# whose names speak of secrets, and finds the interpreter, all without a file of its own.
#
# Arguments: time zone, names of variables that stay (`:A:B:`), folders whose virtual environments count
# (each ends with `:`; empty for none), kind of interpreter, then what the interpreter gets.
exec 3<&0 4>&1 </dev/null
[ -n "$TZ" ] || TZ=$1
export TZ
hermes_secret() {
export -p | while IFS= read -r line; do
case $line in 'export '*) line=${line#export } ;; 'declare -x '*) line=${line#declare -x } ;; *) continue ;; esac
line=${line%%=*}
case $line in
''|*[!A-Za-z0-9_]*) ;;
*[Kk][Ee][Yy]*|*[Tt][Oo][Kk][Ee][Nn]*|*[Ss][Ee][Cc][Rr][Ee][Tt]*|*[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]*|*[Pp][Aa][Ss][Ss][Ww][Dd]*|*[Cc][Rr][Ee][Dd][Ee][Nn][Tt][Ii][Aa][Ll]*|*[Aa][Uu][Tt][Hh]*)
case $2 in *":$line:"*) ;; *) printf '%s ' "$line" ;; esac ;;
esac
done
}
for name in $(hermes_secret "$@"); do unset -v "$name"; done
folders=$3 kind=$4
shift 4
first() { for name; do command -v "$name" >/dev/null 2>&1 && { program=$name; return; }; done; program=$1; }
case $kind in
python)
program=
while [ -n "$folders" ] && [ -z "$program" ]; do
folder=${folders%%:*} folders=${folders#*:}
for name in "$folder/.venv" "$folder/venv"; do
[ -x "$name/bin/python" ] && { program=$name/bin/python VIRTUAL_ENV=$name PATH=$name/bin:$PATH; export VIRTUAL_ENV PATH; break; }
done
[ -z "$program" ] && [ -z "$folders" ] && [ -n "$VIRTUAL_ENV" ] && [ -x "$VIRTUAL_ENV/bin/python" ] && program=$VIRTUAL_ENV/bin/python
done
[ -n "$program" ] || first python3 python
PYTHONUTF8=1; export PYTHONUTF8 ;;
node) first node nodejs ;;
*) program=$kind ;;
esac
unset -v name line folder folders kind
exec "$program" "$@"
