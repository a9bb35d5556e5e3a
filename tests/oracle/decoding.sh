#!/usr/bin/env bash
# Decodes greedily from the command line and compares the logits of every step with NumPy, which
# chooses its tokens by itself: a single other token would give other logits. Then checks that the
# tokens that the tool says it fed are NumPy's.
#
#   decoding.sh TOOLS SOURCE_ROOT PYTHON
set -eu -o pipefail
tools=$1 root=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=$root/testdata/examples/qwen2_tiny
steps=12

"$python" "$root/scripts/qwen2_float64.py" "$model" --decode $steps --into "$work" > "$work/tokens"
"$tools/mllm-interp" "$model/model.mir" --weights="$model/model.safetensors" \
  --input=ids="$model/ids.npy" --input=positions="$model/positions.npy" \
  --then=$steps --feed='ids=argmax(%32)' --feed='positions=$past' \
  --expect="%32=$work/logits-{run}.npy" --atol=1e-6 --rtol=0 > "$work/runs"
[ "$(grep -c 'equal within tolerance' "$work/runs")" = $((steps + 1)) ]
fed=$(sed -n 's/^run [0-9]*: .*%ids = \[\([0-9]*\)\].*/\1/p' "$work/runs" | tr '\n' ' ')
wanted=$(sed 's/^tokens //; s/ [0-9]*$/ /' "$work/tokens")
if [ "$fed" != "$wanted" ]; then
  echo "the tool fed $fed, NumPy chose $wanted" >&2
  exit 1
fi
