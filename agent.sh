#!/bin/sh
# Starts agent from this clone, in the caller's folder, after whatever set-up is missing (scripts/launch.sh).
self=$0
while [ -L "$self" ]; do
	link=$(readlink "$self")
	case $link in
	/*) self=$link ;;
	*) self=$(dirname "$self")/$link ;;
	esac
done
root=$(CDPATH='' cd -P "$(dirname "$self")" && pwd)
. "$root/scripts/launch.sh"
launch agent agent "$@"
