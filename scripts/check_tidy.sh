#!/usr/bin/env bash
# Runs the checks of .clang-tidy on the sources of libraries and tools; exits 1 when one finds something.
#
#   scripts/check_tidy.sh [--build-dir DIR] [PATTERN...]
#
# With patterns, only on the files whose path has one of them (`src/verify`, `passes-unity0`). The build
# in DIR-sanitize (DIR is `build` by default) is set up when it is missing: several sources are one file
# there, so that their headers are read once.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source scripts/lib/install.sh

build_dir=build
if [[ ${1-} == --help ]]; then
  sed -n '2,8s/^# \{0,1\}//p' "$0"
  exit 0
fi
if [[ ${1-} == --build-dir ]]; then
  build_dir=${2:?--build-dir needs a folder}
  shift 2
fi
dir=$build_dir-sanitize

install_missing "${build_packages[@]}" clang clang-tidy || exit 1
[[ -f $dir/build.ninja ]] ||
  meson setup "$dir" --werror --native-file scripts/configurations/sanitize.ini || exit 1
# What the sources include besides must be there.
mapfile -t generated < <(ninja -C "$dir" -t targets all | sed -n 's/^\([^ ]*\.[ch]pp\): CUSTOM_COMMAND.*/\1/p')
ninja -C "$dir" "${generated[@]}" >/dev/null || exit 1

patterns=("${@:-}")
mapfile -t files < <(sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$dir/compile_commands.json" |
  grep -vE '(^|/)(tests|grammar|bench)/' | grep -F -- "$(printf '%s\n' "${patterns[@]}")")
if ((${#files[@]} == 0)); then
  echo "scripts/check_tidy.sh: no file has one of the patterns" >&2
  exit 2
fi
cd "$dir" || exit 1
if printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p .; then
  echo "${#files[@]} files, no findings"
else
  exit 1
fi
