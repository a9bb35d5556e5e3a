// Loads the module, the weights and the tokenizer of a model.
#include "loaded_model.hpp"

#include <fmt/format.h>

#include "file_kind.hpp"
#include "generation/saved_session.hpp"
#include "known_passes.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/tokenizers.hpp"
#include "mir/fusion.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"
#include "support/platform/file_system.hpp"
#include "support/platform/memory.hpp"
#include "support/platform/threads.hpp"
#include "tools/import/imported_model.hpp"

namespace mir::tools {
namespace {

/// True for the text of a module, which is read as it is.
bool is_module_text(const std::string& path) {
  return is_regular_file(path) && kind_of_file(path).value_or(FileKind::kIr) == FileKind::kIr;
}

}  // namespace

unsigned thread_count(const RunTextSettings& settings) {
  return settings.threads.if_given().value_or(processor_count());
}

std::optional<LoadedModel> LoadedModel::load(const std::string& path, std::size_t sequences,
                                             const RunTextSettings& settings, IRContext& context,
                                             Diagnostics& diagnostics) {
  LoadedModel model;
  model.threads_ = thread_count(settings);
  if (!model.load_module(path, settings, context, diagnostics)) return std::nullopt;
  if (!model.load_tokenizer(path, settings, diagnostics)) return std::nullopt;
  if (!model.open_session(settings, sequences, diagnostics)) return std::nullopt;
  return model;
}

bool LoadedModel::load_module(const std::string& path, const RunTextSettings& settings,
                              IRContext& context, Diagnostics& diagnostics) {
  weight_specs_ = *settings.weights;
  const auto refuse = [&](DiagCode code, std::string message) {
    diagnostics.error(code, {}, std::move(message));
    return false;
  };
  if (!is_module_text(path)) {
    const ImportRequest request{
        .path = path, .family_file = *settings.family, .text_only = true, .last_logits = true};
    const auto model = import_model(request, context, diagnostics);
    if (!model) return false;
    module_ = model->module;
    if (model->has_weights) weight_specs_.insert(weight_specs_.begin(), model->files.weights);
  } else {
    const auto file = read_source(path, context.sources());
    if (!file) return refuse(file.error().code, file.error().message);
    const auto modules = read_modules(**file, context, diagnostics);
    if (diagnostics.has_errors()) return false;
    if (modules.size() != 1 || !modules.front()->is_portable())
      return refuse(diag::kNotGenerative,
                    fmt::format("'{}' has {}, expected one portable module", path,
                                modules.size() == 1 ? std::string("a dump")
                                                    : fmt::format("{} modules", modules.size())));
    module_ = modules.front();
    if (!verify(*module_, diagnostics, {.report_findings = false})) return false;
  }
  module_text_ = print(*module_);
  return true;
}

bool LoadedModel::load_tokenizer(const std::string& path, const RunTextSettings& settings,
                                 Diagnostics& diagnostics) {
  const bool is_given = settings.tokenizer.is_given();
  const std::string& file = is_given ? *settings.tokenizer : path;
  if (!is_given && is_module_text(path)) {
    diagnostics.error(diag::kNotGenerative, {},
                      fmt::format("'{}' has no tokenizer: give one with --tokenizer=FILE", path));
    return false;
  }
  auto opened = tokenizer::Tokenizer::open(file);
  if (!opened) {
    diagnostics.error(opened.error().code, {}, opened.error().message);
    return false;
  }
  tokenizer_.emplace(*std::move(opened));
  for (const std::string& remark : tokenizer_->remarks())
    diagnostics.remark(diag::kTokenizerUnsupported, {}, fmt::format("'{}': {}", file, remark));
  facts_ = read_text_facts(file, *tokenizer_, diagnostics);
  return !diagnostics.has_errors();
}

bool LoadedModel::batch_sequences(IRContext& context, Diagnostics& diagnostics) {
  const KnownPasses known;
  const SourceFile* steps =
      context.sources().add("pipeline", "inline,eliminate-unused-graphs,batch-sequences");
  if (steps == nullptr) return false;
  const auto pipeline = known.registry.read_pipeline(*steps, diagnostics);
  return pipeline && run_pipeline(*module_, *pipeline, {}, diagnostics);
}

bool LoadedModel::open_session(const RunTextSettings& settings, std::size_t sequences,
                               Diagnostics& diagnostics) {
  const auto weights = open_weights(weight_specs_, {});
  if (!weights) {
    diagnostics.error(weights.error().code, {}, weights.error().message);
    return false;
  }
  if (sequences > 1 && !batch_sequences(module_->context(), diagnostics)) return false;
  const bool is_fast = *settings.kernels == KernelSet::kFast;
  if (is_fast) {
    const KnownPasses known;
    if (!fuse(*module_, Fusion::kAll, known.registry, {}, diagnostics)) return false;
  }
  SessionOptions options;
  options.weights = &*weights;
  options.kernels = *settings.kernels;
  options.activations = *settings.activations;
  options.threads = threads_;
  options.packed_cache = *settings.packed_cache;
  options.checks_packed_cache = static_cast<bool>(settings.check_packed_cache);
  if (const auto memory = machine_memory()) options.weight_memory = *memory / 2;
  auto session = Session::create(*module_, options, diagnostics);
  if (!session) return false;
  generator_ = generation::Generator::create(*std::move(session), diagnostics);
  return generator_.has_value();
}

const std::string& LoadedModel::fingerprint() {
  if (fingerprint_.empty()) {
    std::vector<std::string> generated;
    for (const std::string& spec : weight_specs_)
      if (spec.starts_with("random:") || spec.starts_with("splat:")) generated.push_back(spec);
    fingerprint_ =
        generation::model_fingerprint(generator_->session(), module_text_, generated, threads_);
  }
  return fingerprint_;
}

}  // namespace mir::tools
