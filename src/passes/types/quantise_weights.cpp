// Stores parameters in blocks or in another floating-point type.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mir/codes/passes.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/rewriter.hpp"
#include "passes/standard_passes.hpp"
#include "passes/types/parameter_users.hpp"
#include "support/suggest.hpp"
#include "weights/elements.hpp"
#include "weights/type_rules.hpp"

namespace mir {

namespace {

constexpr std::string_view kRuleOption = "PATTERN";

class WeightQuantisation {
 public:
  explicit WeightQuantisation(PassRun& run)
      : run_(run),
        context_(run.module().context()),
        rewriter_(run.module()),
        parameters_(run.module()) {}

  PassResult apply() {
    if (!read_rules() || !check_patterns()) return PassResult::kFailed;
    for (const Symbol symbol : parameters_.symbols()) {
      convert(symbol, *parameters_.find(symbol)->declared);
    }
    // Vectors are kept in every model.
    if (keeps_matrices_)
      run_.diagnostics().remark(diag::kTensorDtypeUnsupported, place(), kept_.text("parameter"));
    return run_.result();
  }

 private:
  Span place() const { return run_.module().top()->span(); }

  bool read_rules() {
    for (const std::string_view text : run_.options().texts(kRuleOption)) {
      if (auto rule = TypeRule::parse(text)) {
        rules_.push_back(*std::move(rule));
        continue;
      }
      const std::string_view word = text.substr(text.rfind('=') + 1);
      NearestName nearest(word);
      for (const TargetType& each : target_types()) nearest.offer(each.word);
      suggest(run_.diagnostics().error(
                  diag::kPipeline, place(),
                  fmt::format("'{}' is not an element type that weights can be stored in", word)),
              nearest.best());
      return false;
    }
    return true;
  }

  /// Reports patterns that match no parameter; `*` means any there may be.
  bool check_patterns() {
    bool is_good = true;
    for (const TypeRule& rule : rules_) {
      if (rule.pattern.text() == "*") continue;
      const auto matches = [&](Symbol symbol) {
        return rule.pattern.matches(context_.text(symbol));
      };
      if (std::ranges::any_of(parameters_.symbols(), matches)) continue;
      is_good = false;
      NearestName nearest(rule.pattern.text());
      for (const Symbol symbol : parameters_.symbols()) nearest.offer(context_.text(symbol));
      suggest(run_.diagnostics().error(
                  diag::kPipeline, place(),
                  fmt::format("no parameter of the module has the name '{}'", rule.pattern.text())),
              nearest.best());
    }
    return is_good;
  }

  void convert(Symbol symbol, Value& declared) {
    const TensorType& type = *declared.tensor_type();
    const std::string_view name = context_.text(symbol);
    if (!type.dtype()) return;
    Shape shape;
    for (const Dim extent : type.dims()) {
      shape.push_back(extent.is_constant() ? extent.constant() : -1);
    }
    const ChosenType chosen = chosen_type(rules_, name, *type.dtype(), shape);
    if (!chosen.obstacle.empty()) return keep(declared, chosen.obstacle);
    if (chosen.dtype == type.dtype()) return;
    if (const auto why = why_fixed(*parameters_.find(symbol), chosen.dtype); !why.empty()) {
      return keep(declared, why);
    }
    const TensorType* made = with_dtype(context_, type, chosen.dtype);
    run_.count("parameters converted");
    count_bytes(type, *made);
    rewriter_.set_type(declared, made);
  }

  /// Why the ops that read a parameter cannot read it in another type; empty if they can.
  std::string_view why_fixed(const ParameterUsers::Parameter& parameter, DType dtype) const {
    const Value& declared = *parameter.declared;
    if (!declared.attributes().empty() || declared.tensor_type()->encoding() != nullptr) {
      return "with attributes";
    }
    if (!parameter.mentions.empty()) return "that an operation has as an operand";
    if (parameter.owners.empty()) return "that no operation is known to own";
    const DType given = is_float(dtype) ? dtype : DType::kFloat32;
    const bool fits = std::ranges::all_of(parameter.owners, [&](const Op* owner) {
      const TensorType* result =
          owner->result_count() == 0 ? nullptr : owner->result()->tensor_type();
      return !states_element_type(*owner) || (result != nullptr && result->dtype() == given);
    });
    return fits ? "" : "with elements that are those of a result of another type";
  }

  void keep(const Value& declared, std::string_view why) {
    run_.count("parameters kept");
    keeps_matrices_ = keeps_matrices_ || declared.tensor_type()->rank() >= 2;
    kept_.add(fmt::format("@{}", context_.text(declared.symbol())), why);
  }

  void count_bytes(const TensorType& before, const TensorType& after) {
    const auto elements = before.element_count();
    if (!elements) return;
    const auto count = static_cast<std::uint64_t>(*elements);
    const auto old_bytes = storage_bytes(*before.dtype(), count);
    const auto new_bytes = storage_bytes(*after.dtype(), count);
    if (!old_bytes || !new_bytes) return;
    run_.count("bytes before", *old_bytes);
    run_.count("bytes after", *new_bytes);
  }

  PassRun& run_;
  IRContext& context_;
  Rewriter rewriter_;
  ParameterUsers parameters_;
  std::vector<TypeRule> rules_;
  KeptTypes kept_;
  bool keeps_matrices_ = false;
};

}  // namespace

Pass quantise_weights_pass() {
  return {.name = "quantize-weights",
          .summary = "stores parameters in blocks or in another floating-point type",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .options = {{.name = std::string(kRuleOption),
                       .kind = PassOption::Kind::kText,
                       .is_keyed = true,
                       .summary = "the type of parameters whose names match PATTERN, where `*` is "
                                  "any text; of several patterns, the last one that matches "
                                  "counts; types are those of `mllm-weights convert --dtype`, "
                                  "which may name another one after a `/`"}},
          .preserves = AnalysisSet::of<Dominance, CallGraph, SymbolRanges, Liveness, Aliases>(),
          .run = [](PassRun& run) { return WeightQuantisation(run).apply(); }};
}

}  // namespace mir
