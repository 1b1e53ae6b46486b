#!/bin/sh
# Stands in for CRIU where its failures are tried: what it is to do the files beside it say.
here=$(dirname "$0")
verb=$1
while [ $# -gt 0 ]; do
  case $1 in
    --images-dir) images=$2 ;;
    --log-file) log=$2 ;;
    --tree) tree=$2 ;;
    --leave-stopped) stop=yes ;;
  esac
  shift
done
echo "$verb $(cat "$images/mark" 2>/dev/null)" >>"$here/calls"
env >"$here/$verb.env"
if [ -e "$here/$verb.kills" ]; then
  rm "$here/$verb.kills"
  kill -9 $PPID
  exit 1
fi
if [ -e "$here/$verb.clashes" ]; then
  rm "$here/$verb.clashes"
  echo "(00.01) Error (criu/cr-restore.c:1): Can't fork for 4242: File exists" >"$images/$log"
  exit 1
fi
if [ -e "$here/$verb.fails" ]; then
  echo "(00.01) Error (criu/fake.c:1): no luck" >"$images/$log"
  exit 1
fi
if [ "$verb" = dump ] && [ -e "$here/dump.stays" ]; then
  echo $$ >"$here/stays"
  while :; do echo pages >"$images/core-$tree-$((i += 1)).img"; done 2>/dev/null
fi
if [ "$verb" = dump ]; then
  echo pages >"$images/core-$tree.img"
  [ ! -e "$here/pages" ] || cp "$here/pages" "$images/pages-1.img"
  [ -z "$stop" ] || kill -STOP "$tree"
fi
