#!/bin/sh
# Prints the Python of a virtual environment that holds one of ci/requirements/*.txt, making it on first use.
#
#   ci/environment.sh tool|test|source|native|checkers
#
# The environment lies in .fork/ of the checkout, named by the interpreter and by the digest of its requirements, so a changed
# pin makes a new one. Every distribution is checked by hash. TRITON_FORK_PYTHON names the interpreter to use.
#
# Exit codes: 2 the argument is wrong, 51 the checkout belongs to another user, 52 there is no fitting Python, 53 the
# distributions cannot be had.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
requirements="$root/ci/requirements/${1:?usage: ci/environment.sh tool|test|source|native|checkers}.txt"
[ -f "$requirements" ] || { echo "ci/environment.sh: no requirements file for '$1'" >&2; exit 2; }

find_python() {
    for candidate in ${TRITON_FORK_PYTHON:+"$TRITON_FORK_PYTHON"} python3 python3.13 python3.12 python3.11 python3.14; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    echo "ci/environment.sh: the tool needs CPython 3.11 to 3.14 with venv and pip; set TRITON_FORK_PYTHON to one" >&2
    return 1
}

python=$(find_python) || exit 52
tag=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])')
digest=$(sha256sum "$requirements" | cut -c1-12)
environment="$root/.fork/$1-$tag-$digest"

foreign() {
    owner=$(stat -c %U "$root" 2>/dev/null || echo another)
    echo "ci/environment.sh: cannot $1: the checkout belongs to the user $owner; work in a clone of your own" >&2
    exit 51
}

if [ -e "$environment/complete" ] && ! "$environment/bin/python" -c '' 2>/dev/null; then
    foreign "run $environment/bin/python"
fi
if [ ! -e "$environment/complete" ]; then
    [ -w "$root/.fork" ] || { [ ! -e "$root/.fork" ] && [ -w "$root" ]; } || foreign "write into $root/.fork"
    mkdir -p "$root/.fork"
    # One process makes the environment, others wait for it; the marker is written last, so a killed attempt is made anew.
    exec 9>"$root/.fork/$1.lock"
    flock 9
    if [ ! -e "$environment/complete" ]; then
        echo "Installing the $1 environment (once) ..." >&2
        rm -rf "$environment"
        "$python" -m venv "$environment" >&2
        "$environment/bin/python" -m pip install -qq --disable-pip-version-check --no-input --require-hashes \
            --only-binary :all: --requirement "$requirements" >&2 || {
            echo "ci/environment.sh: could not install $requirements; is the package index reachable (pip config list)?" >&2
            exit 53
        }
        : >"$environment/complete"
    fi
    exec 9>&-
fi
echo "$environment/bin/python"
