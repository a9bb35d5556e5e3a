// The module of a model, made from its config.
#pragma once

#include <string>
#include <vector>

#include "tools/import/family.hpp"
#include "tools/import/model_config.hpp"

namespace mir::tools {

/// A text with the one op of a model, and the values of the config that it states.
struct ModelText {
  struct Part {
    std::size_t begin = 0, end = 0;  ///< offsets in `text`
    std::string name;                ///< of the attribute
    std::string key;                 ///< the key of the config, as the file has it
    Span of;                         ///< the value of the config
  };

  std::string text;
  std::vector<Part> parts;
};

/// An attribute of the model that no config has.
struct ChosenValue {
  std::string_view name;
  std::string value;
};

/// Writes the module of a family with the values of a config as attributes, and marks these values
/// as read. Keys that are missing or null are left to the defaults of the family. Reports values of
/// a wrong kind, and chosen values for which the family has no attribute.
ModelText write_model(const Family& family, const ModelPorts& ports, ModelConfig& config,
                      std::span<const ChosenValue> chosen, Diagnostics& diagnostics);

/// The integer that the config or, if it lacks the key, the family states; no value if neither
/// does.
std::optional<std::int64_t> stated_integer(const Family& family, ModelConfig& config,
                                           std::string_view key);

/// Moves diagnostics in `file`, which has the text, to the values of the config that caused them:
/// of several, the last one that the message names. Others are moved to the place of the config.
void point_at_config(Diagnostics& diagnostics, const SourceFile& file, const ModelText& text,
                     const ModelConfig& config);

}  // namespace mir::tools
