# shellcheck shell=bash
# A sandbox inherits whatever the runtime has open; a command gets only its streams and the report. Closed one by one,
# because nothing else of a shell can. Nothing is redirected around the loop: the shell would keep the old stream on a
# descriptor that is listed here.
for HERMES_FD in /proc/self/fd/*; do
HERMES_FD=${HERMES_FD##*/};
case $HERMES_FD in [0123]) ;; *) eval "exec $HERMES_FD>&-" ;; esac;
done;
unset HERMES_FD;
