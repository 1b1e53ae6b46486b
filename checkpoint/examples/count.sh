#!/bin/sh
# A program without the library: adds up the numbers from 1 to N, and goes on where it was.
#
#   count.sh N
#
# Its state is one file in MUSTER_CHECKPOINT_DIR, replaced whole. Asked by SIGUSR1 or SIGTERM, it
# writes that file and exits 85: "checkpointed, run me again" (see again.sh).
set -eu
directory=${MUSTER_CHECKPOINT_DIR:?names no directory}
mkdir -p "$directory"

number=0
sum=0
if [ -f "$directory/count" ]; then
  read -r number sum <"$directory/count"
  echo "count.sh: going on at $number (restart ${MUSTER_RESTART_COUNT:-0})" >&2
fi

save() {
  echo "$number $sum" >"$directory/count.tmp"
  sync "$directory/count.tmp"
  mv "$directory/count.tmp" "$directory/count"
  sync "$directory"
}

asked=
trap 'asked=yes' USR1 TERM
while [ "$number" -lt "$1" ]; do
  number=$((number + 1))
  sum=$((sum + number))
  if [ -n "$asked" ]; then
    save
    exit 85
  fi
  [ $((number % 2000)) -ne 0 ] || save
done
echo "$sum"
