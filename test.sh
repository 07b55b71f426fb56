#!/bin/sh
# Sets up what is missing, then runs the checks and every test; `./test.sh <pattern>` runs only matching test files.
# The last line is `N passed, N failed`, with `, N skipped` when tests were left out; the exit code is 0 only when
# something ran and nothing failed.
root=$(CDPATH='' cd -P "$(dirname "$0")" && pwd)
. "$root/scripts/launch.sh"
name=test how=source

# Brings the Debian packages of scripts/debian-packages that are not there.
bring_packages() {
	missing=
	while IFS='	' read -r package command _; do
		case $package in '' | '#'*) continue ;; esac
		command -v "$command" >>/dev/null || missing="$missing $package"
	done <"$root/scripts/debian-packages"
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" = 0 ] && command -v apt-get >>/dev/null; then
		say "installing the Debian packages$missing"
		# shellcheck disable=SC2086
		run_logged apt_get update && run_logged apt_get install -y --no-install-recommends $missing && return 0
		say "the packages could not be installed (the whole output is in $log)"
	fi
	while IFS='	' read -r package command without; do
		case " $missing " in *" $package "*) say "left out, because $package is missing: $without" ;; esac
	done <"$root/scripts/debian-packages"
	say "try: sudo apt-get install$missing"
}

apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

# run <result> <command…>: shows the output and keeps it, with the exit code beside it.
run() {
	result=$1
	shift
	say "$result"
	{
		"$@" 2>&1
		echo $? >"$results/$result.code"
	} </dev/null | tee "$results/$result.txt"
}

run_python() {
	PYTHONPATH=$root/prime-agent-runtime/src PYTHONDONTWRITEBYTECODE=1 \
		"${PRIME_AGENT_TEST_PYTHON:-python3}" -m unittest discover -s "$root/prime-agent-runtime/tests"
}

build_bundles() {
	code=0
	for main in packages/*/src/main.ts; do
		package=${main%/src/main.ts}
		package=${package##*/}
		bundle_ready "$package" || "$node" --disable-warning=ExperimentalWarning scripts/build.ts "$package" || code=1
	done
	return $code
}

# What ends before the tally has still to close with the line that everyone reads.
finish() {
	[ -z "$results" ] || rm -rf "$results"
	[ -n "$tallied" ] || echo "0 passed, 1 failed"
}
results='' tallied=''
trap finish EXIT

if { [ -d "$state" ] || mkdir -p "$state"; } 2>>/dev/null; then bring_packages; fi
under_lock make_ready
PATH=$(dirname "$node"):$root/node_modules/.bin:$PATH
results=$(mktemp -d)
cd "$root" || exit 1

run check:build build_bundles
if [ $# = 0 ]; then
	for check in format types imports unused size; do run "check:$check" npm run --silent "check:$check"; done
	[ ! -d prime-agent-runtime/tests ] || run unittest run_python
fi
run vitest vitest run --reporter=default --reporter=json --outputFile.json="$results/vitest.json" "$@"
tallied=yes
"$node" --disable-warning=ExperimentalWarning scripts/tally.ts "$results"
