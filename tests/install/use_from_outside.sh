#!/usr/bin/env bash
# Installs a build below a scratch folder and uses it there as another project would: the tools from
# its PATH, the library through pkg-config with a plain compiler call, and with CMake.
#
#   use_from_outside.sh SOURCE_DIR BUILD_DIR PREFIX LIBDIR CONSUMER OWN_DIALECT TRACED_MODEL COMPILER
set -eu -o pipefail
source_dir=$1 build_dir=$2 prefix=$3 libdir=$4 consumer=$5 own_dialect=$6 traced_model=$7
shift 7
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
for tool in mllm-check mllm-diff mllm-fmt mllm-parse mllm-opt mllm-import mllm-interp mllm-reduce mllm-run mllm-tokenize; do
  [[ $(type -P "$tool") == "$installed/bin/$tool" ]] || { echo "$tool is not installed" >&2; exit 1; }
done
examples=$installed/share/mllm-ir/examples
expect '' mllm-fmt --check "$examples/qwen2_tiny/model.mir"
for file in doc/mllm-ir/{LICENSE,docs/README.md,docs/diagnostics.md,docs/passes.md} man/man1/mllm-fmt.1 \
  bash-completion/completions/mllm-fmt.bash zsh/site-functions/_mllm-fmt fish/vendor_completions.d/mllm-fmt.fish \
  mllm-ir/editors/vim/syntax/mir.vim; do
  [[ -s $installed/share/$file ]] || { echo "share/$file is not installed" >&2; exit 1; }
done

export PKG_CONFIG_PATH=$installed/$libdir/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs --static mllm-ir)"
"$@" "$consumer" -o consumer "${flags[@]}"
expect $'prints the text it read\n2560 logits as expected' ./consumer "$examples"
"$@" "$own_dialect" -o own_dialect "${flags[@]}"
expect 'a dialect of its own' ./own_dialect
"$@" "$traced_model" -o traced_model "${flags[@]}"
expect 'equal bits' ./traced_model traced.mir
expect '' mllm-parse traced.mir
"$source_dir/tests/install/write_a_pass.py" "$source_dir" "$1"

# The same program finds the library with CMake, by the folder of the installation alone.
if command -v cmake >/dev/null; then
  cmake -S "$source_dir/tests/install/cmake" -B cmake -DCMAKE_CXX_COMPILER="$1" -DCMAKE_PREFIX_PATH="$installed" \
    -DCONSUMER="$consumer" >cmake.log 2>&1 && cmake --build cmake >>cmake.log 2>&1 || { cat cmake.log >&2; exit 1; }
  expect $'prints the text it read\n2560 logits as expected' cmake/consumer "$examples"
elif [[ -v CI ]]; then
  echo "cmake is missing: install cmake" >&2
  exit 1
else
  echo "not tried with CMake: install cmake"
fi
echo "installed, compiled and run"
