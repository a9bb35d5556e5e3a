#include "settings.hpp"

namespace mir::tools {

const ToolInfo kPackTool = {
    .name = "mllm-pack",
    .summary =
        "Puts a module with its weights, inputs and expected outputs into one file, which "
        "mllm-interp runs and checks.",
    .operands = "file...",
    .examples = {{{"mllm-pack create model.mir -o model.mirz -w model.safetensors -i ids.npy "
                   "--expect=logits.npy",
                   "pack a model with a run of it"},
                  {"mllm-pack extract model.mirz -o folder", "get its files back"}}},
    .files = "mir mirz",
};

}  // namespace mir::tools
