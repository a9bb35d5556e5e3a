// The config of a model as a GGUF file has it.
#pragma once

#include "mir/diagnostic.hpp"
#include "tools/import/model_config.hpp"
#include "weights/tensor_file.hpp"

namespace mir::tools {

/// Reads the metadata of a GGUF file under the keys of config.json. What conversion moved from the
/// config to tensors is read from them: the extent of the vocabulary, tied embeddings, biases and
/// scales of RoPE. `architectures` has the one of the file. No value after reporting.
std::optional<ModelConfig> read_gguf_config(const TensorFile& file, const std::string& path,
                                            Diagnostics& diagnostics);

/// The class of the model, where files of several classes have one architecture; empty otherwise.
std::string_view class_of_gguf(std::string_view architecture, ModelConfig& config);

/// True if files of the architecture have the halves of each head of queries and keys row by row
/// in turn.
bool has_interleaved_heads(std::string_view architecture);

}  // namespace mir::tools
