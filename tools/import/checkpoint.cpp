// Finds parameters among the tensors of a checkpoint, by names of today and by older or fused ones.
#include "tools/import/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "mir/attribute_keys.hpp"
#include "mir/codes/import.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "passes/types/parameter_users.hpp"
#include "support/suggest.hpp"
#include "tools/import/name_patterns.hpp"
#include "weights/blocks.hpp"
#include "weights/checks.hpp"
#include "weights/fit.hpp"
#include "weights/stored_view.hpp"

namespace mir::tools {
namespace {

/// Parameters whose rows follow each other in one tensor, in this order.
struct FusedParts {
  std::string_view whole;
  std::string_view whole_in_gguf;
  std::vector<std::string_view> parts;
};
const FusedParts kFused[] = {
    {"self_attn.qkv_proj",
     "attn_qkv",
     {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {"mlp.gate_up_proj", "ffn_up", {"mlp.gate_proj", "mlp.up_proj"}},
};

/// Matrices of experts in one tensor [experts, rows, columns], whose rows follow each other.
struct FusedExperts {
  std::string_view whole;
  std::vector<std::string_view> parts;
};
const FusedExperts kFusedExperts[] = {
    {"gate_up_proj", {"gate_proj", "up_proj"}},
    {"gate_up_proj", {"w1", "w3"}},
    {"down_proj", {"down_proj"}},
    {"down_proj", {"w2"}},
};

/// Ends of names, and what they were in older checkpoints.
constexpr std::pair<std::string_view, std::string_view> kOlderParts[] = {
    {".LayerNorm.weight", ".LayerNorm.gamma"}, {".LayerNorm.bias", ".LayerNorm.beta"}};

/// Buffers that are computed, and weights of tied heads.
constexpr std::string_view kIgnoredTensors[] = {
    "*.rotary_emb.inv_freq",    "*.attn.bias",       "*.masked_bias",
    "*embeddings.position_ids", "rope_freqs.weight", "rope_factors_long.weight",
    "rope_factors_short.weight"};
/// Tensors of parts that are not the decoder or the encoder.
constexpr std::string_view kOtherParts[] = {"visual.*",
                                            "model.visual.*",
                                            "vision_tower.*",
                                            "model.vision_tower.*",
                                            "vision_model.*",
                                            "model.vision_model.*",
                                            "multi_modal_projector.*",
                                            "model.multi_modal_projector.*",
                                            "connector.*",
                                            "model.connector.*",
                                            "image_newline",
                                            "model.image_newline",
                                            "v.*",
                                            "mm.*",
                                            "cls.*",
                                            "bert.pooler.*"};

constexpr std::string_view kTower[] = {"visual.*", "model.visual.*"};

/// A tensor and the part of it that a parameter may be.
struct Candidate {
  std::string tensor;
  std::optional<StoredView::Rows> rows = {};
  std::int64_t all_rows = 0;  ///< that the tensor must have; 0: at least those of the part
  Shape whole = {};           ///< extents that the tensor must have; empty: any
};

/// A number in a name, such as that of a layer, where a pattern has a word that begins with `$`.
struct Hole {
  std::string_view word;
  std::string number;
};

/// Matches a name with a pattern; no value if they differ.
std::optional<std::vector<Hole>> holes_of(std::string_view pattern, std::string_view name) {
  std::vector<Hole> holes;
  while (!pattern.empty()) {
    if (pattern.front() != '$') {
      if (name.empty() || name.front() != pattern.front()) return std::nullopt;
      pattern.remove_prefix(1);
      name.remove_prefix(1);
      continue;
    }
    const std::size_t word = std::min(pattern.find('.'), pattern.size());
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    if (digits == 0 || digits > 9) return std::nullopt;
    holes.push_back({pattern.substr(0, word), std::string(name.substr(0, digits))});
    pattern.remove_prefix(word);
    name.remove_prefix(digits);
  }
  return name.empty() ? std::optional(holes) : std::nullopt;
}

/// A tensor of a GGUF file, and which of several equal parts of it a parameter is.
struct GgufName {
  std::string tensor;
  std::optional<std::int64_t> part;
};

/// Returns the name of a parameter in GGUF files; no value if the family has none. A translation
/// that ends with `.$e` means part number e of the tensor.
std::optional<GgufName> gguf_name(const Family& family, std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos) return std::nullopt;
  for (const auto& [pattern, translated] : family.weight_names) {
    const auto holes = holes_of(pattern, name.substr(0, dot));
    if (!holes) continue;
    GgufName result{translated, std::nullopt};
    for (const Hole& hole : *holes) {
      const std::size_t at = result.tensor.rfind(hole.word);
      if (at == result.tensor.npos) continue;
      const bool is_part = at > 0 && at + hole.word.size() == result.tensor.size() &&
                           holes->size() > 1 && hole.word != holes->front().word;
      if (is_part) {
        result.part = std::stoll(hole.number);
        result.tensor.resize(at - 1);
      } else {
        result.tensor.replace(at, hole.word.size(), hole.number);
      }
    }
    result.tensor += name.substr(dot);
    return result;
  }
  return std::nullopt;
}

class Binder {
 public:
  Binder(Module& module, const Family& family, const TensorFile& file, const std::string& path,
         const BindOptions& options, Diagnostics& diagnostics)
      : module_(module),
        family_(family),
        file_(file),
        path_(path),
        options_(options),
        diagnostics_(diagnostics),
        rewriter_(module) {}

  BindCounts bind() {
    auto tensors = file_.tensors();
    if (!tensors) {
      diagnostics_.error(tensors.error().code, {}, tensors.error().message);
      counts_.is_good = false;
      return counts_;
    }
    for (TensorInfo& each : *tensors) {
      const std::string name = each.name;
      stored_.emplace(name, std::move(each));
    }
    std::vector<Op*> registers;
    walk<RegisterOp>(module_, [&](RegisterOp op) {
      const Value* value = op.value();
      if (value == nullptr || !value->has_symbol() || value->tensor_type() == nullptr) return;
      registers.push_back(op.op());
      extents_.emplace(module_.context().text(value->symbol()), shape_of(*value->tensor_type()));
    });
    for (Op* each : registers) bind(*each);
    report_transposed();
    report_unused();
    return counts_;
  }

 private:
  static Shape shape_of(const TensorType& type) {
    Shape shape;
    for (const Dim dim : type.dims()) shape.push_back(dim.is_constant() ? dim.constant() : -1);
    return shape;
  }

  /// The names that a tensor may have, the likeliest first.
  std::vector<std::string> names_of(const std::string& name) const {
    if (options_.is_gguf) {
      const auto translated = gguf_name(family_, name);
      return translated ? std::vector{translated->tensor} : std::vector<std::string>();
    }
    std::vector<std::string> names = {name, "language_model." + name, "bert." + name};
    constexpr std::string_view kModel = "model.";
    if (name.starts_with(kModel)) {
      const std::string rest = name.substr(kModel.size());
      names.push_back("model.language_model." + rest);
      names.push_back("model.text_model." + rest);
      names.push_back(rest);
    } else {
      names.push_back("model." + name);
    }
    for (const auto& [of, other] : family_.other_names) {
      if (of == name) names.push_back(other);
    }
    // Newer ones have the parts of Mixtral under the names of other families.
    constexpr std::string_view kSparse = ".block_sparse_moe.";
    if (const std::size_t at = name.find(kSparse); at != name.npos)
      names.push_back(std::string(name).replace(at, kSparse.size(), ".mlp."));
    // Older checkpoints call norm weights gamma and beta.
    for (const auto& [part, older] : kOlderParts) {
      if (!name.ends_with(part)) continue;
      for (std::size_t i = 0, count = names.size(); i < count; ++i)
        names.push_back(names[i].substr(0, names[i].size() - part.size()) + std::string(older));
    }
    return names;
  }

  std::vector<Candidate> candidates_for(const std::string& name) const {
    std::vector<Candidate> candidates;
    const auto translated = options_.is_gguf ? gguf_name(family_, name) : std::nullopt;
    if (translated && translated->part) {
      const std::int64_t rows = rows_of(name), first = rows * *translated->part;
      return {{translated->tensor, StoredView::Rows{first, first + rows}}};
    }
    for (std::string& each : names_of(name)) candidates.push_back({std::move(each)});
    if (!options_.is_gguf) add_fused_experts(name, candidates);
    for (const FusedParts& fused : kFused) {
      const auto own = std::ranges::find_if(
          fused.parts, [&](std::string_view part) { return name.find(part) != name.npos; });
      if (own == fused.parts.end()) continue;
      const std::size_t at = name.find(*own);
      StoredView::Rows rows;
      std::int64_t all_rows = 0;
      for (auto part = fused.parts.begin(); part != fused.parts.end(); ++part) {
        const std::int64_t count = rows_of(std::string(name).replace(at, own->size(), *part));
        if (part == own) rows = {all_rows, all_rows + count};
        all_rows += count;
      }
      // First of all: in GGUF files the whole has the name of one of its parts.
      for (std::string& whole : whole_names(name, at, *own, fused))
        candidates.insert(candidates.begin(), {std::move(whole), rows, all_rows});
    }
    return candidates;
  }

  /// The part of a tensor of all experts that is a matrix `PREFIX.experts.E.PART.weight`.
  void add_fused_experts(const std::string& name, std::vector<Candidate>& candidates) const {
    constexpr std::string_view kExperts = ".experts.", kWeight = ".weight";
    const std::size_t at = name.find(kExperts);
    if (at == name.npos || !name.ends_with(kWeight)) return;
    const std::string before = name.substr(0, at + kExperts.size());
    const std::size_t dot = name.find('.', before.size());
    std::int64_t number = 0;
    const char* const end = name.data() + dot;
    if (dot == name.npos || std::from_chars(name.data() + before.size(), end, number).ptr != end)
      return;
    const std::string_view part =
        std::string_view(name).substr(dot + 1, name.size() - kWeight.size() - dot - 1);
    for (const FusedExperts& fused : kFusedExperts) {
      if (std::ranges::find(fused.parts, part) == fused.parts.end()) continue;
      StoredView::Rows rows;
      std::int64_t all_rows = 0;
      for (const std::string_view each : fused.parts) {
        const std::int64_t count = rows_of(fmt::format("{}{}.{}.weight", before, number, each));
        if (each == part) rows = {all_rows, all_rows + count};
        all_rows += count;
      }
      const Shape whole = {experts_of(before, part), all_rows, extents_.find(name)->second.back()};
      rows = {number * all_rows + rows.begin, number * all_rows + rows.end};
      for (std::string& each : names_of(before + std::string(fused.whole))) {
        candidates.push_back({each + std::string(kWeight), rows, 0, whole});
        candidates.push_back({std::move(each), rows, 0, whole});
      }
    }
  }

  /// The number of experts that the model has in a layer.
  std::int64_t experts_of(const std::string& before, std::string_view part) const {
    std::int64_t& count = experts_[before];
    while (count == 0 || extents_.contains(fmt::format("{}{}.{}.weight", before, count, part)))
      ++count;
    return count;
  }

  /// Extent 0 of a parameter; 0 if there is none of this name, and if no file has so many rows.
  std::int64_t rows_of(const std::string& name) const {
    constexpr std::int64_t kMostRows = std::int64_t{1} << 40;
    const auto extents = extents_.find(name);
    if (extents == extents_.end() || extents->second.empty()) return 0;
    return extents->second.front() > kMostRows ? 0 : extents->second.front();
  }

  std::vector<std::string> whole_names(const std::string& name, std::size_t at,
                                       std::string_view part, const FusedParts& fused) const {
    std::string whole = name;
    whole.replace(at, part.size(), fused.whole);
    if (!options_.is_gguf) return names_of(whole);
    const auto translated = gguf_name(family_, name);
    if (!translated) return {};
    const std::string& own = translated->tensor;
    const std::size_t last = own.rfind('.'), before = own.rfind('.', last - 1);
    if (before == own.npos) return {};
    return {own.substr(0, before + 1) + std::string(fused.whole_in_gguf) + own.substr(last)};
  }

  void bind(Op& op) {
    Value& value = *op.result();
    const std::string name(module_.context().text(value.symbol()));
    const Shape& wanted = extents_.find(name)->second;
    ++counts_.parameters;
    const TensorInfo* other = nullptr;
    for (const Candidate& each : candidates_for(name)) {
      const auto found = stored_.find(each.tensor);
      if (found == stored_.end()) continue;
      const TensorInfo& tensor = found->second;
      const StoredView view{.tensor = each.tensor, .rows = each.rows};
      const Shape seen = viewed_shape(tensor.shape, tensor.dtype, view, wanted);
      const bool has_rows =
          each.all_rows == 0 || (!tensor.shape.empty() && tensor.shape.front() == each.all_rows);
      const bool is_part = !each.rows || (seen == wanted && has_rows);
      const bool is_whole = each.whole.empty() || each.whole == tensor.shape;
      if (tensor.unread_type.empty() && is_part && is_whole && fits_shape(seen, wanted) &&
          fits_type(tensor.dtype, *value.tensor_type()->dtype())) {
        used_.insert(each.tensor);
        state(op, name, each);
        settle_type(value, tensor);
        return;
      }
      if (other == nullptr || !each.rows) other = &tensor;
      if (is_transposed(tensor.shape, each.whole)) {
        counts_.is_good = false;
        used_.insert(each.tensor);
        transposed_.try_emplace(each.tensor, each.whole);
        return;
      }
    }
    report_missing(name, *value.tensor_type(), other);
  }

  void report_missing(const std::string& name, const TensorType& type, const TensorInfo* other) {
    counts_.is_good = false;
    if (other != nullptr) {
      used_.insert(other->name);
      if (!reported_.insert(other->name).second) return;  // for another part of it
      diagnostics_.error(
          diag::kTensorTypeConflict, {},
          fmt::format("'{}': tensor '{}' is {} {}, parameter '@{}' is {}", path_, other->name,
                      other->type_name(), shape_text(other->shape), name, type.spelling()));
      return;
    }
    const auto names = names_of(name);
    const std::string& expected = names.empty() ? name : names.front();
    NearestName nearest(expected);
    for (const auto& each : stored_) nearest.offer(each.first);
    suggest(diagnostics_.error(diag::kParameterMissing, {},
                               fmt::format("'{}' has no tensor '{}' for parameter '@{}' ({})",
                                           path_, expected, name, type.spelling())),
            nearest.best());
  }

  /// True if the matrices of all experts have rows where columns are expected.
  static bool is_transposed(const Shape& stored, const Shape& expected) {
    return expected.size() == 3 && stored == Shape{expected[0], expected[2], expected[1]};
  }

  /// Reports all tensors of transposed experts at once: a checkpoint has two in each layer.
  void report_transposed() {
    if (transposed_.empty()) return;
    const auto& [name, expected] = *transposed_.begin();
    const TensorInfo& tensor = stored_.find(name)->second;
    diagnostics_.error(
        diag::kTensorTypeConflict, {},
        fmt::format("'{}': tensor '{}' is {} {}, expected {}: the matrices of experts are "
                    "transposed in {} tensor{}; exchange the last two dimensions of each",
                    path_, name, tensor.type_name(), shape_text(tensor.shape), shape_text(expected),
                    transposed_.size(), transposed_.size() == 1 ? "" : "s"));
  }

  /// States the part of a tensor that a parameter is, where it is not one of its own name.
  void state(Op& op, const std::string& name, const Candidate& candidate) {
    IRContext& context = module_.context();
    if (candidate.tensor != name)
      rewriter_.set_attribute(op, key::kStored, context.string(candidate.tensor));
    if (candidate.rows) {
      const Attr* rows[] = {context.integer(candidate.rows->begin),
                            context.integer(candidate.rows->end)};
      rewriter_.set_attribute(op, key::kStoredRows, context.array(rows));
    }
    const bool is_query = name.find("self_attn.q_proj.") != name.npos;
    const bool is_key = name.find("self_attn.k_proj.") != name.npos;
    const std::int64_t heads = is_query ? options_.interleaved_heads
                               : is_key ? options_.interleaved_kv_heads
                                        : 0;
    if (heads != 0) rewriter_.set_attribute(op, key::kStoredHeads, context.integer(heads));
  }

  void settle_type(Value& value, const TensorInfo& tensor) {
    if (!is_decodable_block(tensor.dtype)) return;
    const TensorType& type = *value.tensor_type();
    const bool is_matrix = type.rank() == 2 && check_blocks_fit(tensor.dtype, shape_of(type));
    if (!options_.keeps_blocks || !is_matrix) {
      ++counts_.decoded;
      return;
    }
    ++counts_.in_blocks;
    rewriter_.set_type(value, with_dtype(module_.context(), type, tensor.dtype));
  }

  void report_unused() {
    constexpr std::size_t kShown = 10;
    const bool is_tied = !extents_.contains("lm_head.weight");
    const auto tower = extents_.lower_bound("visual.");
    const bool has_tower = tower != extents_.end() && tower->first.starts_with("visual.");
    for (const auto& [name, tensor] : stored_) {
      if (used_.contains(name) || is_among(name, kIgnoredTensors)) continue;
      if (is_tied && (name.ends_with("lm_head.weight") || name == "output.weight")) continue;
      if (is_among(name, kOtherParts) && !(has_tower && is_among(name, kTower))) {
        ++counts_.elsewhere;
        continue;
      }
      if (++counts_.unused > kShown) {
        diagnostics_.skip(Severity::kWarning, diag::kTensorUnused);
        continue;
      }
      diagnostics_.warning(diag::kTensorUnused, {},
                           fmt::format("'{}': tensor '{}' ({} {}) is not used", path_, name,
                                       tensor.type_name(), shape_text(tensor.shape)));
    }
  }

  Module& module_;
  const Family& family_;
  const TensorFile& file_;
  const std::string& path_;
  const BindOptions& options_;
  Diagnostics& diagnostics_;
  Rewriter rewriter_;
  BindCounts counts_;
  std::map<std::string, TensorInfo> stored_;
  std::map<std::string, Shape, std::less<>> extents_;    // of parameters
  std::set<std::string, std::less<>> used_;              // tensors
  std::set<std::string, std::less<>> reported_;          // tensors with other extents
  std::map<std::string, Shape> transposed_;              // tensors, and the extents expected
  mutable std::map<std::string, std::int64_t> experts_;  // by what their names begin with
};

}  // namespace

Result<ModelFiles> find_model_files(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path folder(path);
  if (!std::filesystem::is_directory(folder, failure))
    return ModelFiles{.config = {}, .weights = path};
  const auto in_folder = [&](const char* name) {
    const auto file = folder / name;
    return std::filesystem::is_regular_file(file, failure) ? file.string() : std::string();
  };
  ModelFiles files{.config = in_folder("config.json"),
                   .weights = in_folder("model.safetensors.index.json")};
  if (files.weights.empty()) files.weights = in_folder("model.safetensors");
  if (files.config.empty())
    return Error{diag::kConfigUnsupported, fmt::format("folder '{}' has no config.json", path)};
  return files;
}

BindCounts bind_parameters(Module& module, const Family& family, const TensorFile& file,
                           const std::string& path, const BindOptions& options,
                           Diagnostics& diagnostics) {
  return Binder(module, family, file, path, options, diagnostics).bind();
}

}  // namespace mir::tools
