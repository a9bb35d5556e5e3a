// Families of models: dialects that declare a whole model and name its architectures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"

namespace mir::tools {

/// Inputs and outputs of a model as text.
struct ModelPorts {
  std::string inputs;    ///< as the signature of a module: `%ids:tensor<...>`
  std::string outputs;   ///< `%logits`
  std::string operands;  ///< the names of the inputs

  /// True if the model has an input of this name.
  bool has_input(std::string_view name) const;
};

/// A family of models: its op, and the tables in the head of its dialect.
struct Family {
  std::string name;  ///< of the dialect
  const OpRow* model = nullptr;
  std::vector<std::string> architectures;
  std::vector<std::string> model_types;
  /// Architectures and model types of models with other parts whose decoder of text is this model.
  std::vector<std::string> text_of;
  std::vector<std::string> gguf_architectures;
  /// Names of tensors in checkpoints and in GGUF files, without `.weight` and `.bias`; `$i` is the
  /// number of a layer.
  std::vector<std::pair<std::string, std::string>> weight_names;
  /// Alternative tensor names, tried if the checkpoint lacks the first.
  std::vector<std::pair<std::string, std::string>> other_names;
  std::vector<ModelPorts> signatures;  ///< of the model, at least one

  bool supports(std::string_view architecture, std::string_view model_type) const;
  /// True if the family is the decoder of text of such a model, or all of it.
  bool supports_text(std::string_view architecture, std::string_view model_type) const;
  bool supports_gguf(std::string_view architecture) const;
};

/// Registers the families of the toolkit. No value after reporting.
std::optional<std::vector<Family>> toolkit_families(IRContext& context, Diagnostics& diagnostics);

/// Registers the families that a file declares. No value after reporting, also if it declares none.
std::optional<std::vector<Family>> families_of_file(const std::string& path, IRContext& context,
                                                    Diagnostics& diagnostics);

/// Names the architectures of families, for messages.
std::string architectures_text(std::span<const Family> families, bool of_gguf);

}  // namespace mir::tools
