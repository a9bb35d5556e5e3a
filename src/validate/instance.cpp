// Draws random modules that a pattern matches: types, extents, attributes and constants.
#include "validate/instance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dialects/parameters.hpp"
#include "ir/declares_dialect.hpp"
#include "mir/infer.hpp"
#include "patterns/match.hpp"

namespace mir::validate {

using patterns::AttributeTemplate;
using patterns::Expression;
using patterns::NameTemplate;
using patterns::OpTemplate;
using patterns::TypeTemplate;
using patterns::ValueTemplate;

namespace {

constexpr std::array kDTypes = {DType::kFloat32,     DType::kFloat16,    DType::kBFloat16,
                                DType::kFloat64,     DType::kInt32,      DType::kInt64,
                                DType::kInt8,        DType::kUInt8,      DType::kInt16,
                                DType::kBool,        DType::kUInt16,     DType::kUInt32,
                                DType::kUInt64,      DType::kFloat8E4M3, DType::kFloat8E5M2,
                                DType::kComplexFP32, DType::kComplexFP64};

const Attr* list_of(std::span<const std::int64_t> values, IRContext& context) {
  std::vector<const Attr*> elements;
  for (const std::int64_t value : values) elements.push_back(context.integer(value));
  return context.array(elements);
}

bool needs_second_version(const OpTemplate& op) {
  return is_declared(op.info->dialect) || op.info->row->version > 1;
}

std::string choice(const AttrRow& row, const Attr& value) {
  return fmt::format("{}:{}", row.name, value.spelling());
}

std::string absent(const AttrRow& row) {
  return fmt::format("no {}", row.name);
}

/// The few values of an attribute that a pattern leaves open; empty for others.
std::vector<std::string> choices_of(const OpTemplate::Attribute& attribute) {
  const bool is_any = attribute.value.kind == AttributeTemplate::Kind::kAny;
  if (!is_any && attribute.value.kind != AttributeTemplate::Kind::kVariable) return {};
  const AttrRow& row = *attribute.row;
  std::vector<std::string> all;
  if (row.type == AttrType::kBool) {
    for (const char* word : {"true", "false"}) all.push_back(fmt::format("{}:{}", row.name, word));
  }
  for (const std::string_view word : row.choices)
    all.push_back(fmt::format("{}:{}", row.name, word));
  if (is_any && !row.required && !all.empty()) all.push_back(absent(row));
  return all;
}

}  // namespace

InstanceDrawer::InstanceDrawer(const patterns::Pattern& pattern, IRContext& context, Draw& draw)
    : pattern_(pattern), graph_(pattern.match), context_(context), draw_(draw), unifier_(context) {
  for (const patterns::Condition& each : pattern.conditions) collect(each.expression);
  for (const auto& let : pattern.lets) collect(let.second);
  for (const ValueTemplate& value : graph_.values) collect_extents(value.type.extents);
}

/// Extents that the pattern states are those that its variables have to meet.
void InstanceDrawer::collect_extents(const AttributeTemplate& extents) {
  if (extents.kind == AttributeTemplate::Kind::kLiteral && extents.literal != nullptr) {
    const Attr& literal = *extents.literal;
    if (literal.kind() == AttrKind::kInt) extents_of_pattern_.push_back(literal.integer());
    if (literal.kind() != AttrKind::kArray) return;
    for (const Attr* each : literal.elements()) {
      if (each->kind() == AttrKind::kInt) extents_of_pattern_.push_back(each->integer());
    }
  }
  for (const AttributeTemplate& each : extents.elements) collect_extents(each);
}

void InstanceDrawer::collect(const Expression& expression) {
  constexpr std::int64_t kMostExtent = 64;
  for (const Expression& part : expression.parts) collect(part);
  const Attr* literal = expression.literal;
  if (literal == nullptr) return;
  if (literal->kind() == AttrKind::kInt) {
    if (literal->integer() >= 0 && literal->integer() <= kMostExtent) {
      integers_.push_back(literal->integer());
    }
    numbers_.push_back(literal->number());
  } else if (literal->kind() == AttrKind::kFloat) {
    numbers_.push_back(literal->number());
  } else if (const auto dtype = dtype_from_name(literal->text())) {
    dtypes_.push_back(*dtype);
  }
}

std::optional<Instance> InstanceDrawer::draw(int size) {
  size_ = size;
  forced_dtype_.reset();
  forced_extent_.reset();
  return draw_graph();
}

std::optional<Instance> InstanceDrawer::draw_with(DType dtype, std::int64_t extent) {
  size_ = 1;
  forced_dtype_ = dtype;
  forced_extent_ = extent;
  return draw_graph();
}

std::optional<Instance> InstanceDrawer::draw_graph() {
  unifier_.undo({});
  unifier_.bindings().variables.assign(pattern_.variables.size(), nullptr);
  types_.assign(graph_.values.size(), nullptr);
  constants_.assign(graph_.values.size(), nullptr);
  extents_.clear();
  drawn_.clear();
  weights_.clear();
  if (!draw_inputs()) return std::nullopt;
  for (const OpTemplate& op : graph_.ops) {
    if (!draw_op(op)) return std::nullopt;
    const Attr* name = draw_name(op);
    if (needs_name(op) && (name == nullptr || !add_weights(op, name->text()))) return std::nullopt;
    drawn_.push_back({attributes_, name});
  }
  Instance made;
  for (std::uint32_t i = 0; i < graph_.input_count; ++i) {
    Shape shape;
    for (const Dim dim : types_[i]->dims()) shape.push_back(dim.constant());
    made.inputs.push_back({*types_[i]->dtype(), std::move(shape)});
  }
  for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
    for (const OpTemplate::Attribute& each : graph_.ops[i].attributes) {
      if (choices_of(each).empty()) continue;
      const auto at = std::ranges::find(drawn_[i].attributes, each.key, &NamedAttr::key);
      made.choices.push_back(at == drawn_[i].attributes.end() ? absent(*each.row)
                                                              : choice(*each.row, *at->value));
    }
  }
  made.text = module_text(false);
  made.symbolic_text = module_text(true);
  return made;
}

std::vector<std::string> InstanceDrawer::possible_choices() const {
  std::vector<std::string> all;
  for (const OpTemplate& op : graph_.ops) {
    for (const OpTemplate::Attribute& each : op.attributes) {
      for (std::string& text : choices_of(each)) {
        if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
      }
    }
  }
  return all;
}

std::span<const DType> InstanceDrawer::dtypes() {
  return kDTypes;
}

std::string InstanceDrawer::module_text(bool is_symbolic) {
  std::vector<std::string> inputs, results;
  for (std::uint32_t i = 0; i < graph_.input_count; ++i) {
    inputs.push_back(
        is_symbolic ? fmt::format("{}:{}", mention(i, false), generalised(*types_[i])->spelling())
                    : mention(i, true));
  }
  for (const std::uint32_t result : graph_.results) {
    results.push_back(mention(result, !is_symbolic));
  }
  const bool is_second = std::ranges::any_of(graph_.ops, needs_second_version);
  std::string text = fmt::format("@main [mir_version:{}] ({}) -> ({}) {{\n", is_second ? 2 : 1,
                                 fmt::join(inputs, ", "), fmt::join(results, ", "));
  if (!weights_.empty()) text += init_graph();
  std::vector<bool> is_stated(graph_.values.size());
  for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
    text += "    " + spelled(graph_.ops[i], drawn_[i], is_symbolic, is_stated) + '\n';
  }
  results.clear();
  for (const std::uint32_t result : graph_.results) results.push_back(mention(result, false));
  return text + fmt::format("    cf.ReturnOp ({}) -> ()\n}}\n", fmt::join(results, ", "));
}

/// Some extents become symbols, one for each number, or `?`.
const TensorType* InstanceDrawer::generalised(const TensorType& type) {
  std::vector<Dim> dims(type.dims().begin(), type.dims().end());
  for (Dim& dim : dims) {
    if (draw_.one_in(3)) continue;
    dim = draw_.one_in(3) ? Dim::unknown()
                          : context_.dims().symbol(fmt::format("E{}", dim.constant()));
  }
  return context_.tensor(dims, type.dtype_name(), type.device());
}

// -- types ----------------------------------------------------------------------------------------

/// Draws inputs with types, which bind variables. Other inputs are drawn with the ops that use
/// them.
bool InstanceDrawer::draw_inputs() {
  for (std::uint32_t i = 0; i < graph_.values.size(); ++i) {
    const ValueTemplate& value = graph_.values[i];
    if (value.is_input && !value.type.is_any && !draw_value(i, nullptr)) return false;
  }
  return true;
}

std::int64_t InstanceDrawer::draw_extent() {
  constexpr std::array<std::int64_t, 14> kExtents = {1, 2, 3, 1, 2, 0, 4, 5, 7, 8, 6, 11, 17, 34};
  if (!extents_.empty() && draw_.one_in(3)) return draw_.one_of(extents_);
  if (!integers_.empty() && draw_.one_in(3)) return draw_.one_of(integers_);
  if (!extents_of_pattern_.empty() && draw_.one_in(4)) return draw_.one_of(extents_of_pattern_);
  const std::size_t most = 3 + static_cast<std::size_t>(size_) * 3;
  extents_.push_back(kExtents[draw_.below(std::min(most, kExtents.size()))]);
  return extents_.back();
}

DType InstanceDrawer::draw_dtype() {
  if (forced_dtype_) return *forced_dtype_;
  if (preferred_dtype_ && !draw_.one_in(8)) return *preferred_dtype_;
  if (!dtypes_.empty() && draw_.one_in(2)) return draw_.one_of(dtypes_);
  return draw_.one_in(2) ? DType::kFloat32 : draw_.one_of(kDTypes);
}

/// Binds a variable that is not bound; a bound one stays.
bool InstanceDrawer::bind_name(const NameTemplate& name, const Attr* drawn) {
  if (!name.variable || unifier_.bindings().variables[*name.variable] != nullptr) return true;
  return unifier_.bind(*name.variable, drawn);
}

const TensorType* InstanceDrawer::draw_type(const TypeTemplate& wanted, const TensorType* like) {
  if (wanted.is_any) return any_type(like);
  if (wanted.exact != nullptr) return nullptr;
  const DType dtype =
      like != nullptr && like->dtype() && draw_.one_in(2) ? *like->dtype() : draw_dtype();
  bind_name(wanted.dtype, context_.word(name_of(dtype)));
  bind_name(wanted.device, context_.word("CPU"));
  const auto& variables = unifier_.bindings().variables;
  for (const AttributeTemplate& each : wanted.extents.elements) {
    if (each.kind == AttributeTemplate::Kind::kExpression) {
      patterns::for_each_variable(each.expression, [&](std::uint32_t variable) {
        if (variables[variable] == nullptr) {
          unifier_.bind(variable, context_.integer(draw_extent()));
        }
      });
    }
    if (each.kind != AttributeTemplate::Kind::kVariable || variables[each.variable] != nullptr) {
      continue;
    }
    std::vector<std::int64_t> extents;
    const std::size_t count = each.is_pack ? draw_.below(static_cast<std::size_t>(size_) + 2) : 1;
    for (std::size_t i = 0; i < count; ++i) extents.push_back(draw_extent());
    if (forced_extent_) extents = {*forced_extent_};
    unifier_.bind(each.variable,
                  each.is_pack ? list_of(extents, context_) : context_.integer(extents[0]));
  }
  return dyn_cast<TensorType>(patterns::instantiate(wanted, unifier_.bindings(), context_));
}

/// The type of another operand, one that broadcasts to it, or any.
const TensorType* InstanceDrawer::any_type(const TensorType* like) {
  if (forced_extent_) {
    const Dim extent(*forced_extent_);
    return context_.tensor({&extent, 1}, *forced_dtype_);
  }
  const DType dtype =
      like != nullptr && like->dtype() && !draw_.one_in(8) ? *like->dtype() : draw_dtype();
  std::vector<Dim> dims;
  if (like != nullptr && !draw_.one_in(4)) {
    dims.assign(like->dims().begin(), like->dims().end());
    if (draw_.one_in(3)) {
      const std::size_t kept = draw_.below(dims.size() + 1);
      dims.erase(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(kept));
      for (Dim& dim : dims) {
        if (draw_.one_in(3)) dim = Dim(1);
      }
    }
  } else {
    const std::size_t rank = draw_.below(static_cast<std::size_t>(size_) + 3);
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(Dim(draw_extent()));
  }
  return context_.tensor(dims, dtype);
}

bool InstanceDrawer::draw_value(std::uint32_t value, const TensorType* like) {
  const ValueTemplate& wanted = graph_.values[value];
  const bool is_complex =
      like != nullptr && like->dtype() && info(*like->dtype()).type_class == DTypeClass::kComplex;
  if (wanted.constant && wanted.type.is_any && (is_complex || draw_.one_in(2))) {
    const Dim one(1);
    // A constant is real, also beside complex numbers.
    const DType dtype = is_complex                          ? DType::kFloat32
                        : like == nullptr || !like->dtype() ? draw_dtype()
                                                            : *like->dtype();
    types_[value] = context_.tensor({&one, 1}, dtype);
  } else {
    types_[value] = draw_type(wanted.type, like);
  }
  return types_[value] != nullptr && types_[value]->dtype() &&
         (!wanted.constant || draw_constant(value));
}

const Attr* InstanceDrawer::draw_number() {
  constexpr std::array kNumbers = {0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 0.25, 1e-3, 10.0};
  const double value =
      !numbers_.empty() && draw_.one_in(2) ? draw_.one_of(numbers_) : draw_.one_of(kNumbers);
  const bool is_whole = value == std::trunc(value) && std::abs(value) < 1e6 && draw_.one_in(2);
  return is_whole ? context_.integer(static_cast<std::int64_t>(value)) : context_.number(value);
}

/// One number for all elements, or a list of as many.
bool InstanceDrawer::draw_constant(std::uint32_t value) {
  const AttributeTemplate& wanted = *graph_.values[value].constant;
  const Attr* known = patterns::instantiate(wanted, unifier_.bindings(), context_);
  if (known == nullptr) {
    constexpr std::int64_t kMost = 64;
    const auto count = types_[value]->element_count();
    const bool is_list = wanted.kind == AttributeTemplate::Kind::kVariable && count && *count > 0 &&
                         *count <= kMost && draw_.one_in(2);
    std::vector<const Attr*> numbers;
    const std::size_t length = wanted.kind == AttributeTemplate::Kind::kArray
                                   ? wanted.elements.size()
                                   : static_cast<std::size_t>(is_list ? *count : 1);
    for (std::size_t i = 0; i < length; ++i) numbers.push_back(draw_number());
    known = context_.array(numbers);
    if (!unifier_.unify(wanted, known)) return false;
  }
  constants_[value] = known;
  return true;
}

// -- ops ------------------------------------------------------------------------------------------

bool InstanceDrawer::draw_op(const OpTemplate& op) {
  if (op.device && !bind_name(*op.device, context_.word("CPU"))) return false;
  const TensorType* like = nullptr;
  for (const std::uint32_t operand : op.operands) {
    if (types_[operand] != nullptr && !graph_.values[operand].constant) like = types_[operand];
  }
  if (like == nullptr) {
    // Results of ops on constants only meet the other values later: take the type of one of these.
    const auto drawn =
        std::ranges::find_if(types_, [](const auto* type) { return type != nullptr; });
    if (drawn != types_.end()) like = *drawn;
  }
  for (const std::uint32_t operand : op.operands) {
    if (types_[operand] == nullptr && !draw_value(operand, like)) return false;
    if (like == nullptr && !graph_.values[operand].constant) like = types_[operand];
  }
  // Attributes seldom fit at once, least of all for operands of many dimensions.
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const patterns::Unifier::Mark before = unifier_.mark();
    if (draw_attributes(op) && infer_results(op)) return true;
    unifier_.undo(before);
  }
  return false;
}

bool InstanceDrawer::infer_results(const OpTemplate& op) {
  std::vector<const Type*> operands;
  for (const std::uint32_t operand : op.operands) operands.push_back(types_[operand]);
  Diagnostics ignored(1);
  const auto inferred = infer({.context = context_,
                               .row = *op.info->row,
                               .operands = operands,
                               .attributes = attributes_,
                               .result_count = op.results.size()},
                              ignored);
  if (!inferred || inferred->size() != op.results.size()) return false;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    const auto* type = dyn_cast<TensorType>((*inferred)[i]);
    if (type == nullptr || !type->has_static_shape()) return false;
    if (!unifier_.unify_type(graph_.values[op.results[i]].type, type)) return false;
    types_[op.results[i]] = type;
  }
  return true;
}

bool InstanceDrawer::draw_attributes(const OpTemplate& op) {
  attributes_.clear();
  const TensorType* operand = op.operands.empty() ? nullptr : types_[op.operands[0]];
  for (const OpTemplate::Attribute& each : op.attributes) {
    const Attr* value = patterns::instantiate(each.value, unifier_.bindings(), context_);
    // `_` means none, too: so it does where nothing can be drawn.
    const bool may_lack = each.value.kind == AttributeTemplate::Kind::kAny && !each.row->required;
    if (value == nullptr) {
      if (may_lack && draw_.one_in(2)) continue;
      if (each.row->type == AttrType::kSlices) value = draw_bounds(each.value, operand);
      if (each.row->type == AttrType::kDims && draw_.one_in(2)) {
        value = stated_extents(op, each.value);
      }
      if (value == nullptr) value = draw_attribute(*each.row, operand, op.results.size());
      if (may_lack && (value == nullptr || !admits(*each.row, *value))) continue;
      if (value == nullptr || !unifier_.unify(each.value, value)) return false;
    }
    if (!admits(*each.row, *value)) return false;
    attributes_.push_back({each.key, value});
  }
  return true;
}

const Attr* InstanceDrawer::draw_attribute(const AttrRow& row, const TensorType* operand,
                                           std::size_t results) {
  const auto rank = operand == nullptr ? 1 : static_cast<std::int64_t>(operand->rank());
  switch (row.type) {
    case AttrType::kInt:
    case AttrType::kDim:
      if (draw_.one_in(2))
        return context_.integer(draw_.between(-rank, std::max<std::int64_t>(rank - 1, 0)));
      return context_.integer(draw_.one_in(2) ? draw_extent() : draw_.between(0, 4));
    case AttrType::kFloat:
      return draw_number();
    case AttrType::kBool:
      return context_.boolean(draw_.one_in(2));
    case AttrType::kString:
      return row.choices.empty() ? nullptr : context_.word(draw_.one_of(row.choices));
    case AttrType::kDType:
      return context_.word(name_of(draw_dtype()));
    case AttrType::kDevice:
      return context_.word("CPU");
    case AttrType::kInts:
    case AttrType::kDims:
      return draw_list(row, operand, results);
    case AttrType::kSlices:
      return operand == nullptr ? nullptr : draw_slices(operand);
    default:
      return context_.integer(draw_.between(0, 4));
  }
}

/// A permutation, a shape of as many elements, pieces of an extent, or some integers.
const Attr* InstanceDrawer::draw_list(const AttrRow& row, const TensorType* operand,
                                      std::size_t results) {
  const std::size_t rank = operand == nullptr ? 1 : operand->rank();
  std::vector<std::int64_t> list;
  const std::uint64_t way = row.type == AttrType::kDims ? draw_.between(1, 2) : draw_.below(5);
  if (way == 0) {
    for (std::size_t i = 0; i < rank; ++i) list.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = rank; i > 1; --i) std::swap(list[i - 1], list[draw_.below(i)]);
  } else if (way == 1 && operand != nullptr) {
    std::int64_t left = operand->element_count().value_or(1);
    const std::size_t count = draw_.below(4);
    for (std::size_t i = 0; i < count && left != 0; ++i) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t d = 1; d <= left; ++d) {
        if (left % d == 0) divisors.push_back(d);
      }
      list.push_back(draw_.one_of(divisors));
      left /= list.back();
    }
    list.push_back(left);
    if (draw_.one_in(4)) list[draw_.below(list.size())] = -1;
  } else if (way == 2 && operand != nullptr && rank != 0) {
    std::int64_t left = operand->dims()[draw_.below(rank)].constant();
    for (std::size_t i = 1; i < std::max<std::size_t>(results, 1); ++i) {
      list.push_back(draw_.between(0, left));
      left -= list.back();
    }
    list.push_back(left);
  } else {
    const std::size_t count = way == 3 ? rank : draw_.below(2 * rank + 1);
    for (std::size_t i = 0; i < count; ++i) list.push_back(draw_.between(0, 3));
  }
  return list_of(list, context_);
}

/// Returns the extents that the pattern states for the result, for an attribute that it leaves
/// open; null if it states none.
const Attr* InstanceDrawer::stated_extents(const OpTemplate& op, const AttributeTemplate& wanted) {
  const TypeTemplate& result = graph_.values[op.results.front()].type;
  if (wanted.kind != AttributeTemplate::Kind::kAny || result.is_any) return nullptr;
  return patterns::instantiate(result.extents, unifier_.bindings(), context_);
}

/// Returns numbers for the bounds that the pattern leaves open in slices that it writes out; null
/// for others.
const Attr* InstanceDrawer::draw_bounds(const AttributeTemplate& wanted,
                                        const TensorType* operand) {
  if (wanted.kind != AttributeTemplate::Kind::kArray) return nullptr;
  // Slices with all three bounds are drawn to fit.
  const auto is_whole = [](const AttributeTemplate& slice) { return slice.keys.size() == 3; };
  if (std::ranges::all_of(wanted.elements, is_whole)) return nullptr;
  std::vector<const Attr*> slices;
  for (std::size_t i = 0; i < wanted.elements.size(); ++i) {
    const AttributeTemplate& slice = wanted.elements[i];
    const std::int64_t extent =
        operand != nullptr && i < operand->rank() ? operand->dims()[i].constant() : draw_extent();
    std::vector<NamedAttr> bounds;
    for (std::size_t k = 0; k < slice.elements.size(); ++k) {
      // `_` means none, too.
      const bool is_any = slice.elements[k].kind == AttributeTemplate::Kind::kAny;
      if (is_any && draw_.one_in(3)) continue;
      const Attr* bound = draw_bound(slice.elements[k], extent);
      if (bound == nullptr) return nullptr;
      bounds.push_back({slice.keys[k], bound});
    }
    slices.push_back(slice.kind == AttributeTemplate::Kind::kDict
                         ? context_.dict(bounds)
                         : patterns::instantiate(slice, unifier_.bindings(), context_));
    if (slices.back() == nullptr) slices.back() = context_.word("all");
  }
  return context_.array(slices);
}

/// A bound of a slice, mostly one that fits the extent.
const Attr* InstanceDrawer::draw_bound(const AttributeTemplate& bound, std::int64_t extent) {
  const Attr* known = patterns::instantiate(bound, unifier_.bindings(), context_);
  if (known != nullptr) return known;
  const Attr* drawn =
      context_.integer(draw_.one_in(2) ? draw_extent() : draw_.between(-extent, extent));
  return unifier_.unify(bound, drawn) ? drawn : nullptr;
}

const Attr* InstanceDrawer::draw_slices(const TensorType* operand) {
  std::vector<const Attr*> parts;
  for (const Dim dim : operand->dims()) {
    if (draw_.one_in(3)) {
      parts.push_back(context_.word("all"));
      continue;
    }
    const std::int64_t extent = dim.constant();
    std::int64_t begin = draw_.between(0, extent), end = draw_.between(begin, extent);
    // Some bounds are counted from the end; 0 cannot be.
    if (end < extent && draw_.one_in(4)) end -= extent;
    if (begin < extent && draw_.one_in(4)) begin -= extent;
    const NamedAttr entries[] = {{key::kStart, context_.integer(begin)},
                                 {key::kEnd, context_.integer(end)},
                                 {key::kStep, context_.integer(draw_.between(1, 2))}};
    parts.push_back(context_.dict(entries));
  }
  return context_.array(parts);
}

// -- names and weights ----------------------------------------------------------------------------

bool InstanceDrawer::needs_name(const OpTemplate& op) {
  return op.path || !op.takes_any_path;
}

/// Returns null if the op needs no name.
const Attr* InstanceDrawer::draw_name(const OpTemplate& op) {
  if (!needs_name(op)) return nullptr;
  const Attr* known =
      op.path ? patterns::instantiate(*op.path, unifier_.bindings(), context_) : nullptr;
  if (known != nullptr) return known;
  const Attr* made = context_.string(fmt::format("op{}", drawn_.size()));
  return op.path && !unifier_.unify(*op.path, made) ? nullptr : made;
}

/// Notes the parameters that the op at hand finds by its name. False if their extents are unknown.
bool InstanceDrawer::add_weights(const OpTemplate& op, std::string_view name) {
  const TensorType* operand = op.operands.empty() ? nullptr : types_[op.operands[0]];
  const TensorType* result = op.results.empty() ? nullptr : types_[op.results[0]];
  for (const WeightRow& weight : op.info->row->weights) {
    if (!owns_parameter(*op.info->row, weight, context_, attributes_)) continue;
    const auto extents = parameter_extents(weight, context_, operand, result, attributes_);
    if (!extents || result == nullptr) return false;
    std::vector<Dim> dims;
    for (const std::int64_t extent : *extents) dims.push_back(Dim(extent));
    const TensorType* type = context_.tensor(dims, result->dtype_name(), result->device());
    // Ops of one name share their parameters.
    const auto [known, is_new] = weights_.emplace(fmt::format("{}{}", name, weight.suffix), type);
    if (!is_new && known->second != type) return false;
  }
  return true;
}

std::string InstanceDrawer::init_graph() const {
  std::string text = "    graph.SubGraphOp @init <notype> {\n        () -> () {\n";
  std::size_t number = 0;
  for (const auto& [symbol, type] : weights_) {
    text += fmt::format("            tensor.CPU.register () -> (%w{}:{}[@{}])[symbol:{}]\n",
                        number++, type->spelling(), symbol, symbol);
  }
  return text + "        }\n    }\n";
}

// -- text -----------------------------------------------------------------------------------------

std::string InstanceDrawer::mention(std::uint32_t value, bool states) const {
  std::string text =
      fmt::format("%{}", graph_.values[value].name.empty() ? fmt::format("v{}", value)
                                                           : graph_.values[value].name);
  if (states) text += fmt::format(":{}", types_[value]->spelling());
  if (states && constants_[value] != nullptr) {
    text += fmt::format("[constant:{}]", constants_[value]->spelling());
  }
  return text;
}

std::string InstanceDrawer::spelled(const OpTemplate& op, const Drawn& drawn, bool is_symbolic,
                                    std::vector<bool>& is_stated) const {
  std::vector<std::string> attributes, operands, results;
  for (const NamedAttr& each : drawn.attributes) {
    attributes.push_back(fmt::format("{}:{}", context_.text(each.key), each.value->spelling()));
  }
  for (const std::uint32_t operand : op.operands) {
    const bool states = constants_[operand] != nullptr && !is_stated[operand];
    operands.push_back(mention(operand, states));
    is_stated[operand] = true;
  }
  for (const std::uint32_t result : op.results) results.push_back(mention(result, !is_symbolic));
  const Symbol device = op.device ? context_.intern("CPU") : Symbol();
  return fmt::format("{} {}{}({}) -> ({})",
                     context_.text(context_.op_name(op.kind, device).spelling),
                     drawn.name == nullptr ? "" : fmt::format("<name=\"{}\"> ", drawn.name->text()),
                     attributes.empty() ? "" : fmt::format("[{}] ", fmt::join(attributes, ", ")),
                     fmt::join(operands, ", "), fmt::join(results, ", "));
}

}  // namespace mir::validate
