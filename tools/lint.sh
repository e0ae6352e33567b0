#!/bin/sh
# Checks the style of all of our own files: clang-format, clang-tidy, ruff; each is left out, by name, where it is missing.
# Usage: tools/lint.sh [--fast]   (--fast: without clang-tidy, which compiles every file)
set -u
cd "$(dirname "$0")/.." || exit
status=0
sources=$(git ls-files '*.cpp' '*.h' '*.c' ':!abi/generated' ':!abi/include/simple_torch/*_api.h')

have() { command -v "$1" >/dev/null || { echo "not checked: $1 is missing"; return 1; }; }

if have clang-format; then
  # shellcheck disable=SC2086
  clang-format --dry-run --Werror $sources || status=1
fi
if [ "${1-}" != --fast ] && have clang-tidy; then
  database=build/release/compile_commands.json
  if [ -e "$database" ]; then
    # Only what the release build compiles; headers are seen through it.
    git ls-files '*.cpp' ':!abi/generated' | while read -r file; do
      grep -q "$PWD/$file\"" "$database" && echo "$file"
    done | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/release 2>/dev/null || status=1
  else
    echo "not checked: clang-tidy needs $database (bin/simple build)"
  fi
fi
if have ruff; then
  ruff check . && ruff format --check . || status=1
fi
exit $status
