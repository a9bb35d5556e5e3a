// Reads config.json with the place of each value, and settles how its keys are spelt.
#include "tools/import/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/import.hpp"
#include "support/json_offset.hpp"
#include "support/strict_json.hpp"
#include "tools/import/name_patterns.hpp"

namespace mir::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 24;
constexpr std::size_t kMaxConfigDepth = 16;

/// Finds the places of values in a text that is known to be JSON.
class PlaceScanner {
 public:
  PlaceScanner(const SourceFile& file, ModelConfig& config)
      : file_(file), text_(file.text()), config_(config) {}

  void scan(const json& document) { value("", document); }

 private:
  void skip(std::string_view characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }

  void skip_string() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  /// A list, or what ends before the next comma or bracket.
  void skip_value() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (depth == 0 && (c == ',' || c == '}' || c == ']' || c <= ' ')) return;
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && --depth == 0) {
        ++at_;
        return;
      }
      ++at_;
    }
  }

  void value(const std::string& path, const json& node) {
    constexpr std::string_view kGaps = " \t\r\n,:";
    skip(kGaps);
    if (!node.is_object() || node.empty()) {
      const std::size_t begin = at_;
      skip_value();
      const auto base = file_.base();
      config_.add({.path = path,
                   .value = node,
                   .at = {static_cast<SourcePos>(base + begin), static_cast<SourcePos>(base + at_)},
                   .spelling = {}});
      return;
    }
    ++at_;
    for (std::size_t left = node.size(); left != 0; --left) {
      skip(kGaps);
      const std::size_t begin = at_;
      skip_string();
      const auto key = json::parse(text_.substr(begin, at_ - begin)).get<std::string>();
      value(path.empty() ? key : fmt::format("{}.{}", path, key), node.at(key));
    }
    skip(kGaps);
    ++at_;
  }

  const SourceFile& file_;
  std::string_view text_;
  ModelConfig& config_;
  std::size_t at_ = 0;
};

/// A spelling of a key and the one that families read.
struct Respelling {
  std::string_view from, to;
};
constexpr Respelling kRespellings[] = {
    {"rope_parameters.full_attention.rope_theta", "rope_theta"},
    {"rope_parameters.sliding_attention.rope_theta", "rope_local_base_freq"},
    {"rope_parameters.full_attention.", "rope_scaling."},
    {"rope_parameters.rope_theta", "rope_theta"},
    {"rope_parameters.partial_rotary_factor", "partial_rotary_factor"},
    {"rope_parameters.", "rope_scaling."},
    {"rope_scaling.type", "rope_scaling.rope_type"},
    {"rope_scaling.rope_theta", "rope_theta"},
    {"_sliding_window_pattern", "sliding_window_pattern"},
    {"torch_dtype", "dtype"},
    {"vision_config.in_chans", "vision_config.in_channels"},
};

std::string settled(std::string path) {
  for (const auto& [from, to] : kRespellings) {
    const bool is_group = from.ends_with('.');
    if (is_group ? path.starts_with(from) : path == from)
      path = fmt::format("{}{}", to, is_group ? path.substr(from.size()) : std::string());
  }
  return path;
}

/// Keys without an effect on the outputs of a model.
constexpr std::string_view kIgnored[] = {
    "architectures",
    "model_type",
    "text_config.model_type",
    "initializer_range",
    "use_cache",
    "transformers_version",
    "_name_or_path",
    "pretraining_tp",
    "*_dropout",
    "*_pdrop",
    "*dropout_prob",
    "dropout",
    "router_aux_loss_coef",
    "output_router_logits",
    "router_jitter_noise",
    "cache_implementation",
    "gradient_checkpointing",
    "is_llama_config",
    "max_position_embeddings",
    "*_token_id",
    "*_token_ids",
    "dtype",
    "auto_map.*",
    "mup_denominator",
    "_attn_implementation*",
    "attn_implementation",
    "is_decoder",
    "is_encoder_decoder",
    "classifier_dropout",
    "use_return_dict",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "id2label.*",
    "label2id.*",
    "task_specific_params*",
    "problem_type",
    "unsloth_*",
    "max_window_layers",
    "original_max_position_embeddings",
    "tokenizer_class",
    "embd_pdrop",
    "resid_pdrop",
    "summary_*",
    "gguf.*",
    "spatial_patch_size",
};

/// Keys that change what a model computes, whatever the family.
constexpr std::string_view kRefused[] = {
    "quantization_config*",
    "use_bidirectional_attention",
    "sparse_config*",
    "kv_lora_rank",
    "blocksparse_*",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "position_embedding_type",
    "rope_scaling*",
    "partial_rotary_factor",
    "clip_qkv",
    "layer_types",
    "num_experts",
    "num_local_experts",
    "rope_interleaved",
    "norms_include_offset",
};

/// True for values with which a feature is off.
bool is_off(const json& value) {
  if (value.is_array()) {  // such as the types of layers
    return std::ranges::all_of(value,
                               [](const json& each) { return each == json("full_attention"); });
  }
  if (value.is_object()) return value.empty();
  return value.is_null() || value == json(false) || value == json(0) || value == json("default") ||
         value == json("absolute");
}

}  // namespace

std::optional<ModelConfig> ModelConfig::read(const SourceFile& file, Diagnostics& diagnostics) {
  const auto place_at = [&](std::size_t offset) {
    const auto begin =
        static_cast<SourcePos>(file.base() + std::min<std::size_t>(offset, file.size()));
    return Span{begin, begin + 1};
  };
  const auto document = parse_strict_json(file.text(), {.max_bytes = kMaxConfigBytes,
                                                        .max_depth = kMaxConfigDepth,
                                                        .malformed = diag::kConfigMalformed});
  if (!document) {
    diagnostics.error(diag::kConfigMalformed, place_at(refused_json_offset(file.text())),
                      document.error().message);
    return std::nullopt;
  }
  if (!document->is_object()) {
    diagnostics.error(diag::kConfigMalformed, place_at(0), "expected an object with the config");
    return std::nullopt;
  }
  ModelConfig config;
  config.place_ = place_at(file.text().find('{'));
  PlaceScanner(file, config).scan(*document);
  return config;
}

void ModelConfig::add(ConfigEntry entry) {
  if (numbers_.try_emplace(entry.path, entries_.size()).second)
    entries_.push_back(std::move(entry));
}

std::deque<ConfigEntry> ModelConfig::take_entries() {
  numbers_.clear();
  return std::exchange(entries_, {});
}

ConfigEntry* ModelConfig::find(std::string_view path) {
  const auto found = numbers_.find(path);
  return found == numbers_.end() ? nullptr : &entries_[found->second];
}

ConfigEntry* ModelConfig::find_member(std::string_view path) {
  const std::string prefix = fmt::format("{}.", path);
  const auto found = numbers_.lower_bound(prefix);
  const bool is_inside = found != numbers_.end() && found->first.starts_with(prefix);
  return is_inside ? &entries_[found->second] : nullptr;
}

std::string ModelConfig::about(std::string_view message) const {
  return path_.empty() ? std::string(message) : fmt::format("'{}': {}", path_, message);
}

std::string_view ModelConfig::text(std::string_view path) {
  const ConfigEntry* entry = find(path);
  if (entry == nullptr || !entry->value.is_string()) return {};
  return entry->value.get_ref<const std::string&>();
}

std::string_view ModelConfig::architecture(std::string_view path) {
  const ConfigEntry* entry = find(path);
  if (entry == nullptr || !entry->value.is_array() || entry->value.empty()) return {};
  const json& first = entry->value.front();
  return first.is_string() ? std::string_view(first.get_ref<const std::string&>())
                           : std::string_view();
}

std::string_view part_of(std::string_view path) {
  constexpr std::string_view kEnd = "_config.";
  const std::size_t end = path.find(kEnd);
  if (end == path.npos || is_among(path, kRefused)) return {};
  return path.substr(0, end + kEnd.size());
}

void normalise(ModelConfig& config) {
  constexpr std::string_view kText = "text_config.";
  std::deque<ConfigEntry> outer;
  std::deque<ConfigEntry> entries = config.take_entries();
  const bool is_nested = std::ranges::any_of(
      entries, [&](const ConfigEntry& each) { return each.path.starts_with(kText); });
  const auto add = [&](ConfigEntry entry, std::string path) {
    entry.spelling = entry.path;
    entry.path = settled(std::move(path));
    if (entry.path == "rope_scaling.rope_type" && entry.value == json("su"))
      entry.value = "longrope";  // its first name
    config.add(std::move(entry));
  };
  for (ConfigEntry& each : entries) {
    if (each.path.starts_with(kText) && each.path != "text_config.model_type" &&
        each.path != "text_config.architectures") {
      add(each, each.path.substr(kText.size()));
    } else {
      outer.push_back(std::move(each));
    }
  }
  for (ConfigEntry& each : outer) {
    each.is_read = !part_of(each.path).empty() || (is_nested && !is_among(each.path, kRefused));
    const std::string path = each.path;
    add(std::move(each), path);
  }
  // Gemma's class reads the first one; older configs of it have the other one, too.
  ConfigEntry* stale = config.find("hidden_act");
  if (stale != nullptr && config.find("hidden_activation") != nullptr) stale->is_read = true;
}

void report_unread(ModelConfig& config, std::string_view family, Diagnostics& diagnostics) {
  constexpr std::size_t kShown = 10;
  std::size_t warnings = 0;
  for (ConfigEntry& each : config.entries()) {
    const std::string_view key = std::string_view(each.path).substr(part_of(each.path).size());
    if (each.is_read || is_among(each.path, kIgnored) || is_among(key, kIgnored)) continue;
    if (is_off(each.value)) continue;
    if (is_among(each.path, kRefused) || is_among(key, kRefused)) {
      diagnostics.error(
          diag::kConfigUnsupported, each.at,
          config.about(fmt::format("family '{}' does not support '{}'", family, each.name())));
    } else if (++warnings > kShown) {
      diagnostics.skip(Severity::kWarning, diag::kConfigUnread);
    } else {
      diagnostics.warning(
          diag::kConfigUnread, each.at,
          config.about(fmt::format("family '{}' does not read '{}'", family, each.name())));
    }
  }
}

}  // namespace mir::tools
