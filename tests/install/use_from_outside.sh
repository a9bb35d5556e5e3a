#!/usr/bin/env bash
# Installs a build below a scratch folder and uses it there as another project would: the tools from
# its PATH, the library through pkg-config with a plain compiler call.
#
#   use_from_outside.sh SOURCE_DIR BUILD_DIR PREFIX LIBDIR CONSUMER OWN_DIALECT COMPILER
set -eu -o pipefail
source_dir=$1 build_dir=$2 prefix=$3 libdir=$4 consumer=$5 own_dialect=$6
shift 6
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
installed=$root$prefix

DESTDIR=$root meson install -C "$build_dir" --no-rebuild --quiet
cd "$root"

# expect WANTED COMMAND...: the command succeeds and prints exactly this.
expect() {
  local wanted=$1 found
  shift
  found=$("$@")
  [[ $found == "$wanted" ]] || { printf '%s\nprinted: %s\nwanted: %s\n' "$*" "$found" "$wanted" >&2; exit 1; }
}

PATH=$installed/bin:$PATH
for tool in mllm-check mllm-diff mllm-fmt mllm-parse mllm-opt mllm-interp mllm-make-decoder mllm-reduce; do
  [[ $(type -P "$tool") == "$installed/bin/$tool" ]] || { echo "$tool is not installed" >&2; exit 1; }
done
examples=$installed/share/mllm-ir/examples
expect '' mllm-fmt --check "$examples/qwen2_tiny/model.mir"
for file in doc/mllm-ir/LICENSE man/man1/mllm-fmt.1 bash-completion/completions/mllm-fmt.bash; do
  [[ -s $installed/share/$file ]] || { echo "share/$file is not installed" >&2; exit 1; }
done

export PKG_CONFIG_PATH=$installed/$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
read -ra flags <<<"$(pkg-config --cflags --libs --static mllm-ir)"
"$@" "$consumer" -o consumer "${flags[@]}"
expect $'prints the text it read\n2560 logits as expected' ./consumer "$examples"
"$@" "$own_dialect" -o own_dialect "${flags[@]}"
expect 'a dialect of its own' ./own_dialect
"$source_dir/tests/install/write_a_pass.py" "$source_dir" "$1"
echo "installed, compiled and run"
