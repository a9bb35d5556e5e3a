// The model that a command line names, ready to generate.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chat/chat_template.hpp"
#include "generation/generator.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"
#include "mir/weights.hpp"
#include "settings.hpp"
#include "text_facts.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tool.hpp"

namespace mir::tools {

class LoadedModel {
 public:
  /// Imports or reads the model, its weights and its tokenizer, to generate texts of so many
  /// sequences at once. The context must outlive the model. Returns no value after reporting.
  static std::optional<LoadedModel> load(const std::string& path, std::size_t sequences,
                                         const RunTextSettings& settings, IRContext& context,
                                         Diagnostics& diagnostics);

  generation::Generator& generator() { return *generator_; }
  const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }
  const TextFacts& facts() const { return facts_; }
  /// Hash of the module and its weights, for saved sessions. Computed when it is asked for first.
  const std::string& fingerprint();

 private:
  bool load_module(const std::string& path, const RunTextSettings& settings, IRContext& context,
                   Diagnostics& diagnostics);
  bool load_tokenizer(const std::string& path, const RunTextSettings& settings,
                      Diagnostics& diagnostics);
  /// Gives the module caches with a length for each sequence.
  bool batch_sequences(IRContext& context, Diagnostics& diagnostics);
  bool open_session(const RunTextSettings& settings, std::size_t sequences,
                    Diagnostics& diagnostics);

  Module* module_ = nullptr;
  std::string module_text_;
  std::vector<std::string> weight_specs_;
  unsigned threads_ = 1;
  std::optional<generation::Generator> generator_;
  std::optional<tokenizer::Tokenizer> tokenizer_;
  TextFacts facts_;
  std::string fingerprint_;
};

/// The number of threads that the options ask for.
unsigned thread_count(const RunTextSettings& settings);

}  // namespace mir::tools
