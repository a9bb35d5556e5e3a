// Resolves scales and zero points of quantised values from attributes, annotations and weights.
#include "interp/quantisations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "dialects/parameters.hpp"
#include "dialects/quant_attributes.hpp"
#include "eval/parameters.hpp"
#include "interp/tensor_names.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/quantisation.hpp"
#include "mir/module.hpp"
#include "plan/report.hpp"
#include "weights/elements.hpp"
#include "weights/random.hpp"

namespace mir {

namespace {

using Mention = TensorName;

/// Reads the scales of one schedule.
class ScaleResolver {
 public:
  ScaleResolver(const Schedule& schedule, const WeightSet* weights, QuantisationTable& table,
                Diagnostics& diagnostics)
      : schedule_(schedule),
        context_(schedule.module().context()),
        weights_(weights),
        table_(table),
        diagnostics_(diagnostics) {}

  void resolve();

 private:
  using Numbers = std::optional<std::vector<double>>;

  void resolve_tensor(std::span<const Mention> mentions);
  std::optional<ref::Quantisation> common_of(std::span<const Mention> mentions,
                                             const Mention& leader);
  bool contradicts(const Mention& mention, const ref::Quantisation& common);
  void resolve_parameter(const Value& parameter, const Attr* spec);
  std::optional<ref::Quantisation> quantisation_of(const Mention& mention);
  Result<std::optional<ref::Quantisation>> find(const Mention& mention, bool invents);
  Result<ref::Quantisation> with_scales(const Mention& mention, const QuantRecipe& recipe,
                                        bool invents);
  Result<ref::Quantisation> with_zero_points(const Value& value, const QuantRecipe& recipe,
                                             std::size_t groups, std::span<const std::string> stems,
                                             ref::Quantisation codes) const;
  Result<std::pair<std::size_t, std::size_t>> counts_of(const Value& value,
                                                        const ref::Quantisation& codes) const;
  Result<Numbers> read(const Value& value, AttrKey key, std::span<const std::string> names,
                       std::size_t count) const;
  Result<std::vector<double>> as_float32(const Value& value, std::vector<double> scales) const;
  Error missing(const Value& value, std::string_view what, AttrKey key,
                std::span<const std::string> names) const;
  Result<Numbers> stated(const Value& value, AttrKey key) const;
  Result<Numbers> stored(std::span<const std::string> names, std::size_t count) const;
  std::vector<std::string> stems_of(const Value& value, const QuantRecipe& recipe) const;
  bool may_invent() const;
  void invent(const Value& value, const QuantRecipe& recipe, std::size_t count,
              ref::Quantisation& codes);
  void fail_contradiction(const Mention& mention);
  void fail(const Mention& mention, DiagCode code, const std::string& message);
  std::string name_of_value(const Value& value) const;

  const Schedule& schedule_;
  IRContext& context_;
  const WeightSet* weights_;
  QuantisationTable& table_;
  Diagnostics& diagnostics_;
  std::size_t invented_ = 0;
};

void ScaleResolver::resolve() {
  for (const auto& [parameter, spec] : parameter_specs(schedule_)) {
    if (spec != nullptr) resolve_parameter(*parameter, spec);
  }
  for (const auto& mentions : TensorNames(schedule_).by_tensor()) resolve_tensor(mentions);
  for (const Value* parameter : schedule_.parameters()) {
    if (!table_.parameters.contains(parameter->symbol())) resolve_parameter(*parameter, nullptr);
  }
  if (invented_ == 0) return;
  diagnostics_.remark(diag::kScaleMissing, schedule_.module().top()->span(),
                      fmt::format("{}: scales of {} quantised values and parameters are made up",
                                  schedule_.title(), invented_));
}

void ScaleResolver::resolve_parameter(const Value& parameter, const Attr* spec) {
  if (table_.parameters.contains(parameter.symbol())) return;
  const auto found = quantisation_of({.value = &parameter, .spec = spec});
  if (!found) return;
  table_.parameters.emplace(parameter.symbol(), *found);
  table_.values.emplace(&parameter, *found);
}

/// 2: the mention states scales; 1: it states a quantisation.
int weight_of(const Mention& mention) {
  if (mention.value->attribute(key::kQuantScale) != nullptr) return 2;
  return mention.spec != nullptr ? 1 : 0;
}

/// The mentions are one tensor: one that states its scales speaks for all, else one for which
/// weights have scales, else the first that states a quantisation; no other may contradict it.
void ScaleResolver::resolve_tensor(std::span<const Mention> mentions) {
  const auto leader = std::ranges::max_element(mentions, {}, weight_of);
  const auto common = common_of(mentions, *leader);
  if (!common) return;
  for (const Mention& mention : mentions) {
    if (contradicts(mention, *common)) return fail_contradiction(mention);
  }
  for (const Mention& mention : mentions) table_.values.emplace(mention.value, *common);
}

/// Returns no value if the elements are not quantised, or after reporting an error.
std::optional<ref::Quantisation> ScaleResolver::common_of(std::span<const Mention> mentions,
                                                          const Mention& leader) {
  if (weight_of(leader) == 2) return quantisation_of(leader);
  std::optional<ref::Quantisation> common;
  const auto agrees = [&](const Mention& mention) {
    auto found = find(mention, false);
    if (!found && found.error().code != diag::kScaleMissing) {
      fail(mention, found.error().code, found.error().message);
      return false;
    }
    if (!found || !*found) return true;
    if (!common) {
      common = **std::move(found);
    } else if ((*found)->scales != common->scales) {
      fail_contradiction(mention);
      return false;
    }
    return true;
  };
  if (!agrees(leader)) return std::nullopt;
  const Value* last = nullptr;
  for (const Mention& mention : mentions) {
    if (mention.value == leader.value || mention.value == last) continue;
    last = mention.value;
    if (!agrees(mention)) return std::nullopt;
  }
  return common ? common : quantisation_of(leader);
}

bool ScaleResolver::contradicts(const Mention& mention, const ref::Quantisation& common) {
  const int weight = weight_of(mention);
  if (weight == 2) return quantisation_of(mention) != common;
  const TensorType* type = mention.value->held_type();
  if (weight == 0 || type == nullptr) return false;
  const auto recipe = quant_recipe(*type, mention.spec);
  if (!recipe || !*recipe) return false;
  ref::Quantisation without = common;
  without.scales.clear();
  without.zero_points.clear();
  return (*recipe)->codes != without;
}

/// Returns no value if the elements are not quantised, or after reporting an error.
std::optional<ref::Quantisation> ScaleResolver::quantisation_of(const Mention& mention) {
  auto found = find(mention, true);
  if (found) return *std::move(found);
  fail(mention, found.error().code, found.error().message);
  return std::nullopt;
}

/// Returns no value if the elements are not quantised. If no source has scales, they are made up
/// or missing.
Result<std::optional<ref::Quantisation>> ScaleResolver::find(const Mention& mention, bool invents) {
  using Found = std::optional<ref::Quantisation>;
  if (const auto known = table_.values.find(mention.value); known != table_.values.end()) {
    return Found(known->second);
  }
  const TensorType* type = mention.value->held_type();
  if (type == nullptr) return Found();
  const auto recipe = quant_recipe(*type, mention.spec);
  if (!recipe) return recipe.error();
  if (!*recipe) return Found();
  auto codes = with_scales(mention, **recipe, invents);
  if (!codes) return std::move(codes).error();
  return Found(*std::move(codes));
}

// -- scales ---------------------------------------------------------------------------------------

Result<ScaleResolver::Numbers> ScaleResolver::stated(const Value& value, AttrKey key) const {
  const Attr* attribute = value.attribute(key);
  if (attribute == nullptr) return Numbers();
  if (auto numbers = quant_attributes::numbers_of(*attribute)) return Numbers(std::move(numbers));
  return Error{diag::kScaleInvalid, fmt::format("{}: attribute '{}' is {}, expected numbers",
                                                name_of_value(value), key, attribute->spelling())};
}

/// Returns the first of these tensors that a source has; random sources have no scales.
Result<ScaleResolver::Numbers> ScaleResolver::stored(std::span<const std::string> names,
                                                     std::size_t count) const {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kInt32, DType::kUInt8, DType::kInt8,
                              DType::kUInt16,  DType::kInt16, DType::kInt64, DType::kUInt32};
  if (weights_ == nullptr) return Numbers();
  for (const std::string& name : names) {
    const WeightSource* source = weights_->source_of(name);
    if (source == nullptr || source->invents()) continue;
    std::optional<Error> problem;
    for (const DType dtype : kTypes) {
      WeightRequest request{
          .name = name, .dtype = dtype, .shape = {static_cast<std::int64_t>(count)}};
      request.convert_floats = true;
      const auto found = source->find(request);
      if (!found && !problem) problem = found.error();
      if (!found || !found->has_value()) continue;
      std::vector<double> numbers;
      for (std::int64_t i = 0; i < (*found)->elements(); ++i) {
        numbers.push_back(element_as_double(**found, i));
      }
      return Numbers(std::move(numbers));
    }
    if (problem) return Error{diag::kScaleInvalid, problem->message};
  }
  return Numbers();
}

/// Returns the prefixes of `.scale` in the names of tensors that can hold the scales of a value.
std::vector<std::string> ScaleResolver::stems_of(const Value& value,
                                                 const QuantRecipe& recipe) const {
  std::vector<std::string> stems;
  const Attr* source = value.attribute(key::kQuantSource);
  if (source != nullptr && source->kind() == AttrKind::kString) stems.emplace_back(source->text());
  std::string_view name = value.has_symbol() ? context_.text(value.symbol()) : std::string_view();
  if (const Op* maker = value.defining_op()) {
    if (const auto named = named_parameter(*maker)) name = context_.text(*named);
  }
  if (!name.empty()) {
    stems.emplace_back(name);
    // Upstream names what belongs to `norm.weight` after `norm`.
    if (name.ends_with(".weight")) stems.emplace_back(name.substr(0, name.rfind('.')));
  }
  if (recipe.uuid) stems.push_back(fmt::format("quant.{}", *recipe.uuid));
  return stems;
}

std::vector<std::string> with_suffix(std::span<const std::string> stems, std::string_view suffix) {
  std::vector<std::string> names;
  for (const std::string& stem : stems) names.push_back(fmt::format("{}{}", stem, suffix));
  return names;
}

bool ScaleResolver::may_invent() const {
  return weights_ != nullptr && std::ranges::any_of(weights_->sources(), &WeightSource::invents);
}

/// One scale for all groups, from the range that values of this kind are expected in.
void ScaleResolver::invent(const Value& value, const QuantRecipe& recipe, std::size_t count,
                           ref::Quantisation& codes) {
  constexpr Interval kActivations{0, 8};
  Interval range = kActivations;
  if (value.has_symbol()) {
    Shape shape;
    for (const Dim dim : value.held_type()->dims()) shape.push_back(dim.constant());
    range = weight_interval(context_.text(value.symbol()), shape);
  }
  const double steps = static_cast<double>(std::max<std::int64_t>(codes.high - codes.low, 1));
  const double reach = recipe.is_asymmetric ? range.half_width : range.centre + range.half_width;
  const auto scale = static_cast<double>(static_cast<float>(2 * reach / steps));
  codes.scales.assign(count, scale);
  const double lowest = (range.centre - range.half_width) / scale;
  const std::int64_t zero =
      recipe.is_asymmetric
          ? codes.low - static_cast<std::int64_t>(lowest < 0 ? lowest - 0.5 : lowest + 0.5)
          : recipe.default_zero;
  codes.zero_points.assign(count, zero);
  ++invented_;
}

/// Groups and channels of a tensor; extents that are not constant count only where all are one.
Result<std::pair<std::size_t, std::size_t>> ScaleResolver::counts_of(
    const Value& value, const ref::Quantisation& codes) const {
  if (!codes.axis && codes.block == 0) return std::pair<std::size_t, std::size_t>(1, 1);
  Shape shape;
  for (const Dim dim : value.held_type()->dims()) {
    if (!dim.is_constant()) {
      return Error{diag::kScaleInvalid,
                   fmt::format("{}: channels and blocks need constant extents, found {}",
                               name_of_value(value), value.held_type()->spelling())};
    }
    shape.push_back(dim.constant());
  }
  const auto groups = ref::group_count(codes, shape);
  if (!groups) return Error{diag::kScaleInvalid, groups.error().message};
  const std::int64_t channels = codes.axis ? shape[*codes.axis] : 1;
  return std::pair(static_cast<std::size_t>(*groups), static_cast<std::size_t>(channels));
}

/// The attribute of the value, else a tensor `<stem><suffix>`, one number for all or one each.
Result<ScaleResolver::Numbers> ScaleResolver::read(const Value& value, AttrKey key,
                                                   std::span<const std::string> names,
                                                   std::size_t count) const {
  auto numbers = stated(value, key);
  if (numbers && !*numbers) numbers = stored(names, count);
  if (!numbers || !*numbers) return numbers;
  if ((**numbers).size() == 1) (**numbers).resize(count, (**numbers)[0]);
  if ((**numbers).size() == count) return numbers;
  return Error{diag::kScaleInvalid,
               fmt::format("{}: '{}' has {} numbers, expected 1 or {}", name_of_value(value), key,
                           (**numbers).size(), count)};
}

Error ScaleResolver::missing(const Value& value, std::string_view what, AttrKey key,
                             std::span<const std::string> names) const {
  std::string message =
      fmt::format("{} has no {}: there is no attribute '{}'", name_of_value(value), what, key);
  if (!names.empty()) message += fmt::format(" and no tensor '{}'", fmt::join(names, "' or '"));
  return {diag::kScaleMissing, std::move(message)};
}

/// Rounds scales to Float32, whatever states them: a number in a text means the same as in a file.
Result<std::vector<double>> ScaleResolver::as_float32(const Value& value,
                                                      std::vector<double> scales) const {
  for (double& scale : scales) {
    if (!quant_attributes::is_scale(scale)) {
      return Error{diag::kScaleInvalid, fmt::format("{}: scale {} is not a positive Float32",
                                                    name_of_value(value), scale)};
    }
    scale = static_cast<double>(static_cast<float>(scale));
  }
  return scales;
}

Result<ref::Quantisation> ScaleResolver::with_scales(const Mention& mention,
                                                     const QuantRecipe& recipe, bool invents) {
  const Value& value = *mention.value;
  ref::Quantisation codes = recipe.codes;
  const auto counts = counts_of(value, codes);
  if (!counts) return counts.error();
  const auto [groups, channels] = *counts;
  const auto stems = stems_of(value, recipe);
  const auto names = with_suffix(stems, recipe.has_two_levels ? ".scale1" : ".scale");
  auto scales = read(value, key::kQuantScale, names, groups);
  if (!scales) return std::move(scales).error();
  if (!*scales && invents && may_invent()) {
    invent(value, recipe, groups, codes);
    return codes;
  }
  if (!*scales) return missing(value, "scale", key::kQuantScale, names);
  auto stated = as_float32(value, **std::move(scales));
  if (!stated) return std::move(stated).error();
  codes.scales = *std::move(stated);
  if (recipe.has_two_levels && channels > 0) {
    auto found = stored(with_suffix(stems, ".scale2"), channels);
    if (!found) return std::move(found).error();
    auto outer = as_float32(value, (*found).value_or(std::vector<double>(channels, 1)));
    if (!outer) return std::move(outer).error();
    for (std::size_t i = 0; i < groups; ++i) codes.scales[i] *= (*outer)[i / (groups / channels)];
  }
  return with_zero_points(value, recipe, groups, stems, std::move(codes));
}

Result<ref::Quantisation> ScaleResolver::with_zero_points(const Value& value,
                                                          const QuantRecipe& recipe,
                                                          std::size_t groups,
                                                          std::span<const std::string> stems,
                                                          ref::Quantisation codes) const {
  const auto names = with_suffix(stems, ".zero_point");
  const auto zeros = read(value, key::kQuantZeroPoint, names, groups);
  if (!zeros) return zeros.error();
  if (!*zeros && recipe.is_asymmetric) {
    return missing(value, "zero point", key::kQuantZeroPoint, names);
  }
  codes.zero_points.assign(groups, recipe.default_zero);
  for (std::size_t i = 0; *zeros && i < groups; ++i) {
    const double zero = (**zeros)[i];
    if (!quant_attributes::is_zero_point(zero)) {
      return Error{diag::kScaleInvalid,
                   fmt::format("{}: zero point {} is no whole number of 32 bits",
                               name_of_value(value), zero)};
    }
    codes.zero_points[i] = static_cast<std::int64_t>(zero);
  }
  return codes;
}

// -- messages -------------------------------------------------------------------------------------

std::string ScaleResolver::name_of_value(const Value& value) const {
  if (value.has_symbol()) return fmt::format("'@{}'", context_.text(value.symbol()));
  const ValueName name = value.name();
  return name.is_number() ? fmt::format("'%{}'", name.number())
                          : fmt::format("'%{}'", context_.text(name.symbol()));
}

void ScaleResolver::fail_contradiction(const Mention& mention) {
  fail(mention, diag::kQuantisationConflict,
       fmt::format("{} has another quantisation here than where its tensor comes from",
                   name_of_value(*mention.value)));
}

void ScaleResolver::fail(const Mention& mention, DiagCode code, const std::string& message) {
  if (mention.place != nullptr) {
    report(diagnostics_, *mention.place, mention.schedule->calls(), mention.call, code, message);
    return;
  }
  const Op* definition = mention.value->defining_op();
  diagnostics_.error(code, definition == nullptr ? Span{} : definition->span(), message);
}

}  // namespace

std::unordered_map<const Value*, const Attr*> parameter_specs(const Schedule& schedule) {
  std::unordered_map<const Value*, const Attr*> specs;
  std::unordered_map<Symbol, const Value*> by_symbol;
  for (const Value* parameter : schedule.parameters()) {
    specs[parameter] = stated_quant_spec(*parameter);
    by_symbol.emplace(parameter->symbol(), parameter);
  }
  const auto look = [&](const Step& step) {
    for (std::uint32_t i = 0; i < step.op->operand_count(); ++i) {
      const auto found = specs.find(step.op->operand(i));
      if (found == specs.end() || found->second != nullptr) continue;
      found->second = operand_quant_spec(*step.op, i);
    }
    for (const OwnedParameter& owned : owned_parameters(*step.op)) {
      const auto found = by_symbol.find(owned.symbol);
      if (found == by_symbol.end() || specs[found->second] != nullptr) continue;
      specs[found->second] =
          annotated_quant_spec(*step.op, fmt::format("weight_{}", owned.suffix.substr(1)));
    }
  };
  schedule.for_each([&](const Schedule& each) { std::ranges::for_each(each.steps(), look); });
  return specs;
}

namespace {

/// Whole numbers that are drawn from 0 on, as codes of `dtype` from `low` on; both are their low
/// bits.
Result<Tensor> shifted(const Weight& drawn, DType dtype, std::int64_t low) {
  const auto numbers = drawn.tensor();
  if (!numbers) return numbers;
  auto codes = Tensor::allocate(dtype, numbers->shape());
  if (!codes) return codes;
  const auto shift = [&]<class T>(T first) {
    const auto from = numbers->as<T>();
    const auto into = codes->as_mutable<T>();
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<T>(from[i] + first);
  };
  switch (info(dtype).unit_bytes) {
    case 1:
      shift(static_cast<std::uint8_t>(low));
      break;
    case 2:
      shift(static_cast<std::uint16_t>(low));
      break;
    default:
      shift(static_cast<std::uint32_t>(low));
      break;
  }
  return codes;
}

}  // namespace

Result<Weight> codes_from(const WeightSource& source, WeightRequest request,
                          const QuantRecipe& recipe) {
  const DType dtype = request.dtype;
  const std::size_t width = info(dtype).unit_bytes;
  request.dtype = width == 1 ? DType::kUInt8 : width == 2 ? DType::kUInt16 : DType::kUInt32;
  request.bound = recipe.codes.high - recipe.codes.low + 1;
  auto drawn = source.prepare(request);
  if (!drawn) return std::move(drawn).error();
  return Weight([drawn = **std::move(drawn), dtype,
                 low = recipe.codes.low] { return shifted(drawn, dtype, low); },
                Tensor());
}

void resolve_quantisations(const Schedule& schedule, const WeightSet* weights,
                           QuantisationTable& table, Diagnostics& diagnostics) {
  ScaleResolver(schedule, weights, table, diagnostics).resolve();
}

}  // namespace mir
