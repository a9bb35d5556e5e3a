#!/usr/bin/env bash
# Compiles the libraries with another standard library and 32-bit sizes, and tests the portable platform.
#
#   scripts/check_portable.sh [--build-dir DIR]
#
# DIR is `build` by default. In DIR-libcxx, Clang compiles all libraries with LLVM's libc++ for 32 bits. It is the
# newest Clang that has the library: libc++ 14 lacks the algorithms of std::ranges, libc++ 19 std::from_chars of a
# double. In DIR-portable, the libraries use the standard library in the place of POSIX, and the tests of files and
# weights run. Exits 1 when something failed.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source scripts/lib/install.sh

dir=build
case ${1-} in
  --help)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --build-dir) dir=${2:?--build-dir needs a folder} ;;
  ?*)
    echo "scripts/check_portable.sh: unknown option $1" >&2
    exit 2
    ;;
esac

# The newest version of Clang for which there is a package of the library.
newest_clang() {
  apt-cache search --names-only '^libc[+][+]-[0-9]+-dev$' | sed 's/^libc++-\([0-9]*\)-dev .*/\1/' | sort -n | tail -n 1
}

# libraries_of DIR: the libraries of the project, as ninja names them.
libraries_of() {
  ninja -C "$1" -t targets all | sed -n 's/^\(src\/[^:]*\.a\): .*/\1/p'
}

clang=$(newest_clang)
if [[ -z $clang ]]; then
  echo "scripts/check_portable.sh: no package of libc++" >&2
  exit 1
fi
install_missing "${build_packages[@]}" "clang-$clang" "libc++-$clang-dev" "libc++abi-$clang-dev" libc6-dev-i386 lld ||
  exit 1

result=0
libcxx=$dir-libcxx
if [[ ! -f $libcxx/build.ninja ]]; then
  mkdir -p "$libcxx" &&
    sed "s/VERSION/$clang/" scripts/configurations/libcxx.ini >"$libcxx/cross.ini" &&
    meson setup "$libcxx" --werror --cross-file "$libcxx/cross.ini" || exit 1
fi
mapfile -t libraries < <(libraries_of "$libcxx")
ninja -C "$libcxx" "${libraries[@]}" || result=1

portable=$dir-portable
if [[ ! -f $portable/build.ninja ]]; then
  meson setup "$portable" --werror "${whole_build[@]}" --buildtype=plain -Doptimization=0 -Db_ndebug=false \
    -Dplatform=portable || exit 1
fi
ninja -C "$portable" tests/unit/base_test || exit 1
meson test -C "$portable" --no-rebuild --print-errorlogs support weights || result=1
exit "$result"
