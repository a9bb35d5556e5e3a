// Translates metadata of GGUF files to keys of config.json.
#include "tools/import/gguf_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mir/codes/import.hpp"
#include "weights/elements.hpp"
#include "weights/formats/gguf_values.hpp"

namespace mir::tools {
namespace {

using nlohmann::json;

/// A metadata key without its architecture prefix, and the key of the config.
struct KeyPair {
  std::string_view gguf, config;
};
constexpr KeyPair kKeys[] = {
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.layer_norm_epsilon", "norm_epsilon"},  // of BERT: layer_norm_eps
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.sliding_window_pattern", "sliding_window_pattern"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"block_count", "num_hidden_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"embedding_scale", "scale_emb"},
    {"expert_count", "num_experts"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
    {"expert_used_count", "num_experts_per_tok"},
    {"feed_forward_length", "intermediate_size"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"rope.freq_base", "rope_theta"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
    {"rope.scaling.attn_factor", "rope_scaling.attention_factor"},
    {"rope.scaling.factor", "rope_scaling.factor"},
    {"rope.scaling.original_context_length", "rope_scaling.original_max_position_embeddings"},
    {"rope.scaling.type", "rope_scaling.rope_type"},
    {"rope.scaling.yarn_beta_fast", "rope_scaling.beta_fast"},
    {"rope.scaling.yarn_beta_slow", "rope_scaling.beta_slow"},
    {"vocab_size", "vocab_size"},
};
/// Keys that repeat what others state, or that have no effect on the outputs.
constexpr std::string_view kRead[] = {"attention.value_length",  "rope.dimension_count",
                                      "rope.dimension_sections", "rope.scaling.finetuned",
                                      "expert_group_count",      "tensor_data_layout"};

json value_of(const GgufMetadata& pair) {
  if (const auto text = pair.string()) return std::string(*text);
  if (const auto flag = gguf_bool(pair)) return *flag;
  if (const auto number = pair.integer()) return *number;
  if (pair.type == GgufValueType::kFloat32 || pair.type == GgufValueType::kFloat64) {
    const json number = json::parse(pair.text(), nullptr, false);
    if (number.is_number()) return number;
  }
  if (const auto numbers = gguf_numbers(pair)) return *numbers;
  return nullptr;
}

class GgufConfigReader {
 public:
  GgufConfigReader(const TensorFile& file, const std::string& path, Diagnostics& diagnostics)
      : file_(file), path_(path), diagnostics_(diagnostics) {}

  std::optional<ModelConfig> read() {
    config_.set_file(path_);
    for (const GgufMetadata& pair : file_.gguf_metadata()) {
      if (pair.key == "general.architecture") architecture_ = pair.string().value_or("");
    }
    if (architecture_.empty()) {
      refuse("key 'general.architecture' is missing");
      return std::nullopt;
    }
    add("architectures", json::array({architecture_}), "general.architecture");
    for (const GgufMetadata& pair : file_.gguf_metadata()) read(pair);
    settle_defaults();
    settle_gemma();
    read_shapes();
    read_rotated_part();
    read_frequencies();
    read_list("rope_factors_short.weight", "rope_scaling.short_factor");
    read_list("rope_factors_long.weight", "rope_scaling.long_factor");
    if (config_.find("rope_scaling.long_factor") != nullptr)
      derive("rope_scaling.rope_type", "longrope", "rope_factors_long.weight");
    if (!is_good_) return std::nullopt;
    return std::move(config_);
  }

 private:
  void refuse(std::string_view why) {
    diagnostics_.error(diag::kConfigUnsupported, {}, config_.about(why));
    is_good_ = false;
  }

  void add(std::string_view path, json value, std::string_view key) {
    config_.add({.path = std::string(path),
                 .value = std::move(value),
                 .at = {},
                 .spelling = std::string(key)});
  }

  void read(const GgufMetadata& pair) {
    const std::string prefix = architecture_ + ".";
    if (!pair.key.starts_with(prefix)) return;  // general, tokenizer, split
    const std::string_view name = std::string_view(pair.key).substr(prefix.size());
    if (std::ranges::find(kRead, name) != std::end(kRead)) return;
    const auto known = std::ranges::find(kKeys, name, &KeyPair::gguf);
    json value = value_of(pair);
    if (value.is_array() && !value.empty() &&
        std::ranges::all_of(value, [&](const json& each) { return each == value.front(); })) {
      value = json(value.front());  // one number for each layer
    }
    if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
        std::fabs(value.get<double>()) < 0x1p53) {
      value = static_cast<std::int64_t>(value.get<double>());
    }
    const bool is_no_scaling = name == "rope.scaling.type" && value == json("none");
    if (is_no_scaling) return;
    if (name == "attention.causal" || name == "pooling_type") return read_mode(name, value, pair);
    const bool is_mixtral = name == "expert_count" && architecture_ == "llama";
    const bool is_eps = name == "attention.layer_norm_epsilon" && architecture_ == "bert";
    add(is_mixtral                 ? "num_local_experts"
        : is_eps                   ? "layer_norm_eps"
        : known == std::end(kKeys) ? name
                                   : known->config,
        std::move(value), pair.key);
  }

  /// Values that make another model of the same architecture: encoders among decoders.
  void read_mode(std::string_view name, const json& value, const GgufMetadata& pair) {
    constexpr int kNone = 0;
    if (name == "pooling_type") {
      if (value != json(kNone)) add("pooling_type", value, pair.key);
      return;
    }
    const bool is_causal = architecture_ != "bert";
    if (value != json(is_causal))
      refuse(fmt::format("key '{}' is {}; a model of this architecture {} causal attention",
                         pair.key, value.dump().substr(0, 60), is_causal ? "has" : "has no"));
  }

  std::optional<double> number(std::string_view path) {
    const ConfigEntry* entry = config_.find(path);
    if (entry == nullptr || !entry->value.is_number()) return std::nullopt;
    return entry->value.get<double>();
  }

  /// Adds an entry that no family must read.
  void derive(std::string_view path, json value, std::string_view key) {
    add(path, std::move(value), key);
    config_.find(path)->is_read = true;
  }

  /// Adds values that files leave out, and those that they state in other units than the config.
  void settle_defaults() {
    if (architecture_ == "qwen3moe") derive("norm_topk_prob", true, "general.architecture");
    derive("rope_theta", 10000.0, "default of 'rope.freq_base'");
    constexpr std::string_view kTrained = "rope_scaling.original_max_position_embeddings";
    if (const auto trained = integer(kTrained)) {
      // Without a type of scaling, it has no effect.
      config_.find(kTrained)->is_read = true;
      derive("original_max_position_embeddings", *trained, "rope.scaling.original_context_length");
    }
    if (architecture_ == "minicpm") {
      // Older files leave out the numbers that all models had.
      derive("scale_emb", 12, "default of 'embedding_scale'");
      if (!number("residual_scale")) derive("scale_depth", 1.4, "default of 'residual_scale'");
      if (!number("logit_scale")) derive("dim_model_base", 256, "default of 'logit_scale'");
    }
    const double hidden = number("hidden_size").value_or(0);
    const double layers = number("num_hidden_layers").value_or(0);
    // Six digits undo the rounding to Float32.
    const auto rounded = [](double value) { return json::parse(fmt::format("{:.6g}", value)); };
    const auto residual_scale = number("residual_scale");
    if (residual_scale && layers > 0) {
      config_.find("residual_scale")->is_read = true;
      derive("scale_depth", rounded(*residual_scale * std::sqrt(layers)), "residual_scale");
    }
    const auto logit_scale = number("logit_scale");
    if (logit_scale && *logit_scale > 0 && std::fabs(hidden / *logit_scale) < 0x1p53) {
      config_.find("logit_scale")->is_read = true;
      derive("dim_model_base", static_cast<std::int64_t>(std::llround(hidden / *logit_scale)),
             "logit_scale");
    }
  }

  /// Norms of Gemma are stored with 1 added. The scale of the scores is known by the model only: it
  /// is that of a head, but of hidden_size / heads in the models of 27 billion parameters.
  void settle_gemma() {
    if (!architecture_.starts_with("gemma")) return;
    add("norms_include_offset", true, "general.architecture");
    if (architecture_ == "gemma") return;
    const auto layers = integer("num_hidden_layers").value_or(0);
    const auto per_head = integer("hidden_size").value_or(0) /
                          std::max<std::int64_t>(integer("num_attention_heads").value_or(1), 1);
    const bool is_largest = layers == 46 || layers == 62;
    const auto width = is_largest ? per_head : integer("head_dim").value_or(per_head);
    derive("query_pre_attn_scalar", width, "general.architecture");
  }

  std::optional<std::int64_t> integer(std::string_view path) {
    const ConfigEntry* entry = config_.find(path);
    if (entry == nullptr || !entry->value.is_number_integer()) return std::nullopt;
    return entry->value.get<std::int64_t>();
  }

  void read_shapes() {
    const auto tensors = file_.tensors();
    if (!tensors) return refuse(tensors.error().message);
    const auto extent = [&](std::string_view name) -> std::optional<std::int64_t> {
      const auto found = std::ranges::find(*tensors, name, &TensorInfo::name);
      if (found == tensors->end() || found->shape.empty()) return std::nullopt;
      return found->shape.front();
    };
    if (const auto rows = extent("token_embd.weight")) {
      if (ConfigEntry* stated = config_.find("vocab_size")) stated->value = *rows;
      add("vocab_size", *rows, "extents of 'token_embd.weight'");
    }
    if (const auto rows = extent("token_types.weight"))
      add("type_vocab_size", *rows, "extents of 'token_types.weight'");
    derive("tie_word_embeddings", !extent("output.weight"), "tensors");
    derive("attention_bias", extent("blk.0.attn_q.bias").has_value(), "tensors");
    derive("use_bias", extent("blk.0.attn_q.bias").has_value(), "tensors");
    derive("mlp_bias", extent("blk.0.ffn_up.bias").has_value(), "tensors");
  }

  /// The rotated extent, where it is not the whole head.
  void read_rotated_part() {
    std::optional<std::int64_t> rotated;
    for (const GgufMetadata& pair : file_.gguf_metadata()) {
      if (pair.key == architecture_ + ".rope.dimension_count") rotated = pair.integer();
    }
    const auto hidden = integer("hidden_size"), heads = integer("num_attention_heads");
    const bool has_heads = hidden && heads && *heads > 0;
    const auto width = integer("head_dim").value_or(has_heads ? *hidden / *heads : 0);
    if (rotated && width > 0 && *rotated != width)
      add("partial_rotary_factor", static_cast<double>(*rotated) / static_cast<double>(width),
          architecture_ + ".rope.dimension_count");
  }

  std::optional<std::vector<double>> numbers_of(std::string_view name) {
    const auto tensor = file_.find(name);
    if (!tensor || !tensor->has_value()) return std::nullopt;
    std::vector<double> numbers;
    if (!is_float((*tensor)->dtype()) || (*tensor)->elements() > 4096) return numbers;
    for (std::int64_t i = 0; i < (*tensor)->elements(); ++i)
      numbers.push_back(element_as_double(**tensor, i));
    return numbers;
  }

  void read_list(std::string_view tensor, std::string_view path) {
    if (auto numbers = numbers_of(tensor)) add(path, *std::move(numbers), tensor);
  }

  /// The scaling of Llama 3 is stored as divisors of the frequencies. Its numbers are found again:
  /// the largest divisor is the factor, and the others are those of every published model.
  void read_frequencies() {
    constexpr std::string_view kTensor = "rope_freqs.weight";
    const auto divisors = numbers_of(kTensor);
    if (!divisors || divisors->empty()) return;
    const double factor = *std::ranges::max_element(*divisors);
    const ConfigEntry* base = config_.find("rope_theta");
    const double theta =
        base != nullptr && base->value.is_number() ? base->value.get<double>() : 1e4;
    constexpr double kLow = 1, kHigh = 4, kContext = 8192;
    const auto count = static_cast<double>(divisors->size());
    for (std::size_t i = 0; i < divisors->size(); ++i) {
      const double frequency = std::pow(theta, -static_cast<double>(i) / count);
      const double wave = 2 * std::numbers::pi / frequency;
      const double share = (kContext / wave - kLow) / (kHigh - kLow);
      const double scaled = share >= 1   ? frequency
                            : share <= 0 ? frequency / factor
                                         : (1 - share) * frequency / factor + share * frequency;
      if (!(std::fabs(frequency / scaled - (*divisors)[i]) <= 1e-4 * factor)) {
        return refuse("tensor 'rope_freqs.weight' has another scaling than that of Llama 3");
      }
    }
    if (factor == 1) return;
    add("rope_scaling.rope_type", "llama3", kTensor);
    add("rope_scaling.factor", factor, kTensor);
    add("rope_scaling.low_freq_factor", kLow, kTensor);
    add("rope_scaling.high_freq_factor", kHigh, kTensor);
    add("rope_scaling.original_max_position_embeddings", kContext, kTensor);
  }

  const TensorFile& file_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  std::string architecture_;
  ModelConfig config_;
  bool is_good_ = true;
};

}  // namespace

std::optional<ModelConfig> read_gguf_config(const TensorFile& file, const std::string& path,
                                            Diagnostics& diagnostics) {
  return GgufConfigReader(file, path, diagnostics).read();
}

std::string_view class_of_gguf(std::string_view architecture, ModelConfig& config) {
  if (architecture != "llama") return {};
  if (config.find("num_local_experts") != nullptr) return "MixtralForCausalLM";
  if (config.find("sliding_window") != nullptr) return "MistralForCausalLM";
  return {};
}

bool has_interleaved_heads(std::string_view architecture) {
  constexpr std::string_view kInterleaved[] = {"llama", "minicpm", "smollm3"};
  return std::ranges::find(kInterleaved, architecture) != std::end(kInterleaved);
}

}  // namespace mir::tools
