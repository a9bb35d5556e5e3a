#!/usr/bin/env bash
# Runs the four layers of foo_net.mir on random weights and inputs and compares with NumPy, which
# computes them in float64 from the same files.
#
#   foo_net.sh TOOLS SOURCE_ROOT PYTHON
set -eu -o pipefail
tools=$1 root=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

module=$root/testdata/examples/foo_net.mir
"$python" "$root/scripts/foo_net_numpy.py" weights.safetensors x.npy expected.npz --make "$module"
expectations=()
for i in 0 1 2 3; do
  expectations+=("--expect=$i=expected.npz:$i")
done
"$tools/mllm-interp" "$module" --weights=weights.safetensors --input=x.npy \
  "${expectations[@]}" --tolerance=abs=1e-6 --print-outputs=no
