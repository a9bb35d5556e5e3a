#!/usr/bin/env bash
# Decodes greedily from the command line and compares the logits of every step with NumPy, which
# chooses its tokens by itself: a single other token would give other logits. Then checks that the
# tokens that the tool says it fed are NumPy's, and those that modules with a loop of their own
# choose or draw.
#
#   decoding.sh TOOLS SOURCE_ROOT PYTHON
set -eu -o pipefail
tools=$1 root=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=$root/testdata/examples/qwen2_tiny
steps=15  # generate.mir and draw.mir have 16 tokens

"$python" "$root/scripts/qwen2_float64.py" "$model" --decode $steps --into "$work" > "$work/tokens"
"$tools/mllm-interp" "$model/model.mir" --weights="$model/model.safetensors" \
  --input=ids="$model/ids.npy" --input=positions="$model/positions.npy" \
  --then=$steps --feed='ids=argmax(%logits)' --feed='positions=$past' \
  --expect="%logits=$work/logits-{run}.npy" --tolerance=abs=1e-6 > "$work/runs"
[ "$(grep -c 'equal within tolerance' "$work/runs")" = $((steps + 1)) ]
fed=$(sed -n 's/^run [0-9]*: .*%ids = \[\([0-9]*\)\].*/\1/p' "$work/runs" | tr '\n' ' ')
wanted=$(sed 's/^tokens //; s/ [0-9]*$/ /' "$work/tokens")
if [ "$fed" != "$wanted" ]; then
  echo "the tool fed $fed, NumPy chose $wanted" >&2
  exit 1
fi

# generated MODULE WANTED [INPUT]: the tokens of a module that generates.
generated() {
  local kernels found
  for kernels in ref fast; do
    found=$("$tools/mllm-interp" "$model/$1" --weights="$model/model.safetensors" \
      --input=ids="$model/ids.npy" --input='end=[-1]' ${3:-} --kernels=$kernels --elements=64 |
      sed -n 's/^  \[\(.*\)\]$/\1/p' | tr -d ,)
    if [ "tokens $found" != "$2" ]; then
      echo "$1 gives $found, NumPy $2" >&2
      exit 1
    fi
  done
}
generated generate.mir "$(cat "$work/tokens")"
for state in "1 2" "-9 9223372036854775807" "99 -1"; do
  read -r key counter <<< "$state"
  wanted=$("$python" "$root/scripts/qwen2_float64.py" "$model" --draw $((steps + 1)) --random $key $counter \
    --top-p 0.8 --top-k 20 --temperature 1.5)
  generated draw.mir "$wanted" "--input=random=[$key,$counter]"
done
