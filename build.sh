#!/bin/sh
# Builds the fork's wheel and its index into wheelhouse/: ./build.sh --help
exec "$(dirname "$0")/ci/fork.sh" build "$@"
