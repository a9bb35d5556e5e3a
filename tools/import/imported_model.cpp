// Makes modules of checkpoints of Hugging Face and GGUF files.
#include "tools/import/imported_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/import.hpp"
#include "mir/dialects.hpp"
#include "mir/parse.hpp"
#include "mir/pass.hpp"
#include "mir/verify.hpp"
#include "tools/import/family.hpp"
#include "tools/import/gguf_config.hpp"
#include "tools/import/model_config.hpp"
#include "tools/import/model_text.hpp"
#include "weight_files.hpp"

namespace mir::tools {
namespace {

/// One import.
class Import {
 public:
  Import(const ImportRequest& request, IRContext& context, Diagnostics& diagnostics)
      : request_(request), path_(request.path), context_(context), diagnostics_(diagnostics) {}

  std::optional<ImportedModel> execute() {
    Module* module = import();
    if (module == nullptr || diagnostics_.has_errors()) return std::nullopt;
    return ImportedModel{.module = module,
                         .family = family_.name,
                         .files = files_,
                         .has_weights = tensors_.has_value(),
                         .counts = counts_};
  }

 private:
  /// Null after reporting.
  Module* import() {
    auto files = find_model_files(path_);
    if (!files) return refuse(files.error());
    files_ = *files;
    if (!files->weights.empty()) {
      auto tensors = TensorFile::open(files->weights);
      if (!tensors) return refuse(tensors.error());
      tensors_ = *std::move(tensors);
    }
    if (!read_config(*files) || !choose_family()) return nullptr;
    const ModelPorts* const ports = choose_ports();
    if (ports == nullptr) return nullptr;
    const ModelText text = write_model(family_, *ports, *config_, chosen_values(), diagnostics_);
    report_unread(*config_, family_.name, diagnostics_);
    if (diagnostics_.has_errors()) return nullptr;
    Module* module = make_module(text);
    if (module == nullptr || request_.keeps_op) return module;
    if (tensors_) bind(*module);
    return module;
  }

  Module* refuse(const Error& error) {
    diagnostics_.error(error.code, {}, error.message);
    return nullptr;
  }

  bool read_config(const ModelFiles& files) {
    is_gguf_ = files.config.empty();
    if (is_gguf_ && tensors_->format() != TensorFormat::kGguf) {
      diagnostics_.error(
          diag::kConfigUnsupported, {},
          fmt::format("'{}' has no config: give the folder of config.json, or a GGUF "
                      "file",
                      path_));
      return false;
    }
    if (is_gguf_) {
      config_ = read_gguf_config(*tensors_, path_, diagnostics_);
      return config_.has_value();
    }
    const auto file = read_source(files.config, context_.sources());
    if (!file) return refuse(file.error()) != nullptr;
    config_ = ModelConfig::read(**file, diagnostics_);
    if (config_) normalise(*config_);
    return config_.has_value();
  }

  /// Attributes that no config has, by the options.
  std::vector<ChosenValue> chosen_values() const {
    std::vector<ChosenValue> values;
    if (request_.last_logits) values.push_back({"last_logits", "true"});
    if (request_.context) values.push_back({"context", fmt::format("{}", *request_.context)});
    return values;
  }

  bool choose_family() {
    const bool is_given = !request_.family_file.empty();
    auto families = toolkit_families(context_, diagnostics_);
    // A family may use the layers of others.
    if (families && is_given)
      families = families_of_file(request_.family_file, context_, diagnostics_);
    if (!families) return false;
    const std::string_view architecture = config_->architecture();
    const std::string_view model_type = config_->text("model_type");
    if (architecture.empty() && model_type.empty() && !is_given) {
      const ConfigEntry* entry = config_->find("model_type");
      diagnostics_.error(
          diag::kConfigMalformed, entry == nullptr ? config_->place() : entry->at,
          fmt::format("'{}' specifies no architecture: expected the name of a class in "
                      "'architectures', or a name in 'model_type'",
                      path_));
      return false;
    }
    const std::string_view special =
        is_gguf_ ? class_of_gguf(architecture, *config_) : std::string_view();
    auto chosen = std::ranges::find_if(*families, [&](const Family& each) {
      if (is_given && families->size() == 1) return true;
      if (!special.empty()) return each.supports(special, {});
      if (request_.text_only && !is_gguf_) return each.supports_text(architecture, model_type);
      return is_gguf_ ? each.supports_gguf(architecture) : each.supports(architecture, model_type);
    });
    // The decoder of a model with other parts may have a class of its own.
    const auto of_text = std::ranges::find_if(*families, [&](const Family& each) {
      return each.supports(config_->architecture("text_config.architectures"),
                           config_->text("text_config.model_type"));
    });
    if (chosen == families->end() && request_.text_only) chosen = of_text;
    if (chosen == families->end()) {
      const bool has_decoder = of_text != families->end();
      const ConfigEntry* entry =
          config_->find(architecture.empty() ? "model_type" : "architectures");
      diagnostics_.error(
          diag::kConfigUnsupported, entry == nullptr ? config_->place() : entry->at,
          fmt::format(
              "'{}': no family has the architecture '{}'; {}", path_,
              architecture.empty() ? model_type : architecture,
              has_decoder
                  ? fmt::format("--part=text imports its decoder, family '{}'", of_text->name)
                  : "supported architectures: " + architectures_text(*families, is_gguf_)));
      return false;
    }
    family_ = *chosen;
    return true;
  }

  /// Null after reporting.
  const ModelPorts* choose_ports() {
    for (const ModelPorts& each : family_.signatures)
      if (!request_.padding || each.has_input("mask")) return &each;
    diagnostics_.error(diag::kConfigUnsupported, {},
                       fmt::format("family '{}' has no input 'mask'", family_.name));
    return nullptr;
  }

  /// The module of the text, verified and expanded.
  Module* make_module(const ModelText& text) {
    const SourceFile* file = context_.sources().add("model.mir", text.text);
    if (file == nullptr) return refuse(SourceManager::full("model.mir"));
    Diagnostics found(0);
    Module* module = expanded(*file, found);
    point_at_config(found, *file, text, *config_);
    const bool has_errors = found.has_errors();
    diagnostics_.append(std::move(found));
    return has_errors ? nullptr : module;
  }

  Module* expanded(const SourceFile& file, Diagnostics& found) {
    const auto modules = read_modules(file, context_, found);
    if (found.has_errors() || modules.size() != 1) return nullptr;
    Module& module = *modules.front();
    const VerifyOptions options{.report_findings = false};
    if (!verify(module, found, options)) return nullptr;
    if (request_.keeps_op) return &module;
    // Layers become graphs; the ops in them that own nothing are replaced by their bodies.
    const SourceFile* steps =
        context_.sources().add("pipeline", "expand-layers,decompose{only-bodies}");
    if (steps == nullptr) {
      const Error full = SourceManager::full("pipeline");
      found.error(full.code, {}, full.message);
      return nullptr;
    }
    PassRegistry registry;
    register_standard_passes(registry);
    const auto pipeline = registry.read_pipeline(*steps, found);
    const auto check = [&](Module& each, Diagnostics& problems) {
      return verify(each, problems, options);
    };
    const bool is_good = pipeline && run_pipeline(module, *pipeline,
                                                  {.verify = check, .verifies_each = false}, found);
    return is_good ? &module : nullptr;
  }

  void bind(Module& module) {
    BindOptions options{.is_gguf = is_gguf_, .keeps_blocks = request_.keeps_blocks};
    if (is_gguf_ && has_interleaved_heads(config_->architecture())) {
      const auto heads = stated_integer(family_, *config_, "num_attention_heads").value_or(0);
      const auto kv_heads = stated_integer(family_, *config_, "num_key_value_heads").value_or(0);
      options.interleaved_heads = heads;
      options.interleaved_kv_heads = kv_heads > 0 ? kv_heads : heads;
    }
    counts_ = bind_parameters(module, family_, *tensors_, path_, options, diagnostics_);
    if (diagnostics_.has_errors()) return;
    Diagnostics found(0);
    if (!verify(module, found, {.report_findings = false})) diagnostics_.append(std::move(found));
  }

  const ImportRequest& request_;
  const std::string& path_;
  IRContext& context_;
  Diagnostics& diagnostics_;
  ModelFiles files_;
  bool is_gguf_ = false;
  std::optional<TensorFile> tensors_;
  std::optional<ModelConfig> config_;
  Family family_;
  BindCounts counts_;
};

}  // namespace

std::string ImportedModel::summary(const ImportRequest& request) const {
  std::string text = fmt::format("'{}': family '{}'", request.path, family);
  if (!has_weights) {
    text += request.keeps_op ? "" : "; the folder has no weights, so only the config was checked";
  } else if (!request.keeps_op) {
    text += fmt::format("; {} parameters, all found", counts.parameters);
    if (counts.in_blocks != 0) text += fmt::format(", {} in blocks", counts.in_blocks);
    if (counts.decoded != 0)
      text += fmt::format(", {} decoded from blocks to Float32", counts.decoded);
    if (counts.unused != 0) text += fmt::format("; {} tensors are not used", counts.unused);
    if (counts.elsewhere != 0)
      text += fmt::format("; {} tensors belong to other parts of the model", counts.elsewhere);
  }
  return text;
}

std::optional<ImportedModel> import_model(const ImportRequest& request, IRContext& context,
                                          Diagnostics& diagnostics) {
  return Import(request, context, diagnostics).execute();
}

std::vector<std::string> files_of_model(const std::string& path) {
  const auto files = find_model_files(path);
  if (!files) return {};
  std::vector<std::string> names = files_behind(files->weights);
  for (const std::string& each : {files->config, files->weights})
    if (!each.empty() && each != path) names.push_back(each);
  return names;
}

}  // namespace mir::tools
