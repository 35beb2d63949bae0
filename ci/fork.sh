#!/bin/sh
# The fork's tool: ci/fork.sh --help
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/environment.sh" tool)
PYTHONPATH="$here" PYTHONSAFEPATH=1 exec "$python" -m fork "$@"
