#!/bin/sh
# Checks the style of our own files: English, clang-format, clang-tidy, ruff. A missing tool is reported and skipped.
# Usage: tools/lint.sh [--fast]   (--fast: without clang-tidy, which compiles every file)
set -u
case ${1-} in -h | --help) sed -n '2,3s/^# //p' "$0"; exit 0 ;; esac
cd "$(dirname "$0")/.." || exit
status=0
sources=$(git ls-files '*.cpp' '*.h' '*.hpp' '*.c' ':!abi/include/simple_torch/functions.hpp' ':!abi/generated' ':!abi/include/simple_torch/*_api.h' ':!tests/abi/generated' ':!abi/released')

have() { command -v "$1" >/dev/null || { echo "not checked: $1 is missing"; return 1; }; }

# The glossary in code and documents, sentence length and line width of documents.
python3 tools/check_english.py || status=1

# .clang-format needs version 15 or newer; Debian 12 calls one clang-format-16.
format=clang-format
command -v clang-format-16 >/dev/null && format=clang-format-16
if have "$format"; then
  # shellcheck disable=SC2086
  "$format" --dry-run --Werror $sources || status=1
fi
if [ "${1-}" != --fast ] && have clang-tidy; then
  # The dev build compiles each file by itself.
  database=build/dev/compile_commands.json
  if [ -e "$database" ]; then
    # Only what that build compiles; headers are checked through it.
    git ls-files '*.cpp' ':!abi/generated' | while read -r file; do
      grep -q "$PWD/$file\"" "$database" && echo "$file"
    done | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/dev 2>/dev/null || status=1
  else
    echo "not checked: clang-tidy needs $database (bin/simple build --preset dev)"
  fi
fi
if have ruff; then
  ruff check . && ruff format --check . || status=1
fi
exit $status
