// Reads regions with variables as templates of graphs, ops, types and attributes.
#include "patterns/read_template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/parameters.hpp"
#include "ir/context/elements.hpp"
#include "ir/own_symbols.hpp"
#include "mir/equivalence.hpp"
#include "mir/module.hpp"
#include "mir/tensor.hpp"
#include "patterns/attribute_parts.hpp"
#include "support/characters.hpp"
#include "support/counted.hpp"
#include "support/suggest.hpp"

namespace mir::patterns {

namespace {

/// `(did you mean 'x'?)` after a message, if one of the names is near.
template <class Names, class Projection>
std::string near_name(std::string_view word, const Names& names, Projection name_of) {
  NearestName nearest(word);
  for (const auto& each : names) nearest.offer(std::invoke(name_of, each));
  return nearest.best().empty() ? std::string()
                                : fmt::format(" (did you mean '{}'?)", nearest.best());
}

/// True for a quoted text in which somebody may expect a variable to be replaced: "$name.weight".
bool has_variable_in_text(const Attr& value) {
  if (value.kind() != AttrKind::kString) return false;
  const std::string_view text = value.spelling();
  for (std::size_t at = text.find('$'); at != text.npos; at = text.find('$', at + 1)) {
    if (at + 1 < text.size() && is_letter(text[at + 1])) return true;
  }
  return false;
}

}  // namespace

bool TemplateReader::refuse(Span at, std::string message) {
  if (read_op_ != nullptr) at = places_.find(*read_op_, read_place_);
  diagnostics_.error(
      code_, at, subject_.empty() ? std::move(message) : fmt::format("{}: {}", subject_, message));
  return false;
}

// -- variables ----------------------------------------------------------------------------------

/// The number of a variable, which may be new.
std::uint32_t TemplateReader::number_of(std::string_view name) {
  const auto found = std::ranges::find(variables_, name);
  if (found == variables_.end()) {
    variables_.emplace_back(name);
    is_bound_.push_back(false);
    return static_cast<std::uint32_t>(variables_.size() - 1);
  }
  return static_cast<std::uint32_t>(found - variables_.begin());
}

/// In a match, an expression may stand before what binds its variables.
std::optional<std::uint32_t> TemplateReader::variable(std::string_view name) {
  if (is_match_) return number_of(name);
  const auto found = std::ranges::find(variables_, name);
  if (found == variables_.end()) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(found - variables_.begin());
  return is_bound_[number] ? std::optional(number) : std::nullopt;
}

/// A variable at a place that binds it in a match and uses it in a rewrite.
std::optional<std::uint32_t> TemplateReader::bare_variable(std::string_view name, Span at) {
  const auto number = find_variable(*this, name);
  if (!number) {
    refuse(at, fmt::format("nothing binds '{}'", name));
    return std::nullopt;
  }
  if (is_match_) is_bound_[*number] = true;
  return number;
}

std::optional<Expression> TemplateReader::expression(std::string_view text, Span at) {
  auto parsed = parse_expression(text, *this, context_);
  if (parsed) return *std::move(parsed);
  refuse(at, parsed.error().message);
  return std::nullopt;
}

/// Reads the text, or the extent, of a `let` or a `where`.
std::optional<Expression> TemplateReader::expression(const Attr& stated, Span at) {
  if (stated.kind() == AttrKind::kString) return expression(stated.text(), at);
  if (stated.kind() == AttrKind::kDim) return expression(stated.spelling(), at);
  return Expression{.literal = &stated};
}

// -- attributes and types -----------------------------------------------------------------------

std::optional<AttributeTemplate> TemplateReader::attribute(const Attr& value, Span at) {
  using enum AttributeTemplate::Kind;
  AttributeTemplate made{.kind = kLiteral, .literal = &value};
  if (value.kind() == AttrKind::kDim) return extent(value.dim(), at);
  if (value.kind() == AttrKind::kString && !value.is_quoted()) {
    if (value.text() == "_") {
      if (!is_match_) {
        refuse(at, "'_' stands for any value, so a rewrite cannot make it");
        return std::nullopt;
      }
      made.kind = kAny;
    } else if (is_name_variable(value.text())) {
      const auto number = bare_variable(value.text(), at);
      if (!number) return std::nullopt;
      made.kind = kVariable;
      made.variable = *number;
    }
    return made;
  }
  if (value.kind() == AttrKind::kDialect) return dialect_attribute(value, at);
  if (has_variable_in_text(value) && !is_pattern_) {
    auto parsed = parse_expression(value.text(), *this, context_);
    if (parsed) return AttributeTemplate{.kind = kExpression, .expression = *std::move(parsed)};
    refuse(at,
           fmt::format("{} is not an expression: {}", value.spelling(), parsed.error().message));
    return std::nullopt;
  }
  if (has_variable_in_text(value)) {
    refuse(at, fmt::format("no variable is replaced in {}", value.spelling()));
    return std::nullopt;
  }
  if (value.kind() != AttrKind::kArray && value.kind() != AttrKind::kDict) return made;
  std::vector<const Attr*> parts(value.elements().begin(), value.elements().end());
  for (const NamedAttr& entry : value.entries()) {
    made.keys.push_back(entry.key);
    parts.push_back(entry.value);
  }
  made.kind = value.kind() == AttrKind::kArray ? kArray : kDict;
  return list(std::move(made), parts, at);
}

std::optional<AttributeTemplate> TemplateReader::dialect_attribute(const Attr& value, Span at) {
  const auto parts = parts_of(value, context_);
  if (!parts) {
    refuse(at, fmt::format("cannot read the parameters of '{}'", value.spelling()));
    return std::nullopt;
  }
  return list({.kind = AttributeTemplate::Kind::kDialect,
               .literal = &value,
               .name = std::string(parts->name)},
              parts->parameters, at);
}

std::optional<AttributeTemplate> TemplateReader::list(AttributeTemplate made,
                                                      std::span<const Attr* const> parts, Span at) {
  made.elements.reserve(parts.size());
  for (const Attr* part : parts) {
    auto each = attribute(*part, at);
    if (!each) return std::nullopt;
    made.elements.push_back(*std::move(each));
  }
  return checked_list(std::move(made), at);
}

std::optional<AttributeTemplate> TemplateReader::checked_list(AttributeTemplate made, Span at) {
  if (is_match_ && std::ranges::count(made.elements, true, &AttributeTemplate::is_pack) > 1) {
    refuse(at, "a list that is matched has at most one pack");
    return std::nullopt;
  }
  if (made.literal != nullptr &&
      std::ranges::all_of(made.elements, [](const AttributeTemplate& each) {
        return each.kind == AttributeTemplate::Kind::kLiteral;
      })) {
    made.kind = AttributeTemplate::Kind::kLiteral;
    made.elements.clear();
  }
  return made;
}

std::optional<AttributeTemplate> TemplateReader::extent(Dim dim, Span at) {
  using enum AttributeTemplate::Kind;
  if (dim.is_constant()) {
    return AttributeTemplate{.kind = kLiteral, .literal = context_.integer(dim.constant())};
  }
  if (dim.is_unknown()) {
    refuse(at, "'?' is no extent of a pattern: write a variable, or leave the type out");
    return std::nullopt;
  }
  const auto symbols = context_.dims().symbols(dim);
  const std::string_view symbol = symbols.empty() ? "" : context_.text(symbols.front());
  if (symbols.size() != 1 || dim != context_.dims().symbol(symbol)) {
    auto parsed = expression(context_.dims().print(dim), at);
    if (!parsed) return std::nullopt;
    return AttributeTemplate{.kind = kExpression, .expression = *std::move(parsed)};
  }
  const auto number = bare_variable(std::string("$").append(symbol), at);
  if (!number) return std::nullopt;
  return AttributeTemplate{.kind = kVariable, .variable = *number, .is_pack = dim.is_pack()};
}

std::optional<NameTemplate> TemplateReader::name(Symbol name, Span at) {
  NameTemplate made{.variable = std::nullopt, .name = name};
  if (!is_name_variable(context_.text(name))) return made;
  made.variable = bare_variable(context_.text(name), at);
  if (!made.variable) return std::nullopt;
  return made;
}

std::optional<TypeTemplate> TemplateReader::type(const Type* type, Span at) {
  TypeTemplate made;
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return dialect_type(dyn_cast<DialectType>(type), at);
  const std::string_view dtype = context_.text(tensor->dtype_name());
  if (!tensor->dtype() && !is_name_variable(dtype)) {
    refuse(at, fmt::format("'{}' is neither an element type nor a variable, which is a capital "
                           "letter, perhaps with a digit",
                           dtype));
    return std::nullopt;
  }
  AttributeTemplate extents{.kind = AttributeTemplate::Kind::kArray};
  extents.elements.reserve(tensor->dims().size());
  for (const Dim dim : tensor->dims()) {
    auto each = extent(dim, at);
    if (!each) return std::nullopt;
    extents.elements.push_back(*std::move(each));
  }
  auto listed = checked_list(std::move(extents), at);
  auto element = name(tensor->dtype_name(), at), device = name(tensor->device(), at);
  if (!listed || !element || !device) return std::nullopt;
  made.extents = *std::move(listed);
  made.dtype = *element;
  made.device = *device;
  if (tensor->encoding() != nullptr) {
    made.encoding = attribute(*tensor->encoding(), at);
    if (!made.encoding) return std::nullopt;
  }
  return made;
}

/// A type that is no tensor, with variables among its parameters or without.
std::optional<TypeTemplate> TemplateReader::dialect_type(const DialectType* type, Span at) {
  TypeTemplate made;
  made.is_any = type == nullptr || type->spelling() == "!builtin.any";
  if (made.is_any) return made;
  const std::string_view text = type->spelling();
  const std::size_t begin = std::min(text.find('<'), text.size() - 1) + 1;
  std::vector<const Attr*> parts(type->parameters().begin(), type->parameters().end());
  if (!type->is_structured() && begin < text.size()) {
    Diagnostics found(1);
    const auto list =
        read_elements(context_, text.substr(begin, text.size() - begin - 1), 0, found);
    if (!list) {
      refuse(at, fmt::format("cannot read the parameters of '{}'", text));
      return std::nullopt;
    }
    for (const Element& each : *list) parts.push_back(each.value);
  }
  auto parameters = list({.kind = AttributeTemplate::Kind::kArray}, parts, at);
  if (!parameters) return std::nullopt;
  const bool is_exact = std::ranges::all_of(
      parameters->elements,
      [](const AttributeTemplate& each) { return each.kind == AttributeTemplate::Kind::kLiteral; });
  if (is_exact) {
    made.exact = type;
  } else {
    made.kind = type->kind().name;
    made.extents = *std::move(parameters);
  }
  return made;
}

bool TemplateReader::read_lets(const Op& op) {
  const Attr* lets = op.attribute(key::kLet);
  if (lets == nullptr) return true;
  bool are_good = true;
  for (const NamedAttr& entry : lets->entries()) {
    std::string name(context_.text(entry.key));
    const bool is_name = !is_pattern_ && is_name_variable(name);
    if (!name.starts_with('$') && !is_name) name.insert(0, "$");
    const std::uint32_t number = number_of(name);
    const Reading reading(*this, op, {.key = context_.text(entry.key), .in = key::kLet});
    if (is_bound_[number]) {
      are_good = refuse(op.span(), fmt::format("'let' binds '{}', which is bound already", name));
      continue;
    }
    auto value = expression(*entry.value, op.span());
    // Uses of it are not further mistakes.
    is_bound_[number] = true;
    are_good = are_good && value;
    if (value) lets_.emplace_back(number, *std::move(value));
  }
  return are_good;
}

bool TemplateReader::read_condition(const Attr& text, std::string_view reason, Span at) {
  auto read = expression(text, at);
  if (!read) return false;
  conditions_.push_back(
      {reason.empty()
           ? fmt::format("condition '{}' does not hold",
                         text.kind() == AttrKind::kString ? text.text() : text.spelling())
           : std::string(reason),
       *std::move(read)});
  return true;
}

bool TemplateReader::read_conditions(const Op& op) {
  const Attr* where = op.attribute(key::kWhere);
  if (where == nullptr) return true;
  bool are_good = true;
  for (const Attr* each : where->elements()) {
    const Reading reading(*this, op, {key::kWhere});
    are_good = read_condition(*each, "", op.span()) && are_good;
  }
  for (const NamedAttr& each : where->entries()) {
    const Attr& condition = *context_.string(context_.text(each.key));
    const Reading reading(
        *this, op,
        {.key = context_.text(each.key), .part = AttributePart::kKey, .in = key::kWhere});
    are_good = read_condition(condition, each.value->text(), op.span()) && are_good;
  }
  if (where->kind() == AttrKind::kArray || where->kind() == AttrKind::kDict) return are_good;
  const Reading reading(*this, op, {key::kWhere});
  return read_condition(*where, "", op.span());
}

// -- regions ------------------------------------------------------------------------------------

std::string TemplateReader::spelled(ValueName name, const IRContext& context) {
  return name.is_none()     ? ""
         : name.is_number() ? std::to_string(name.number())
                            : std::string(context.text(name.symbol()));
}

std::optional<std::uint32_t> TemplateReader::add_value(const Value& value, GraphTemplate& graph,
                                                       Span at) {
  auto stated = type(value.type(), at);
  if (!stated) return std::nullopt;
  ValueTemplate made{.type = *std::move(stated), .name = spelled(value.name(), context_)};
  for (const NamedAttr& each : value.attributes()) {
    if ((each.key == key::kConstant && value.is_free()) || takes_mark(value, each)) continue;
    refuse(at, fmt::format("'%{}' has an attribute '{}', which {} cannot ask for", made.name,
                           context_.text(each.key), noun_));
    return std::nullopt;
  }
  if (value.has_symbol()) {
    refuse(at, fmt::format("'%{}' has a symbol: make a parameter an input of {}", made.name,
                           is_pattern_ ? "the pattern" : "the op"));
    return std::nullopt;
  }
  if (const Attr* elements = value.is_free() ? value.attribute(key::kConstant) : nullptr) {
    made.constant = attribute(*elements, at);
    if (!made.constant) return std::nullopt;
  }
  const auto number = static_cast<std::uint32_t>(graph.values.size());
  numbers_.emplace(&value, number);
  graph.values.push_back(std::move(made));
  return number;
}

bool TemplateReader::read_graph(const Region& region, GraphTemplate& graph) {
  const Block* block = region.entry();
  if (block == nullptr || block->next() != nullptr || !region.has_signature()) {
    return refuse(region.parent()->span(),
                  fmt::format("a region of {} has a signature and one block", noun_));
  }
  return read_inputs(*block, graph) && read_ops(region, graph);
}

bool TemplateReader::read_inputs(const Block& block, GraphTemplate& graph) {
  std::size_t values = block.arguments().size();
  for (const Op* op : block.ops()) values += op->result_count();
  graph.values.reserve(values);
  for (const Value& input : block.arguments()) {
    const auto number = add_value(input, graph, block.parent()->parent()->span());
    if (!number) return false;
    graph.values[*number].is_input = true;
  }
  graph.input_count = graph.values.size();
  return true;
}

bool TemplateReader::read_ops(const Region& region, GraphTemplate& graph) {
  bool are_good = true;
  for (const Op* op : region.entry()->ops()) {
    if (op->is(OpId::kCfReturn)) return read_results(region, *op, graph) && are_good;
    if (auto made = read_op(*op, graph)) {
      const auto number = static_cast<std::uint32_t>(graph.ops.size());
      for (const std::uint32_t each : made->results) graph.values[each].op = number;
      graph.ops.push_back(*std::move(made));
      continue;
    }
    are_good = false;
    for (const Value& result : op->results()) unread_.insert(&result);
  }
  return refuse(region.parent()->span(),
                fmt::format("a region of {} ends with cf.ReturnOp", noun_));
}

std::optional<std::uint32_t> TemplateReader::operand(Value& value, GraphTemplate& graph,
                                                     const Op& user) {
  const auto known = numbers_.find(&value);
  if (known != numbers_.end()) return known->second;
  if (unread_.contains(&value)) return std::nullopt;  // its op has a mistake of its own
  const bool is_undefined =
      value.is_free() && !value.has_symbol() && value.attribute(key::kConstant) == nullptr;
  if (is_undefined && !is_pattern_) return std::nullopt;  // reported where the text was read
  if (value.is_free()) return add_value(value, graph, user.span());
  refuse(user.span(),
         fmt::format("'%{}' is used above its definition", spelled(value.name(), context_)));
  return std::nullopt;
}

bool TemplateReader::read_results(const Region& region, const Op& end, GraphTemplate& graph) {
  if (end.next() != nullptr) {
    return refuse(end.span(), "cf.ReturnOp is the last op of a region");
  }
  const auto stated = region.result_types();
  if (stated.size() != end.operand_count()) {
    return refuse(end.span(), fmt::format("{} values are returned, the signature has {}",
                                          end.operand_count(), stated.size()));
  }
  for (std::uint32_t i = 0; i < end.operand_count(); ++i) {
    const auto number = operand(*end.operand(i), graph, end);
    if (!number) return false;
    graph.results.push_back(*number);
    auto wanted = type(stated[i], end.span());
    if (!wanted) return false;
    TypeTemplate& own = graph.values[*number].type;
    if (own.is_any) own = *std::move(wanted);
  }
  return true;
}

bool TemplateReader::check_op(const Op& op, const NamedOp& named) {
  const auto refuse_op = [&](std::string message) { return refuse(op.span(), std::move(message)); };
  const OpRow* row = named.info->row;
  if (row == nullptr) {
    const Dialect* dialect = named.info->dialect;
    const auto name_in_dialect = [&](const OpRow& each) {
      return fmt::format("{}.{}", dialect->name, each.name);
    };
    return refuse_op(fmt::format(
        "operation '{}' is not known{}", op.name(),
        dialect == nullptr ? "; no text that was read declares its dialect (--dialect=FILE)"
                           : near_name(op.name(), dialect->rows, name_in_dialect)));
  }
  const bool may_flow = !is_pattern_ && op.is(OpId::kCfIf, OpId::kCfFor, OpId::kCfWhile);
  const bool runs_region = !is_pattern_ && op.is(OpId::kDialectRun);
  const bool may_loop = !is_pattern_ && op.is(OpId::kLinalgGeneric);
  const bool is_pure = has(row->traits, Trait::kPure) || may_flow || runs_region;
  constexpr Effect kState = Effect::kReadsState | Effect::kWritesState;
  const bool keeps_state =
      !is_pattern_ && has(row->effects, kState) && (row->effects & ~kState) == Effect::kNone;
  if (keeps_state && depth_ != 0) {
    return refuse_op(
        fmt::format("'{}' keeps state, so it cannot be in a region of a body", named.info->name));
  }
  if (!keeps_state && (!is_pure || row->effects != Effect::kNone)) {
    return refuse_op(fmt::format(
        "'{}' has effects, or depends on more than its operands; {}", named.info->name,
        is_pattern_ ? "patterns rewrite pure operations"
                    : "a body consists of pure operations and of those that keep state"));
  }
  if ((op.region_count() != 0 && !may_flow && !may_loop) || !op.extra().successors.empty() ||
      op.has_symbol()) {
    return refuse_op(fmt::format("an op of {} has no regions, successors or symbol", noun_));
  }
  if (!row->regions.admits(op.region_count())) {
    return refuse_op(fmt::format("the number of regions of '{}' is {}, expected {}",
                                 named.info->name, op.region_count(), row->regions.min));
  }
  std::size_t operands = 0;
  for (const Use& use : op.operand_uses()) operands += copies_of(*use.value());
  if (row->operands.admits(operands) && row->results.admits(op.result_count())) return true;
  return refuse_op(fmt::format("'{}' cannot have {} and {}", named.info->name,
                               counted(operands, "operands"),
                               counted(op.result_count(), "results")));
}

std::optional<OpTemplate> TemplateReader::read_op(const Op& op, GraphTemplate& graph) {
  const NamedOp named = this->named(op);
  if (!check_op(op, named)) return std::nullopt;
  OpTemplate made{.kind = named.kind, .info = named.info, .at = op.span()};
  made.is_commutative = has(named.info->row->traits, Trait::kCommutative) &&
                        op.operand_count() == 2 && op.operand(0) != op.operand(1);
  if (named.device) {
    made.device = name(named.device, op.span());
    if (!made.device) return std::nullopt;
  }
  const bool are_read = read_repeat(op, made) && read_only_if(op, made) &&
                        read_attributes(op, made) && read_path(op, made);
  if (made.repeat) is_bound_[made.repeat->variable] = false;
  if (!are_read) return std::nullopt;
  graph.is_folded = graph.is_folded || made.repeat || made.condition;
  for (const Use& use : op.operand_uses()) {
    const auto each = operand(*use.value(), graph, op);
    if (!each) return std::nullopt;
    made.operands.push_back(*each);
  }
  if (!read_regions(op, made, graph)) return std::nullopt;
  for (const Value& result : op.results()) {
    const auto each = add_value(result, graph, op.span());
    if (!each) return std::nullopt;
    graph.values[*each].result = result.index();
    made.results.push_back(*each);
    if (!op.is(OpId::kDialectRun) || !graph.values[*each].type.is_any) continue;
    refuse(op.span(),
           fmt::format("result '%{}' of a region needs a type", graph.values[*each].name));
    return std::nullopt;
  }
  if (!made.regions.empty() && !check_flow(op, made)) return std::nullopt;
  return made;
}

bool TemplateReader::read_regions(const Op& op, OpTemplate& made, GraphTemplate& graph) {
  if (op.first_region() == nullptr) return true;
  if (op.row()->region_flow) made.flow = op.row()->region_flow(op);
  bool are_good = true;
  ++depth_;
  for (const Region* region = op.first_region(); region != nullptr; region = region->next()) {
    are_good = read_region(*region, made.regions.emplace_back(), graph) && are_good;
  }
  --depth_;
  return are_good;
}

bool TemplateReader::read_region(const Region& region, OpTemplate::Region& made,
                                 GraphTemplate& graph) {
  const Op& op = *region.parent();
  if (region.empty() || region.has_several_blocks()) {
    return refuse(op.span(), fmt::format("a region of '{}' has one block in {}", op.name(), noun_));
  }
  for (const Value& argument : region.entry_arguments()) {
    const auto each = add_value(argument, graph, op.span());
    if (!each) return false;
    graph.values[*each].is_input = true;
    made.arguments.push_back(*each);
  }
  bool are_good = true;
  for (const Op* inner : region.entry()->ops()) {
    if (auto read = read_op(*inner, graph)) {
      made.ops.push_back(*std::move(read));
      continue;
    }
    are_good = false;
    for (const Value& result : inner->results()) unread_.insert(&result);
  }
  return are_good;
}

/// True if the regions of an op of control flow end as they must, and pass as many values as they
/// reach; false after reporting.
bool TemplateReader::check_flow(const Op& op, const OpTemplate& made) {
  for (std::size_t i = 0; i < made.regions.size(); ++i) {
    const auto& ops = made.regions[i].ops;
    const OpId wanted = op.is(OpId::kCfWhile) && i == 0 ? OpId::kCfCondition : OpId::kCfYield;
    if (ops.empty() || ops.back().kind.op() != wanted) {
      return refuse(
          ops.empty() ? op.span() : ops.back().at,
          fmt::format("region {} of '{}' must end with '{}'", i, op.name(), name_of(wanted)));
    }
    const auto is_end = [](const OpTemplate& each) {
      return has(each.info->row->traits, Trait::kTerminator);
    };
    const auto first_end = std::ranges::find_if(ops, is_end);
    if (first_end != ops.end() - 1) {
      return refuse(first_end->at,
                    fmt::format("'{}' is not the last op of its region", first_end->info->name));
    }
  }
  if (op.is(OpId::kCfFor) && made.regions[0].arguments.empty()) {
    return refuse(op.span(), fmt::format("the region of '{}' takes an index", op.name()));
  }
  for (const RegionEdge& edge : made.flow) {
    const bool is_entered = edge.from == RegionEdge::kOp, is_left = edge.to == RegionEdge::kOp;
    const OpTemplate& source = is_entered ? made : made.regions[edge.from].ops.back();
    const std::size_t targets =
        is_left ? made.results.size() : made.regions[edge.to].arguments.size();
    const auto after = [](std::size_t count, std::uint32_t first) {
      return count - std::min<std::size_t>(count, first);
    };
    const std::size_t given = is_entered && edge.operand_count == 0
                                  ? 0  // a condition
                                  : after(source.operands.size(), edge.first_operand);
    const std::size_t taken = after(targets, edge.first_target);
    if (given == taken && given == edge.operand_count) continue;
    const std::string target = is_left ? "the results" : fmt::format("region {}", edge.to);
    return refuse(source.at,
                  fmt::format("'{}' passes {} to {} of '{}', expected {}", source.info->name,
                              counted(given, "values"), target, op.name(), taken));
  }
  return true;
}

bool TemplateReader::read_attributes(const Op& op, OpTemplate& made) {
  const auto& rows = made.info->row->attributes;
  // An op of a class has the name of its member.
  const std::string_view op_name = op.row() == nullptr ? made.info->name : op.name();
  for (const NamedAttr& each : op.attributes()) {
    const std::string_view key = context_.text(each.key);
    if (is_pattern_ && key == "_") {
      const Reading reading(*this, op, {key, AttributePart::kValue});
      made.others = attribute(*each.value, op.span());
      if (!made.others) return false;
      if (made.others->kind != AttributeTemplate::Kind::kLiteral) continue;
      return refuse(op.span(), fmt::format("'_' stands for the other attributes, expected _ or a "
                                           "variable, found {}",
                                           each.value->spelling()));
    }
    if (!is_pattern_ && (key == kRepeatKey || key == kOnlyIfKey)) continue;
    const auto row = std::ranges::find(rows, key, &AttrRow::name);
    const auto part = row == rows.end() ? AttributePart::kKey : AttributePart::kValue;
    const Reading reading(*this, op, {key, part});
    if (row == rows.end()) {
      return refuse(op.span(), fmt::format("'{}' has no attribute '{}'{}", op_name, key,
                                           near_name(key, rows, &AttrRow::name)));
    }
    auto value = is_over_own_symbols(*made.info->row, key)
                     ? std::optional(AttributeTemplate{.kind = AttributeTemplate::Kind::kLiteral,
                                                       .literal = each.value})
                     : attribute(*each.value, op.span());
    if (!value) return false;
    if (value->kind == AttributeTemplate::Kind::kLiteral && !admits(*row, *each.value)) {
      return refuse(op.span(), fmt::format("attribute '{}' of '{}' cannot be {}", key, op_name,
                                           each.value->spelling()));
    }
    made.attributes.push_back({&*row, each.key, *std::move(value), default_value(context_, *row)});
  }
  for (const AttrRow& row : rows) {
    const Symbol key = context_.intern(row.name);
    if (op.attribute(key) != nullptr || made.others) continue;
    if (row.required) {
      return refuse(op.span(),
                    fmt::format("'{}' needs attribute '{}'{}", op_name, row.name,
                                is_match_ ? fmt::format("; {}:_ takes any value", row.name) : ""));
    }
    made.defaults.push_back({&row, key, default_value(context_, row)});
  }
  return true;
}

bool TemplateReader::read_path(const Op& op, OpTemplate& made) {
  // An attribute may say that the op has no weights of its own.
  const OpRow& row = *made.info->row;
  made.takes_any_path = std::ranges::none_of(row.weights, [&](const WeightRow& weight) {
    return owns_parameter(row, weight, context_, op.attributes());
  });
  if (!op.has_path()) {
    if (made.takes_any_path) return true;
    return refuse(op.span(), fmt::format("'{}' finds its weights by its name; write <name=\"$n\">",
                                         op.name()));
  }
  const std::string_view text = context_.text(op.path());
  if (text.starts_with('$')) {
    // The name of an op in a body may continue that of the op that the body belongs to.
    const std::size_t end = is_pattern_ ? text.size() : std::min(text.find('.'), text.size());
    const auto number = bare_variable(text.substr(0, end), op.span());
    if (!number) return false;
    made.path_suffix = text.substr(end);
    made.path = AttributeTemplate{.kind = AttributeTemplate::Kind::kVariable, .variable = *number};
    if (!is_pattern_) return read_path_variables(op, made);
  } else {
    made.path = AttributeTemplate{.literal = context_.string(text)};
  }
  return true;
}

}  // namespace mir::patterns
