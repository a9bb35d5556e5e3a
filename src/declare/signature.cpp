// Operands and attributes of an op against the signature that a text declares for it.
#include <fmt/format.h>

#include <algorithm>

#include "declare/declared_op.hpp"
#include "dialects/parameters.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/equivalence.hpp"
#include "mir/tensor.hpp"
#include "patterns/plan_graph.hpp"
#include "patterns/unify.hpp"
#include "support/characters.hpp"

namespace mir::declare {

using patterns::AttributeTemplate;
using patterns::Bindings;
using patterns::TypeTemplate;
using patterns::Unifier;

namespace {

std::size_t least_of(std::span<const Part> parts) {
  return static_cast<std::size_t>(
      std::ranges::count_if(parts, [](const Part& each) { return !each.is_optional; }));
}

/// How many of so many operands or results each part has.
std::vector<std::uint32_t> counts_of(std::span<const Part> parts, std::size_t count_of_all) {
  std::vector<std::uint32_t> all;
  std::size_t spare = count_of_all - std::min(count_of_all, least_of(parts));
  for (const Part& each : parts) {
    std::size_t count = each.is_optional ? 0 : 1;
    if (each.is_many) {
      count += spare;
    } else if (each.is_optional && spare > 0) {
      count = 1;
      --spare;
    }
    all.push_back(static_cast<std::uint32_t>(count));
  }
  return all;
}

}  // namespace

std::size_t Signature::least() const {
  return least_of(operands);
}

std::vector<std::uint32_t> Signature::operand_counts(std::size_t operand_count) const {
  return counts_of(operands, operand_count);
}

std::vector<std::uint32_t> Signature::result_counts(std::size_t result_count) const {
  return counts_of(results, result_count);
}

bool Signature::admits(std::size_t operand_count) const {
  const bool has_many = std::ranges::any_of(operands, &Part::is_many);
  return operand_count >= least() && (has_many || operand_count <= operands.size());
}

const Signature* DeclaredOp::signature_for(std::size_t operand_count) const {
  const auto is_exact = [&](const Signature& each) {
    return each.operands.size() == operand_count && each.admits(operand_count);
  };
  auto found = std::ranges::find_if(signatures, is_exact);
  if (found == signatures.end()) {
    found = std::ranges::find_if(signatures,
                                 [&](const Signature& each) { return each.admits(operand_count); });
  }
  return found == signatures.end() ? nullptr : &*found;
}

std::string fill(std::string_view text,
                 const std::function<const Attr*(std::string_view variable)>& value_of) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '$') {
      while (end < text.size() && is_name_character(text[end])) ++end;
      if (text.substr(end).starts_with(kPackSuffix)) end += kPackSuffix.size();
    }
    const std::string_view word = text.substr(at, end - at);
    const Attr* bound = word.size() > 1 ? value_of(word) : nullptr;
    out += bound == nullptr ? word : bound->spelling();
    at = end;
  }
  return out;
}

const Attr* value_of_variable(const AttrRow& row, const Attr* stated, IRContext& context) {
  const Attr* value = stated == nullptr ? default_value(context, row) : stated;
  if (value == nullptr || row.type != AttrType::kDType) return value;
  const auto dtype = dtype_from_name(value->text());
  return dtype ? context.word(name_of(*dtype)) : value;
}

std::string DeclaredOp::filled(std::string_view text, const Bindings& bindings) const {
  return fill(text, [&](std::string_view variable) {
    const auto known = std::ranges::find(variables, variable);
    return known == variables.end()
               ? nullptr
               : bindings.variables[static_cast<std::size_t>(known - variables.begin())];
  });
}

namespace {

bool is_unknown(const Attr& value) {
  return (value.kind() == AttrKind::kDim && value.dim().is_unknown()) ||
         std::ranges::any_of(value.elements(), [](const Attr* each) { return is_unknown(*each); });
}

/// One attempt to fit an op to a signature.
class Fitting {
 public:
  Fitting(const DeclaredOp& declared, const Signature& signature, const OpFacts& op)
      : declared_(declared),
        signature_(signature),
        op_(op),
        context_(op.context),
        unifier_(context_) {
    Bindings& bindings = unifier_.bindings();
    bindings.takes_unknown = true;
    bindings.prover = op.prover;
    bindings.variables.assign(declared.variables.size(), nullptr);
    binders_.resize(declared.variables.size());
    is_wrong_.resize(declared.variables.size());
  }

  std::optional<Bindings> run(Refusal& refusal) {
    bind_attributes();
    const bool fits = bind_operands() && settle() && bind_lets() && check_conditions();
    if (!fits) refusal = std::move(refusal_);
    if (!fits) return std::nullopt;
    return std::move(unifier_.bindings());
  }

 private:
  const Bindings& bindings() { return unifier_.bindings(); }
  const Attr* bound(std::uint32_t variable) { return bindings().variables[variable]; }

  bool refuse(DiagCode code, std::string message) {
    refusal_ = {code, std::move(message)};
    return false;
  }

  void bind_attributes() {
    Bindings& bindings = unifier_.bindings();
    for (std::size_t i = 0; i < declared_.attribute_variables.size(); ++i) {
      if (!declared_.attribute_variables[i]) continue;
      const AttrRow& row = op_.row.attributes[i];
      const auto stated = std::ranges::find_if(op_.attributes, [&](const NamedAttr& each) {
        return context_.text(each.key) == row.name;
      });
      const Attr* value = value_of_variable(
          row, stated == op_.attributes.end() ? nullptr : stated->value, context_);
      if (value != nullptr && !admits(row, *value) && value->kind() != AttrKind::kDim) {
        is_wrong_[*declared_.attribute_variables[i]] = true;
      }
      bindings.variables[*declared_.attribute_variables[i]] = value;
      binders_[*declared_.attribute_variables[i]] = "";
    }
    for (const std::uint32_t each : declared_.lengths) {
      bindings.variables[each] =
          context_.dim(context_.dims().symbol(declared_.variables[each].substr(1)));
    }
    if (declared_.path_variable && (!op_.path.empty() || declared_.is_layer)) {
      bindings.variables[*declared_.path_variable] = context_.string(op_.path);
    }
  }

  bool bind_operands() {
    const auto counts = signature_.operand_counts(op_.operands.size());
    std::size_t operand = 0;
    for (std::size_t part = 0; part < counts.size(); ++part) {
      for (std::uint32_t i = 0; i < counts[part]; ++i, ++operand) {
        if (!bind_operand(signature_.operands[part], operand)) return false;
      }
    }
    return true;
  }

  bool bind_operand(const Part& part, std::size_t operand) {
    const Type* type = op_.operands[operand];
    const Unifier::Mark before = unifier_.mark();
    if (!unifier_.unify_type(part.type, type)) {
      unifier_.undo(before);
      return refuse_operand(part, type);
    }
    for (std::size_t i = 0; i < binders_.size(); ++i) {
      if (bindings().variables[i] != nullptr && !binders_[i]) binders_[i] = part.name;
    }
    ends_.push_back({&part, type, unifier_.waiting().size()});
    return true;
  }

  // -- messages -----------------------------------------------------------------------------------

  /// "$K is 64 (%x)"
  std::string binding_of(std::uint32_t variable) {
    const Attr* value = bound(variable);
    const std::string& name = declared_.variables[variable];
    if (value == nullptr) return fmt::format("{} is not bound", name);
    const std::string by = binders_[variable].value_or("");
    return fmt::format("{} is {}{}", name, value->spelling(),
                       by.empty() ? "" : fmt::format(" (%{})", by));
  }

  bool refuse_operand(const Part& part, const Type* found) {
    const auto [code, reason] = difference(part.type, found);
    return refuse(
        code,
        fmt::format("operand '%{}' of '{}' is {}, expected {}: {}", part.name, declared_.name,
                    found == nullptr ? "untyped" : found->spelling(), part.type_text, reason));
  }

  /// First difference between the template and a type that does not match it.
  std::pair<DiagCode, std::string> difference(const TypeTemplate& wanted, const Type* found) {
    const auto* tensor = dyn_cast<TensorType>(found);
    if (wanted.exact != nullptr || !wanted.kind.empty()) {
      const auto* type = dyn_cast<DialectType>(found);
      if (type == nullptr || type->kind().name != wanted.kind) {
        return {diag::kDTypeMismatch, "another type"};
      }
      const auto parts = type->parameters();
      const auto& elements = wanted.extents.elements;
      return {diag::kDTypeMismatch, first_difference(elements, parts, "parameter", 0)};
    }
    if (tensor == nullptr) return {diag::kNotATensor, "no tensor"};
    if (auto reason = name_difference(wanted.dtype, tensor->dtype_name(), "element type");
        !reason.empty()) {
      return {diag::kDTypeMismatch, reason};
    }
    if (auto reason = name_difference(wanted.device, tensor->device(), "device"); !reason.empty()) {
      return {diag::kDTypeMismatch, reason};
    }
    std::string reason = shape_difference(wanted, *tensor);
    if (!reason.empty()) return {diag::kShapeMismatch, std::move(reason)};
    return {diag::kDTypeMismatch, encoding_difference(wanted, *tensor)};
  }

  std::string name_difference(const patterns::NameTemplate& wanted, Symbol found,
                              std::string_view what) {
    const auto dtype = dtype_from_name(context_.text(found));
    const std::string_view name = dtype ? name_of(*dtype) : context_.text(found);
    if (!wanted.variable) {
      const std::string_view expected = context_.text(wanted.name);
      return expected == name || wanted.name == found
                 ? ""
                 : fmt::format("{} {} is not {}", what, name, expected);
    }
    const Attr* value = bound(*wanted.variable);
    if (value == nullptr || value->text() == name) return "";
    return fmt::format("{} is {}, and {}", what, name, binding_of(*wanted.variable));
  }

  std::string encoding_difference(const TypeTemplate& wanted, const TensorType& found) {
    const std::string text = found.encoding() == nullptr
                                 ? "it has no encoding"
                                 : fmt::format("its encoding is {}", found.encoding()->spelling());
    if (!wanted.encoding) return text;
    if (wanted.encoding->kind == AttributeTemplate::Kind::kVariable) {
      return fmt::format("{}, and {}", text, binding_of(wanted.encoding->variable));
    }
    const Attr* expected = patterns::instantiate(*wanted.encoding, bindings(), context_);
    return expected == nullptr ? text : fmt::format("{}, not {}", text, expected->spelling());
  }

  std::string shape_difference(const TypeTemplate& wanted, const TensorType& found) {
    std::vector<const Attr*> extents;
    for (const Dim dim : found.dims()) extents.push_back(context_.dim(dim));
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (const Attr* known = patterns::attribute_of(found.dims()[i], context_)) extents[i] = known;
    }
    std::vector<AttributeTemplate> elements = wanted.extents.elements;
    if (wanted.extents.kind == AttributeTemplate::Kind::kLiteral) {
      for (const Attr* each : wanted.extents.literal->elements()) {
        elements.push_back({.literal = each});
      }
    }
    const auto pack = std::ranges::find(elements, true, &AttributeTemplate::is_pack);
    if (pack == elements.end()) {
      if (elements.size() != extents.size()) {
        return fmt::format("rank {}, expected {}", extents.size(), elements.size());
      }
      return first_difference(elements, extents, "extent", 0);
    }
    const auto before = static_cast<std::size_t>(pack - elements.begin());
    const std::size_t after = elements.size() - before - 1;
    if (extents.size() < before + after) {
      return fmt::format("rank {}, expected at least {} ({} and {} more)", extents.size(),
                         before + after, declared_.variables[pack->variable], before + after);
    }
    const std::span all(extents);
    const std::span wanted_all(elements);
    std::string reason = first_difference(wanted_all.first(before), all.first(before), "extent", 0);
    if (!reason.empty()) return reason;
    const auto middle = all.subspan(before, extents.size() - before - after);
    const Attr* packed = context_.array(middle);
    const Unifier::Mark mark = unifier_.mark();
    const bool fits = unifier_.bind(pack->variable, packed);
    unifier_.undo(mark);
    if (!fits) {
      return fmt::format("{} would be {}, and {}", declared_.variables[pack->variable],
                         packed->spelling(), binding_of(pack->variable));
    }
    return first_difference(wanted_all.last(after), all.last(after), "extent",
                            extents.size() - after);
  }

  /// First difference of two lists of one length; empty if there is none. `first` is the number of
  /// the first element.
  std::string first_difference(std::span<const AttributeTemplate> wanted,
                               std::span<const Attr* const> found, std::string_view what,
                               std::size_t first) {
    const Unifier::Mark mark = unifier_.mark();
    std::string reason;
    for (std::size_t i = 0; i < std::min(wanted.size(), found.size()) && reason.empty(); ++i) {
      if (unifier_.unify(wanted[i], found[i])) continue;
      const std::string_view here = found[i]->spelling();
      reason = wanted[i].kind == AttributeTemplate::Kind::kVariable
                   ? fmt::format("{} {} is {}, and {}", what, first + i, here,
                                 binding_of(wanted[i].variable))
               : wanted[i].literal != nullptr ? fmt::format("{} {} is {}, not {}", what, first + i,
                                                            here, wanted[i].literal->spelling())
                                              : fmt::format("{} {} is {}", what, first + i, here);
    }
    unifier_.undo(mark);
    return reason;
  }

  // -- what waits for all operands ----------------------------------------------------------------

  bool settle() {
    const Unifier::Waiting* failed = unifier_.settle();
    if (failed == nullptr) return true;
    const auto number = static_cast<std::size_t>(failed - unifier_.waiting().data());
    const auto owner =
        std::ranges::find_if(ends_, [&](const End& each) { return number < each.waiting; });
    std::string with;
    std::vector<std::uint32_t> seen;
    patterns::for_each_variable(*failed->expression, [&](std::uint32_t variable) {
      if (std::ranges::find(seen, variable) != seen.end()) return;
      seen.push_back(variable);
      const bool is_open = bound(variable) == nullptr;
      with += fmt::format("{}{}", with.empty() ? "" : ", ",
                          is_open ? fmt::format("no whole {} was found that gives it",
                                                declared_.variables[variable])
                                  : binding_of(variable));
    });
    return refuse(diag::kShapeMismatch,
                  fmt::format("operand '%{}' of '{}' is {}, expected {}: an extent is {}, and {}",
                              owner->part->name, declared_.name, owner->type->spelling(),
                              owner->part->type_text, failed->found->spelling(), with));
  }

  /// True if an unknown value or an absent operand is part of an expression.
  bool is_open(const patterns::Expression& expression) {
    bool open = false;
    patterns::for_each_variable(expression, [&](std::uint32_t variable) {
      open |= bound(variable) == nullptr || is_unknown(*bound(variable));
    });
    return open;
  }

  bool bind_lets() {
    for (const auto& [variable, expression] : signature_.lets) {
      if (has_wrong(expression)) {
        is_wrong_[variable] = true;
        continue;
      }
      const Attr* value = patterns::evaluate(expression, bindings(), context_);
      if (value != nullptr) {
        unifier_.bind(variable, value);
      } else if (!is_open(expression)) {
        return refuse(diag::kConditionViolated,
                      fmt::format("'{}': '{}' has no value{}", declared_.name,
                                  declared_.variables[variable], values_in(expression)));
      }
    }
    return true;
  }

  /// ": $k is 9, $E is 8 (%x)"
  std::string values_in(const patterns::Expression& expression) {
    std::string text;
    std::vector<std::uint32_t> seen;
    patterns::for_each_variable(expression, [&](std::uint32_t variable) {
      if (std::ranges::find(seen, variable) != seen.end()) return;
      seen.push_back(variable);
      text += (text.empty() ? ": " : ", ") + binding_of(variable);
    });
    return text;
  }

  /// True if the expression has an attribute that its row does not admit. That is reported apart.
  bool has_wrong(const patterns::Expression& expression) {
    bool is_wrong = false;
    patterns::for_each_variable(
        expression, [&](std::uint32_t variable) { is_wrong = is_wrong || is_wrong_[variable]; });
    return is_wrong;
  }

  bool check_conditions() {
    for (const patterns::Condition& each : signature_.conditions) {
      if (has_wrong(each.expression)) continue;
      const Attr* value = patterns::evaluate(each.expression, bindings(), context_);
      const bool is_truth = value != nullptr && value->kind() == AttrKind::kBool;
      if ((is_truth && value->boolean()) || (!is_truth && is_open(each.expression))) continue;
      const std::string text = declared_.filled(each.text, bindings());
      return refuse(diag::kConditionViolated,
                    is_truth
                        ? fmt::format("'{}' {}{}", declared_.name, text, values_in(each.expression))
                        : fmt::format("'{}': whether it holds cannot be decided: {}{}",
                                      declared_.name, text, values_in(each.expression)));
    }
    return true;
  }

  /// How many expressions wait after an operand.
  struct End {
    const Part* part;
    const Type* type;
    std::size_t waiting;
  };

  const DeclaredOp& declared_;
  const Signature& signature_;
  const OpFacts& op_;
  IRContext& context_;
  Unifier unifier_;
  /// By variable: the operand that bound it; empty: an attribute did.
  std::vector<std::optional<std::string>> binders_;
  std::vector<bool>
      is_wrong_;  ///< by variable: the row does not admit an attribute that it comes from
  std::vector<End> ends_;
  Refusal refusal_;
};

/// The tensor with the encoding of `like`, unless it has one or other elements.
const Type* with_encoding(const Type* type, const TensorType* like, IRContext& context) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr || like == nullptr || like->encoding() == nullptr ||
      tensor->encoding() != nullptr || tensor->dtype_name() != like->dtype_name()) {
    return type;
  }
  return context.tensor(tensor->dims(), tensor->dtype_name(), tensor->device(), like->encoding());
}

}  // namespace

std::optional<Bindings> bind(const DeclaredOp& declared, const Signature& signature,
                             const OpFacts& op, Refusal& refusal) {
  return Fitting(declared, signature, op).run(refusal);
}

std::vector<const Type*> result_types(const Signature& signature, const OpFacts& op,
                                      const Bindings& bindings, std::size_t count) {
  const auto* first = op.operands.empty() ? nullptr : dyn_cast<TensorType>(op.operands.front());
  const auto counts = signature.result_counts(count);
  std::vector<const Type*> types;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const TypeTemplate& stated = signature.results[i].type;
    const Type* type = patterns::instantiate(stated, bindings, op.context);
    if (!stated.encoding) type = with_encoding(type, first, op.context);
    types.insert(types.end(), counts[i], type);
  }
  return types;
}

bool infer_by_signature(const DeclaredOp& declared, InferContext& op) {
  const Signature* signature = declared.signature_for(op.operand_count());
  if (signature == nullptr) {
    return op.fail(diag::kWrongArity, fmt::format("'{}' has no signature with {} operands",
                                                  declared.name, op.operand_count()));
  }
  std::vector<const Type*> operands;
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    operands.push_back(op.operand_type(i));
    const auto* tensor = dyn_cast<TensorType>(operands.back());
    // Conditions on unknown extents wait for the run.
    if (tensor != nullptr && std::ranges::any_of(tensor->dims(), &Dim::is_unknown)) op.leave_open();
  }
  std::vector<NamedAttr> attributes;
  for (const AttrRow& row : op.row().attributes) {
    const Attr* value = op.attribute(row.name);
    if (value != nullptr) attributes.push_back({op.context().intern(row.name), value});
  }
  const OpFacts facts{op.context(), op.row(), operands, attributes, {}, op.prover()};
  Refusal refusal;
  const auto bindings = bind(declared, *signature, facts, refusal);
  if (!bindings) return op.fail(refusal.code, std::move(refusal.message));
  for (const Type* type : result_types(*signature, facts, *bindings, op.result_count())) {
    op.result(type);
  }
  return true;
}

std::optional<std::vector<Dim>> weight_dims(const DeclaredOp& declared, const InferRequest& op,
                                            const WeightRow& weight) {
  const auto* operand = op.operands.empty() ? nullptr : dyn_cast<TensorType>(op.operands.front());
  const Signature* signature = declared.signature_for(op.operands.size());
  const auto facts = OpFacts{op.context, op.row, op.operands, op.attributes, {}, op.prover};
  Refusal ignored;
  const auto bindings =
      signature == nullptr ? std::nullopt : bind(declared, *signature, facts, ignored);
  if (!bindings) return std::nullopt;
  // Words may mean the last extent of the result.
  const auto results = result_types(*signature, facts, *bindings, op.result_count);
  const auto* result = results.empty() ? nullptr : dyn_cast<TensorType>(results.front());
  const auto by_words = [&](const WeightRow& row) {
    return parameter_dims(row, op.context, operand, result, op.attributes);
  };
  const auto shape = std::ranges::find(declared.weights, weight.suffix, &WeightShape::suffix);
  if (shape == declared.weights.end()) return by_words(weight);
  std::vector<Dim> dims;
  for (const WeightShape::Extent& each : shape->extents) {
    if (each.expression) {
      const Attr* value = patterns::evaluate(*each.expression, *bindings, op.context);
      const auto extent = value == nullptr ? std::nullopt : patterns::extent_of(*value);
      dims.push_back(extent.value_or(Dim::unknown()));
      continue;
    }
    const auto more = by_words({.suffix = weight.suffix, .shape = each.word});
    if (!more) return std::nullopt;
    dims.insert(dims.end(), more->begin(), more->end());
  }
  return dims;
}

}  // namespace mir::declare
