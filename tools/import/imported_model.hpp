// Modules of checkpoints, in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mir/module.hpp"
#include "tools/import/checkpoint.hpp"

namespace mir::tools {

/// A model and the way to import it.
struct ImportRequest {
  std::string path;         ///< a Hugging Face folder or a GGUF file
  std::string family_file;  ///< a dialect with the family of the model; empty: one of the toolkit
  /// Imports the decoder of text alone if the model also takes images.
  bool text_only = false;
  /// The module of an encoder has an input that tells tokens from padding.
  bool padding = false;
  bool last_logits = false;
  /// Length of sequences for rotary tables that depend on it; no value: positions of the model.
  std::optional<std::int64_t> context{};
  /// Parameters that are stored in blocks have the type of the blocks.
  bool keeps_blocks = true;
  /// The module has the one op of the model instead of its layers.
  bool keeps_op = false;
};

struct ImportedModel {
  Module* module = nullptr;  ///< of the context
  std::string family;
  ModelFiles files;
  bool has_weights = false;
  BindCounts counts;

  /// A sentence about what was imported.
  std::string summary(const ImportRequest& request) const;
};

/// Makes a verified module of a model. The context has the built-in dialects; families are added to
/// it. Returns no value after reporting errors; warnings are reported in any case.
std::optional<ImportedModel> import_model(const ImportRequest& request, IRContext& context,
                                          Diagnostics& diagnostics);

/// The files of a model in a folder, with the shards of its weights; empty if there is no model.
std::vector<std::string> files_of_model(const std::string& path);

}  // namespace mir::tools
