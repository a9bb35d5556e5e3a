// Draws random modules that a pattern matches: types, extents, attributes and constants.
#include "validate/instance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dialects/parameters.hpp"
#include "ir/context/language_versions.hpp"
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

std::int64_t needed_version(const OpTemplate& op) {
  return std::max<std::int64_t>(op.info->row->version,
                                is_declared(op.info->dialect) ? kDialectsVersion : kFirstVersion);
}

/// The version of a module with the ops of either region.
std::int64_t needed_version(const patterns::Pattern& pattern) {
  std::int64_t version = pattern.version;
  for (const patterns::GraphTemplate* graph : {&pattern.match, &pattern.rewrite}) {
    for (const OpTemplate& op : graph->ops) version = std::max(version, needed_version(op));
  }
  return version;
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
  for (const OpTemplate& op : graph_.ops) {
    casts_ = casts_ || std::ranges::find(op.info->row->attributes, AttrType::kDType,
                                         &AttrRow::type) != op.info->row->attributes.end();
  }
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
  std::string text =
      fmt::format("@main [mir_version:{}] ({}) -> ({}) {{\n", needed_version(pattern_),
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
  // Numbers of the widest type show where casts round twice.
  if (casts_ && draw_.one_in(3)) return DType::kFloat64;
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
    const std::size_t others = wanted.extents.elements.size() - 1;
    const std::size_t count = !each.is_pack ? 1
                              : preferred_rank_ && *preferred_rank_ >= others
                                  ? *preferred_rank_ - others
                                  : draw_.below(static_cast<std::size_t>(size_) + 2);
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
    const std::size_t rank =
        preferred_rank_ ? *preferred_rank_ : draw_.below(static_cast<std::size_t>(size_) + 3);
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
  std::vector<const Type*> operands;
  for (const std::uint32_t operand : op.operands) operands.push_back(types_[operand]);
  const TensorType* result = op.results.empty() ? nullptr : types_[op.results[0]];
  for (const WeightRow& weight : op.info->row->weights) {
    if (!owns_parameter(*op.info->row, weight, context_, attributes_)) continue;
    const auto dims = parameter_dims({.context = context_,
                                      .row = *op.info->row,
                                      .operands = operands,
                                      .attributes = attributes_,
                                      .result_count = op.results.size()},
                                     weight, result);
    const bool is_known =
        dims && result != nullptr && std::ranges::all_of(*dims, &Dim::is_constant);
    if (!is_known) return false;
    const TensorType* type = context_.tensor(*dims, result->dtype_name(), result->device());
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
