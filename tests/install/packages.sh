#!/usr/bin/env bash
# Makes the packages from a build and uses them as a newcomer does: installs the Debian packages into an empty root, runs
# the commands of README.md with them and removes them; runs the same commands from the unpacked archive.
#
#   packages.sh SOURCE_DIR BUILD_DIR
#
# Exits with 77 if a program is missing; in CI this is an error.
set -eu -o pipefail
source_dir=$1 build_dir=$2
PATH=$PATH:/usr/sbin:/sbin
as_root=()
((EUID == 0)) || as_root=(fakeroot)
for program in dh dpkg-buildpackage fish lintian "${as_root[@]}"; do
  command -v "$program" >/dev/null && continue
  echo "$program is missing: install debhelper, dpkg-dev, fakeroot, fish and lintian"
  [[ -v CI ]] && exit 1 || exit 77
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() { echo "$*" >&2; exit 1; }

# follow_readme PREFIX: the commands of the README print what it says, with the tools and examples of an installation.
follow_readme() {
  "$source_dir/tests/docs/run_commands.py" --tools "$1/bin" --examples "$1/share/mllm-ir/examples" \
    --root "$source_dir" README.md >readme.log || { cat readme.log >&2; fail "README.md fails with $1"; }
  [[ $(grep -c '^ok' readme.log) -gt 2 ]] || fail "README.md has no commands"
}

"$source_dir/scripts/package" --build-dir "$build_dir" --output made
# The libraries have a section for each function, and lintian takes more than a quarter of an hour to read them all. It
# reads a copy of the package with libraries of one function.
dpkg-deb --raw-extract made/libmllm-ir-dev_*.deb small
echo 'int one_function(void) { return 0; }' | gcc -xc -c -o one_function.o -
ar cr small.a one_function.o
find small -name '*.a' -exec cp small.a {} \;
(cd small && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
dpkg-deb --root-owner-group --build small libmllm-ir-dev.deb >dpkg.log
lintian --allow-root --fail-on error --tag-display-limit 0 made/mllm-ir_*.deb libmllm-ir-dev.deb >lintian.log 2>&1 || {
  cat lintian.log >&2
  fail "lintian finds errors"
}

# An empty root, in which dpkg knows no package; those that the tools need are in the system that runs them.
mkdir -p root/var/lib/dpkg/{info,updates}
touch root/var/lib/dpkg/{status,available} root/var/log
contents() { find root -path root/var -prune -o -print | sort; }
dpkg_in_root() {
  "${as_root[@]}" dpkg --root="$scratch/root" --log=/dev/null --force-depends,script-chrootless --no-triggers "$@" \
    >dpkg.log 2>&1 || { cat dpkg.log >&2; fail "dpkg $1"; }
}
before=$(contents)
dpkg_in_root --install made/*.deb
installed=$scratch/root/usr
for file in bin/mllm bin/mllm-fmt bin/mllm-lsp include/mir/module.hpp share/man/man1/mllm-opt.1.gz \
  share/bash-completion/completions/mllm-opt.bash share/zsh/site-functions/_mllm-opt \
  share/fish/vendor_completions.d/mllm-opt.fish share/mllm-ir/editors/emacs/mir-mode.el \
  share/doc/mllm-ir/docs/ops/linear.md share/doc/mllm-ir/docs/diagnostics.md share/doc/mllm-ir/docs/passes.md; do
  [[ -s $installed/$file ]] || fail "the packages lack $file"
done
for file in libmir_support.a pkgconfig/mllm-ir.pc cmake/MllmIr/MllmIrConfig.cmake; do
  [[ -s $(find "$installed/lib" -path "*/$file") ]] || fail "the packages lack $file"
done
follow_readme "$installed"
"$source_dir/tests/install/installed_documents.py" "$installed/share/doc/mllm-ir" "$installed/bin"
# offered TOOL LINE: what fish completes the line with.
offered() {
  local script=$installed/share/fish/vendor_completions.d/$1.fish
  HOME=$scratch fish --no-config -c "source '$script'; complete -C '$2'" | cut -f1 | paste -sd' '
}
for case in 'mllm-opt|mllm-opt --color=n|--color=never' 'mllm-opt|mllm-opt -p elim|eliminate-dead-ops' \
  'mllm-weights|mllm-weights conv|convert' 'mllm-fmt|mllm-fmt --sho|--short'; do
  IFS='|' read -r tool line wanted <<<"$case"
  found=$(PATH=$installed/bin:$PATH offered "$tool" "$line")
  [[ " $found " == *" $wanted"* ]] || fail "fish completes '$line' with '$found', expected $wanted"
done
dpkg_in_root --purge mllm-ir libmllm-ir-dev
[[ $(contents) == "$before" ]] || { diff <(echo "$before") <(contents) >&2; fail "removing the packages leaves files"; }

# Another folder, with a blank in its name.
mkdir "any folder"
tar -xf made/*.tar.xz -C "any folder"
follow_readme "$(echo "$scratch/any folder"/mllm-ir-*)"
echo "$(ls made | wc -l) packages made, installed, used and removed"
