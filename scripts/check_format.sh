#!/usr/bin/env bash
# Holds every tracked C++ file to .clang-format. --fix rewrites instead of complaining.
# Exits 77 (skipped) where there is no git checkout or no clang-format; in CI that is a failure.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

skip() {
  echo "check_format: $1" >&2
  [[ -n ${CI:-} ]] && exit 1
  exit 77
}
command -v clang-format >/dev/null || skip "clang-format is not installed"
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || skip "not a git checkout"

mode=(--dry-run -Werror)
[[ ${1:-} == --fix ]] && mode=(-i)
git ls-files -z -- '*.cpp' '*.hpp' '*.h' | xargs -0 --no-run-if-empty clang-format "${mode[@]}"
