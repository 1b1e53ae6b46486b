#!/bin/sh
# Runs a program in a batch job; when it exits 85 ("checkpointed, run me again"), the job goes back
# to the queue, and with its next attempt the program goes on from its checkpoint.
#
#   muster submit --wrap 'again.sh count.sh 1000000'
#
# Signals that ask for a checkpoint reach the program, too. Any other exit code is the job's.
set -u
"$@" &
program=$!
trap 'kill -USR1 "$program"' USR1 TERM
# A wait that a signal broke off is not the program's end.
code=0
while :; do
  wait "$program"
  code=$?
  kill -0 "$program" 2>/dev/null || break
done
[ "$code" -eq 85 ] || exit "$code"
[ -z "${MUSTER_JOB_ID:-}" ] || "${MUSTER:-muster}" requeue "$MUSTER_JOB_ID"
exit 85
