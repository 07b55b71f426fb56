# Set-up and start, shared by the launchers and test.sh. POSIX sh; to be sourced with $root set to the clone.
#
# Three things are made when they are missing or out of date, under one lock, each said in one line on stderr:
# the dependencies (once per lockfile), a new enough Node.js, the bundle (when sources are newer). When nothing is
# to do, nothing is started to find that out but `cksum` and `find`.
# shellcheck shell=sh

state=$root/.cache/launch
log=$state/setup.log
node=

# launch <name> <package> [arguments…]: sets up what is missing and becomes the program.
launch() {
	name=$1 package=$2
	shift 2
	how=bundle
	case ${1-} in
	--source) how=source && shift ;;
	--dist) how=dist && shift ;;
	--no-env) forget_keys && shift ;;
	esac
	if ! { dependencies_ready && recall_node && { [ "$how" != bundle ] || bundle_ready "$package"; }; }; then
		under_lock make_ready
	fi
	case $how in
	source) exec "$node" --disable-warning=ExperimentalWarning "$root/packages/$package/src/main.ts" "$@" ;;
	dist) [ -r "$root/packages/$package/dist/main.js" ] || fail "there is no bundle yet" "cd '$root' && npm run build" ;;
	esac
	exec "$node" "$root/packages/$package/dist/main.js" "$@"
}

make_ready() {
	dependencies_ready || install_dependencies
	recall_node || find_node
	[ "$how" != bundle ] || bundle_ready "$package" || build_bundle "$package"
}

# under_lock <command…>: the lock belongs to the open file, so the system gives it up when its holder dies.
under_lock() {
	mkdir -p "$state" 2>>/dev/null || fail "cannot write to $root/.cache" "sudo chown -R \$(id -un) '$root'"
	exec 9>>"$state/lock"
	if ! take_lock -n; then
		say "another start is setting up; waiting for it"
		take_lock || fail "cannot take the lock $state/lock" "apt-get install util-linux"
	fi
	"$@"
	exec 9>&-
}

take_lock() {
	if command -v flock >>/dev/null; then
		flock "$@" 9
	else
		perl -e 'use Fcntl ":flock"; open(F, ">>&=9") && flock(F, LOCK_EX | (@ARGV ? LOCK_NB : 0)) || exit 1' -- "$@"
	fi
}

dependencies_ready() {
	lockfile=$(cksum <"$root/package-lock.json")
	[ -r "$root/node_modules/.launch" ] || return 1
	IFS= read -r installed <"$root/node_modules/.launch" || return 1
	[ "$installed" = "$lockfile" ]
}

install_dependencies() {
	command -v npm >>/dev/null || fail "npm is missing" "apt-get install nodejs npm"
	if ! node "$root/scripts/installed.cjs" "$root" 2>>/dev/null; then
		say "installing the dependencies (once per lockfile)"
		run_logged npm ci --include=dev --no-audit --no-fund ||
			fail_logged "the dependencies could not be installed" "cd '$root' && npm ci"
	fi
	printf '%s\n' "$lockfile" >"$root/node_modules/.launch"
}

# The record holds the node that PATH gave and the program chosen for it, which differ behind version managers.
recall_node() {
	[ -r "$state/node" ] || return 1
	{ IFS= read -r asked && IFS= read -r node; } <"$state/node" || return 1
	[ "$asked" = "$(command -v node)" ] && [ -x "$node" ] && ! [ "$asked" -nt "$state/node" ] && ! [ "$node" -nt "$state/node" ]
}

find_node() {
	asked=$(command -v node) || asked=
	if ! { [ -n "$asked" ] && choose_node "$asked"; } && ! choose_node "$root/node_modules/node/bin/node"; then
		fetch_node
	fi
	printf '%s\n%s\n' "$asked" "$node" >"$state/node"
}

# choose_node <program>: takes it when it is Node.js 22.19 or newer.
choose_node() {
	[ -x "$1" ] || return 1
	node=$("$1" -e 'const [major, minor] = process.versions.node.split(".").map(Number);
		if (major < 22 || (major === 22 && minor < 19)) process.exit(1);
		process.stdout.write(process.execPath)' 2>>/dev/null)
}

# The npm package `node` gets its program from an install script; where scripts are off, we fetch the same package.
fetch_node() {
	wanted=$(node -p '(process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node") +
		`-${process.platform}-${process.arch}@${require(process.argv[1]).version}`' "$root/node_modules/node/package.json")
	say "fetching Node.js ${wanted##*@} (the one here is too old)"
	mkdir -p "$state/runtime"
	run_logged npm install --prefix "$state/runtime" --no-save --no-package-lock --no-audit --no-fund "$wanted"
	choose_node "$state/runtime/node_modules/${wanted%@*}/bin/node" ||
		fail_logged "Node.js 22.19 or newer is needed and could not be fetched" "cd '$root' && npm rebuild node --ignore-scripts=false"
}

bundle_ready() {
	dist=$root/packages/$1/dist
	[ -r "$dist/main.js" ] && [ -r "$dist/build.json" ] || return 1
	[ -z "$(find "$root"/packages/*/src "$root"/packages/*/package.json "$root/package-lock.json" "$root/scripts" \
		"$root"/prime-agent-runtime/src "$root"/packages/*/skills \
		\( -name __pycache__ -o -name testing -o -name fixtures \) -prune -o \
		! -name '*.test.ts' -newer "$dist/build.json" -print -quit 2>>/dev/null)" ]
}

build_bundle() {
	say "building packages/$1 (sources are newer than the bundle)"
	run_logged "$node" --disable-warning=ExperimentalWarning "$root/scripts/build.ts" "$1" ||
		fail_logged "the bundle could not be built" "cd '$root' && npm run build"
}

# Provider keys and tokens, by the shape of their names, for trying what happens without any.
forget_keys() {
	for variable in $(env | sed -n 's/^\([A-Z][A-Z0-9_]*\(_API_KEY\|_OAUTH_TOKEN\|_ACCESS_KEY\|_ACCESS_KEY_ID\)\)=.*/\1/p'); do
		unset "$variable"
	done
	unset GH_TOKEN GITHUB_TOKEN COPILOT_GITHUB_TOKEN HF_TOKEN AWS_PROFILE AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK \
		AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_CONTAINER_CREDENTIALS_FULL_URI \
		GOOGLE_APPLICATION_CREDENTIALS
}

run_logged() {
	(cd "$root" && "$@") >"$log" 2>&1 </dev/null
}

say() {
	printf '%s: %s\n' "$name" "$1" >&2
}

# fail <what happened> <the command that helps>
fail() {
	say "$1"
	say "try: $2"
	exit 1
}

fail_logged() {
	tail -n 15 "$log" | sed 's/^/  /' >&2
	say "the whole output is in $log"
	fail "$@"
}
