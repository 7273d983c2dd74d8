# Sourced by the scripts of this folder: virtual environments with pinned packages, in the cache outside the tree.
cache=${NEXUS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nexus-operator}

# base prints the name of a Python that is new enough.
base() {
	for python in python3 python3.13 python3.12 python3.11 python3.10; do
		if "$python" -c 'import sys, venv; assert sys.version_info >= (3, 10)' 2>/dev/null; then
			echo "$python"
			return
		fi
	done
	echo 'docs: no Python 3.10 or later with the venv module (Debian: apt-get install python3-venv)' >&2
	return 1
}

# environment sets env to the folder of a virtual environment with the packages of a requirements file, and creates it the first time.
environment() {
	local requirements=$1 python key
	python=$(base)
	key=$({ cat "$requirements"; "$python" -V; } | "$python" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:16])')
	env=$cache/docs/$key
	mkdir -p "$cache/docs"
	exec 9>"$cache/docs/lock" # of two concurrent runs one waits
	flock 9 2>/dev/null || true
	# A virtual environment cannot be moved, so a marker file, written last, shows that it is complete.
	if ! [ -e "$env/complete" ]; then
		echo "docs: installing the packages of $requirements into $env"
		rm -rf "$env"
		"$python" -m venv "$env"
		"$env/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$requirements"
		touch "$env/complete"
	fi
}
