// Help texts and examples of mllm-pack.
#include "settings.hpp"

namespace mir::tools {

const ToolInfo kPackTool = {
    .name = "mllm-pack",
    .summary =
        "Packs a module with its weights, inputs and expected outputs into one file for "
        "mllm-interp.",
    .operands = "file...",
    .examples = {{{"mllm-pack create model.mir -o model.mirz -w model.safetensors -i ids.npy "
                   "--expect=logits.npy",
                   "pack a model with its inputs and expected outputs"},
                  {"mllm-pack extract model.mirz -o folder", "extract all files of a pack"}}},
    .files = "mir mirz",
    .files_behind = files_behind,
};

}  // namespace mir::tools
