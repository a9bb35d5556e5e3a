#!/usr/bin/env bash
# Builds for 64-bit ARM and runs the tests of kernels and the bundled models there, in QEMU's emulation.
#
#   scripts/check_arm64.sh [--build-dir DIR]
#
# DIR is `build-arm64` by default. Adds Debian's architecture arm64 for the libraries. The tests hold the fast
# kernels, on NEON, to the reference kernels; the models must give the committed hashes. Exits 1 when something
# differs.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source scripts/lib/install.sh

dir=build-arm64
case ${1-} in
  --help)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  --build-dir) dir=${2:?--build-dir needs a folder} ;;
  ?*)
    echo "scripts/check_arm64.sh: unknown option $1" >&2
    exit 2
    ;;
esac

as_root=()
((EUID == 0)) || as_root=(sudo)
dpkg --print-foreign-architectures | grep -qx arm64 || "${as_root[@]}" dpkg --add-architecture arm64 || exit 1
install_missing "${build_packages[@]}" g++-aarch64-linux-gnu qemu-user \
  {libboost-program-options-dev,libfmt-dev,libhwy-dev,libpcre2-dev,libutf8proc-dev,libxxhash-dev,zlib1g-dev}:arm64 || exit 1
[[ -f $dir/build.ninja ]] ||
  meson setup "$dir" --werror --cross-file scripts/configurations/arm64.ini || exit 1
ninja -C "$dir" tests/unit/kernels/kernels_test tools/mllm-interp || exit 1

result=0
qemu-aarch64 "$dir/tests/unit/kernels/kernels_test" || result=1
interp=("qemu-aarch64" "$(realpath "$dir")/tools/mllm-interp")
committed=$(sort -u testdata/mllm-interp/hashes.out)
while read -r line; do
  grep -qxF -- "$line" <<<"$committed" && continue
  echo "not in testdata/mllm-interp/hashes.out: $line"
  result=1
done < <(
  cd testdata/examples/qwen2_tiny || exit
  "${interp[@]}" ../foo_net.mir -w random:7 -i random:8 2>/dev/null || echo "foo_net.mir failed"
  "${interp[@]}" model.mir -w model.safetensors -i ids=ids.npy -i positions=positions.npy --then=20 \
    --feed='ids=argmax(%logits)' --feed='positions=$past' 2>/dev/null | tail -n 2
)
((result)) && echo "scripts/check_arm64.sh: failed" || echo "scripts/check_arm64.sh: passed"
exit "$result"
