#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "dialects/parameters.hpp"
#include "mir/equivalence.hpp"
#include "mir/module.hpp"
#include "mir/tensor.hpp"
#include "patterns/check_types.hpp"
#include "patterns/pattern.hpp"
#include "support/suggest.hpp"

namespace mir::patterns {

namespace {

/// `(did you mean 'x'?)` behind a message, if one of the names is near.
template <class Names, class Projection>
std::string near_name(std::string_view word, const Names& names, Projection name_of) {
  NearestName nearest(word);
  for (const auto& each : names) nearest.offer(std::invoke(name_of, each));
  return nearest.best().empty() ? std::string()
                                : fmt::format(" (did you mean '{}'?)", nearest.best());
}

class PatternReader : Scope {
 public:
  PatternReader(const Op& op, Diagnostics& diagnostics)
      : op_(op),
        context_(op.module().context()),
        diagnostics_(diagnostics),
        constant_(context_.intern("constant")) {}

  std::shared_ptr<const Pattern> read() {
    pattern_.name = op_.has_symbol() ? context_.text(op_.symbol()) : "";
    pattern_.at = op_.span();
    pattern_.constant_key = constant_;
    if (op_.region_count() != 2) {
      refuse(op_.span(), "a pattern has two regions: what it matches and what it becomes");
      return nullptr;
    }
    if (!read_claim()) return nullptr;
    is_match_ = true;
    if (!read_graph(*op_.region(0), pattern_.match) || !check_match()) return nullptr;
    is_match_ = false;
    if (!read_lets() || !read_conditions()) return nullptr;
    if (!read_graph(*op_.region(1), pattern_.rewrite) || !check_rewrite()) return nullptr;
    if (!check_types(pattern_, context_, diagnostics_)) return nullptr;
    return std::make_shared<const Pattern>(std::move(pattern_));
  }

 private:
  bool refuse(Span at, std::string message) {
    diagnostics_.error(DiagCode::kBadPattern, at,
                       pattern_.name.empty()
                           ? std::move(message)
                           : fmt::format("pattern '{}': {}", pattern_.name, message));
    return false;
  }

  // -- variables ----------------------------------------------------------------------------------

  /// The number of a variable, which may be new.
  std::uint32_t number_of(std::string_view name) {
    const auto found = std::ranges::find(pattern_.variables, name);
    if (found == pattern_.variables.end()) {
      pattern_.variables.emplace_back(name);
      is_bound_.push_back(false);
      return static_cast<std::uint32_t>(pattern_.variables.size() - 1);
    }
    return static_cast<std::uint32_t>(found - pattern_.variables.begin());
  }

  /// In a match, an expression may stand before what binds its variables.
  std::optional<std::uint32_t> variable(std::string_view name) override {
    if (is_match_) return number_of(name);
    const auto found = std::ranges::find(pattern_.variables, name);
    if (found == pattern_.variables.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - pattern_.variables.begin());
  }

  std::optional<std::uint32_t> value(std::string_view name) override {
    const auto& values = pattern_.match.values;
    const auto found = std::ranges::find(values, name, &ValueTemplate::name);
    if (found == values.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - values.begin());
  }

  /// A variable at a place that binds it in a match and uses it in a rewrite.
  std::optional<std::uint32_t> bare_variable(std::string_view name, Span at) {
    const auto number = variable(name);
    if (!number) {
      refuse(at, fmt::format("nothing binds '{}'", name));
      return std::nullopt;
    }
    if (is_match_) is_bound_[*number] = true;
    return number;
  }

  std::optional<Expression> expression(std::string_view text, Span at) {
    auto parsed = parse_expression(text, *this, context_);
    if (parsed) return *std::move(parsed);
    refuse(at, parsed.error().message);
    return std::nullopt;
  }

  /// What a `let` or a `where` states: text, or an extent.
  std::optional<Expression> expression(const Attr& stated, Span at) {
    if (stated.kind() == AttrKind::kString) return expression(stated.text(), at);
    if (stated.kind() == AttrKind::kDim) return expression(stated.spelling(), at);
    return Expression{.literal = &stated};
  }

  // -- attributes and types -----------------------------------------------------------------------

  std::optional<AttributeTemplate> attribute(const Attr& value, Span at) {
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
    if (value.kind() != AttrKind::kArray && value.kind() != AttrKind::kDict) return made;
    std::vector<const Attr*> parts(value.elements().begin(), value.elements().end());
    for (const NamedAttr& entry : value.entries()) {
      made.keys.push_back(entry.key);
      parts.push_back(entry.value);
    }
    made.kind = value.kind() == AttrKind::kArray ? kArray : kDict;
    return list(std::move(made), parts, at);
  }

  std::optional<AttributeTemplate> list(AttributeTemplate made, std::span<const Attr* const> parts,
                                        Span at) {
    for (const Attr* part : parts) {
      auto each = attribute(*part, at);
      if (!each) return std::nullopt;
      made.elements.push_back(*std::move(each));
    }
    return checked_list(std::move(made), at);
  }

  std::optional<AttributeTemplate> checked_list(AttributeTemplate made, Span at) {
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

  std::optional<AttributeTemplate> extent(Dim dim, Span at) {
    using enum AttributeTemplate::Kind;
    if (dim.is_constant()) {
      return AttributeTemplate{.kind = kLiteral, .literal = context_.integer(dim.constant())};
    }
    if (dim.is_unknown()) {
      refuse(at, "'?' is no extent of a pattern: write a variable, or leave the type out");
      return std::nullopt;
    }
    const std::string text = context_.dims().print(dim);
    const auto symbols = context_.dims().symbols(dim);
    const bool is_bare =
        symbols.size() == 1 && dim == context_.dims().symbol(context_.text(symbols.front()));
    if (!is_bare) {
      auto parsed = expression(text, at);
      if (!parsed) return std::nullopt;
      return AttributeTemplate{.kind = kExpression, .expression = *std::move(parsed)};
    }
    const auto number = bare_variable(text, at);
    if (!number) return std::nullopt;
    return AttributeTemplate{.kind = kVariable, .variable = *number, .is_pack = dim.is_pack()};
  }

  std::optional<NameTemplate> name(Symbol name, Span at) {
    NameTemplate made{.variable = std::nullopt, .name = name};
    if (!is_name_variable(context_.text(name))) return made;
    made.variable = bare_variable(context_.text(name), at);
    if (!made.variable) return std::nullopt;
    return made;
  }

  std::optional<TypeTemplate> type(const Type* type, Span at) {
    TypeTemplate made;
    const auto* tensor = dyn_cast<TensorType>(type);
    if (tensor == nullptr) {
      made.is_any = type == nullptr || type->spelling() == "!builtin.any";
      made.exact = made.is_any ? nullptr : type;
      return made;
    }
    const std::string_view dtype = context_.text(tensor->dtype_name());
    if (!tensor->dtype() && !is_name_variable(dtype)) {
      refuse(at, fmt::format("'{}' is neither an element type nor a variable, which is a capital "
                             "letter, perhaps with a digit",
                             dtype));
      return std::nullopt;
    }
    AttributeTemplate extents{.kind = AttributeTemplate::Kind::kArray};
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
    made.encoding = tensor->encoding();
    return made;
  }

  // -- what the op states -----------------------------------------------------------------------

  bool read_claim() {
    const auto number = [&](std::string_view key) {
      const Attr* stated = op_.attribute(key);
      return stated == nullptr ? 0.0 : stated->number();
    };
    const Attr* benefit = op_.attribute("benefit");
    if (benefit != nullptr) pattern_.benefit = static_cast<unsigned>(benefit->integer());
    const Attr* claim = op_.attribute("claim");
    pattern_.claim = claim == nullptr ? "bits" : claim->text();
    pattern_.relative = number("relative");
    pattern_.absolute = number("absolute");
    pattern_.largest = number("largest");
    const bool has_bound = pattern_.relative > 0 || pattern_.absolute > 0;
    if (has_bound != (pattern_.claim == "bound")) {
      return refuse(op_.span(),
                    "claim:bound and a bound, which is relative or absolute, belong "
                    "together");
    }
    return true;
  }

  bool read_lets() {
    const Attr* lets = op_.attribute("let");
    if (lets == nullptr) return true;
    for (const NamedAttr& entry : lets->entries()) {
      std::string name(context_.text(entry.key));
      if (!name.starts_with('$')) name.insert(0, "$");
      if (std::ranges::find(pattern_.variables, name) != pattern_.variables.end()) {
        return refuse(op_.span(), fmt::format("'let' binds '{}', which is bound already", name));
      }
      auto value = expression(*entry.value, op_.span());
      if (!value) return false;
      pattern_.lets.emplace_back(number_of(name), *std::move(value));
    }
    return true;
  }

  bool read_condition(const Attr& text, std::string_view reason) {
    auto read = expression(text, op_.span());
    if (!read) return false;
    pattern_.conditions.push_back(
        {reason.empty()
             ? fmt::format("condition '{}' does not hold",
                           text.kind() == AttrKind::kString ? text.text() : text.spelling())
             : std::string(reason),
         *std::move(read)});
    return true;
  }

  bool read_conditions() {
    const Attr* where = op_.attribute("where");
    if (where == nullptr) return true;
    if (where->kind() == AttrKind::kArray) {
      return std::ranges::all_of(where->elements(),
                                 [&](const Attr* each) { return read_condition(*each, ""); });
    }
    if (where->kind() == AttrKind::kDict) {
      return std::ranges::all_of(where->entries(), [&](const NamedAttr& each) {
        return read_condition(*context_.string(context_.text(each.key)), each.value->text());
      });
    }
    return read_condition(*where, "");
  }

  // -- regions ------------------------------------------------------------------------------------

  static std::string spelled(ValueName name, const IRContext& context) {
    return name.is_none()     ? ""
           : name.is_number() ? std::to_string(name.number())
                              : std::string(context.text(name.symbol()));
  }

  std::optional<std::uint32_t> add_value(const Value& value, GraphTemplate& graph, Span at) {
    auto stated = type(value.type(), at);
    if (!stated) return std::nullopt;
    ValueTemplate made{.type = *std::move(stated), .name = spelled(value.name(), context_)};
    for (const NamedAttr& each : value.attributes()) {
      if (each.key == constant_ && value.is_free()) continue;
      refuse(at, fmt::format("'%{}' has an attribute '{}', which a pattern cannot ask for",
                             made.name, context_.text(each.key)));
      return std::nullopt;
    }
    if (value.has_symbol()) {
      refuse(at, fmt::format("'%{}' has a symbol: make a parameter an input of the pattern",
                             made.name));
      return std::nullopt;
    }
    if (const Attr* elements = value.is_free() ? value.attribute(constant_) : nullptr) {
      made.constant = attribute(*elements, at);
      if (!made.constant) return std::nullopt;
    }
    const auto number = static_cast<std::uint32_t>(graph.values.size());
    numbers_.emplace(&value, number);
    graph.values.push_back(std::move(made));
    return number;
  }

  bool read_graph(const Region& region, GraphTemplate& graph) {
    const Block* block = region.entry();
    if (block == nullptr || block->next() != nullptr || !region.has_signature()) {
      return refuse(op_.span(), "a region of a pattern has a signature and one block");
    }
    for (const Value& input : block->arguments()) {
      const auto number = add_value(input, graph, op_.span());
      if (!number) return false;
      graph.values[*number].is_input = true;
    }
    graph.input_count = graph.values.size();
    for (const Op* op : block->ops()) {
      if (op->is(OpId::kCfReturn)) return read_results(region, *op, graph);
      if (!read_op(*op, graph)) return false;
    }
    return refuse(op_.span(), "a region of a pattern ends with cf.ReturnOp");
  }

  std::optional<std::uint32_t> operand(Value& value, GraphTemplate& graph, const Op& user) {
    const auto known = numbers_.find(&value);
    if (known != numbers_.end()) return known->second;
    if (value.is_free()) return add_value(value, graph, user.span());
    refuse(user.span(),
           fmt::format("'%{}' is used above its definition", spelled(value.name(), context_)));
    return std::nullopt;
  }

  bool read_results(const Region& region, const Op& end, GraphTemplate& graph) {
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

  bool read_op(const Op& op, GraphTemplate& graph) {
    const auto refuse_op = [&](std::string message) {
      return refuse(op.span(), std::move(message));
    };
    const OpRow* row = op.row();
    if (row == nullptr) return refuse_op(fmt::format("operation '{}' is not known", op.name()));
    if (!op.has(Trait::kPure) || row->effects != Effect::kNone) {
      return refuse_op(
          fmt::format("'{}' has effects, or depends on more than its operands; patterns "
                      "rewrite pure operations",
                      op.name()));
    }
    if (op.region_count() != 0 || !op.extra().successors.empty() || op.has_symbol()) {
      return refuse_op("an op of a pattern has no regions, successors or symbol");
    }
    if (!row->operands.admits(op.operand_count()) || !row->results.admits(op.result_count())) {
      return refuse_op(fmt::format("'{}' cannot have {} operands and {} results", op.name(),
                                   op.operand_count(), op.result_count()));
    }
    OpTemplate made{.kind = op.kind(), .info = &op.info(), .at = op.span()};
    made.is_commutative = op.has(Trait::kCommutative) && op.operand_count() == 2;
    if (op.device()) {
      made.device = name(op.device(), op.span());
      if (!made.device) return false;
    }
    if (!read_attributes(op, made) || !read_path(op, made)) return false;
    const auto number = static_cast<std::uint32_t>(graph.ops.size());
    for (const Use& use : op.operand_uses()) {
      const auto each = operand(*use.value(), graph, op);
      if (!each) return false;
      made.operands.push_back(*each);
    }
    for (const Value& result : op.results()) {
      const auto each = add_value(result, graph, op.span());
      if (!each) return false;
      graph.values[*each].op = number;
      graph.values[*each].result = result.index();
      made.results.push_back(*each);
    }
    graph.ops.push_back(std::move(made));
    return true;
  }

  bool read_attributes(const Op& op, OpTemplate& made) {
    const auto& rows = op.row()->attributes;
    for (const NamedAttr& each : op.attributes()) {
      const std::string_view key = context_.text(each.key);
      const auto row = std::ranges::find(rows, key, &AttrRow::name);
      if (row == rows.end()) {
        return refuse(op.span(), fmt::format("'{}' has no attribute '{}'{}", op.name(), key,
                                             near_name(key, rows, &AttrRow::name)));
      }
      auto value = attribute(*each.value, op.span());
      if (!value) return false;
      if (value->kind == AttributeTemplate::Kind::kLiteral && !admits(*row, *each.value)) {
        return refuse(op.span(), fmt::format("attribute '{}' of '{}' cannot be {}", key, op.name(),
                                             each.value->spelling()));
      }
      made.attributes.push_back(
          {&*row, each.key, *std::move(value), default_value(context_, *row)});
    }
    for (const AttrRow& row : rows) {
      const Symbol key = context_.intern(row.name);
      if (op.attribute(key) != nullptr) continue;
      if (row.required) {
        return refuse(
            op.span(),
            fmt::format("'{}' needs attribute '{}'{}", op.name(), row.name,
                        is_match_ ? fmt::format("; {}:_ takes any value", row.name) : ""));
      }
      made.defaults.push_back({&row, key, default_value(context_, row)});
    }
    return true;
  }

  bool read_path(const Op& op, OpTemplate& made) {
    // An attribute may say that the op has no weights of its own.
    made.takes_any_path = std::ranges::none_of(op.row()->weights, [&](const WeightRow& weight) {
      return owns_parameter(*op.row(), weight, context_, op.attributes());
    });
    if (!op.has_path()) {
      if (made.takes_any_path) return true;
      return refuse(
          op.span(),
          fmt::format("'{}' finds its weights by its name; write <name=\"$n\">", op.name()));
    }
    const std::string_view text = context_.text(op.path());
    if (text.starts_with('$')) {
      const auto number = bare_variable(text, op.span());
      if (!number) return false;
      made.path =
          AttributeTemplate{.kind = AttributeTemplate::Kind::kVariable, .variable = *number};
    } else {
      made.path = AttributeTemplate{.literal = context_.string(text)};
    }
    return true;
  }

  // -- a region as a whole ------------------------------------------------------------------------

  bool check_match() {
    GraphTemplate& match = pattern_.match;
    if (match.ops.empty()) return refuse(op_.span(), "the first region has no operation to match");
    std::vector<bool> is_used(match.values.size());
    for (const OpTemplate& op : match.ops) {
      for (const std::uint32_t value : op.operands) is_used[value] = true;
    }
    for (std::size_t i = 0; i < match.input_count; ++i) {
      if (is_used[i]) continue;
      return refuse(op_.span(),
                    fmt::format("input '%{}' of the first region is used by no operation",
                                match.values[i].name));
    }
    for (const std::uint32_t result : match.results) {
      if (match.values[result].op != ValueTemplate::kNone) continue;
      return refuse(op_.span(), "the first region returns what an operation of it defines");
    }
    for (std::size_t i = 0; i < match.results.size(); ++i) {
      const std::span<const std::uint32_t> others = std::span(match.results).first(i);
      if (std::ranges::find(others, match.results[i]) == others.end()) continue;
      return refuse(op_.span(), "the first region returns a value twice");
    }
    if (match.results.empty()) return refuse(op_.span(), "a pattern replaces at least one value");
    for (std::size_t i = 0; i < pattern_.variables.size(); ++i) {
      if (is_bound_[i]) continue;
      return refuse(op_.span(), fmt::format("nothing binds '{}': it stands only in expressions",
                                            pattern_.variables[i]));
    }
    constexpr std::ptrdiff_t kMostCommutative = 4;
    if (std::ranges::count(match.ops, true, &OpTemplate::is_commutative) > kMostCommutative) {
      return refuse(op_.span(), fmt::format("more than {} commutative operations have too many "
                                            "orders to try",
                                            kMostCommutative));
    }
    return plan_steps();
  }

  bool check_rewrite() {
    const GraphTemplate &match = pattern_.match, &rewrite = pattern_.rewrite;
    if (match.input_count != rewrite.input_count ||
        match.results.size() != rewrite.results.size()) {
      return refuse(op_.span(), fmt::format("the first region has {} inputs and {} results, the "
                                            "second one {} and {}",
                                            match.input_count, match.results.size(),
                                            rewrite.input_count, rewrite.results.size()));
    }
    for (const ValueTemplate& value : rewrite.values) {
      if (!value.constant || !value.type.is_any) continue;
      return refuse(op_.span(),
                    fmt::format("constant '%{}' of the second region needs a type", value.name));
    }
    return true;
  }

  // -- the order in which ops are matched -------------------------------------------------------

  /// The op whose operands lead to all others; otherwise the last one.
  std::uint32_t root() const {
    const GraphTemplate& match = pattern_.match;
    for (auto op = static_cast<std::uint32_t>(match.ops.size()); op-- > 0;) {
      std::vector<bool> is_reached(match.ops.size());
      std::vector<std::uint32_t> open{op};
      is_reached[op] = true;
      while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t value : match.ops[at].operands) {
          const std::uint32_t before = match.values[value].op;
          if (before == ValueTemplate::kNone || is_reached[before]) continue;
          is_reached[before] = true;
          open.push_back(before);
        }
      }
      if (std::ranges::find(is_reached, false) == is_reached.end()) return op;
    }
    return static_cast<std::uint32_t>(match.ops.size() - 1);
  }

  bool plan_steps() {
    const GraphTemplate& match = pattern_.match;
    std::vector<bool> is_placed(match.ops.size()), is_bound(match.values.size());
    const auto place = [&](MatchStep step) {
      pattern_.steps.push_back(step);
      is_placed[step.op] = true;
      for (const std::uint32_t value : match.ops[step.op].operands) is_bound[value] = true;
      for (const std::uint32_t value : match.ops[step.op].results) is_bound[value] = true;
    };
    place({.op = root()});
    while (pattern_.steps.size() < match.ops.size()) {
      const auto step = next_step(is_placed, is_bound);
      if (!step) return refuse(op_.span(), "the operations of the first region are not connected");
      place(*step);
    }
    return true;
  }

  std::optional<MatchStep> next_step(const std::vector<bool>& is_placed,
                                     const std::vector<bool>& is_bound) const {
    const GraphTemplate& match = pattern_.match;
    for (auto op = static_cast<std::uint32_t>(match.ops.size()); op-- > 0;) {
      if (is_placed[op]) continue;
      for (const std::uint32_t value : match.ops[op].results) {
        if (!is_bound[value]) continue;
        return MatchStep{.op = op, .way = MatchStep::Way::kDefinition, .value = value};
      }
    }
    for (std::uint32_t op = 0; op < match.ops.size(); ++op) {
      if (is_placed[op]) continue;
      for (std::uint32_t i = 0; i < match.ops[op].operands.size(); ++i) {
        const std::uint32_t value = match.ops[op].operands[i];
        if (!is_bound[value] || match.values[value].constant) continue;
        return MatchStep{.op = op, .way = MatchStep::Way::kUser, .value = value, .operand = i};
      }
    }
    return std::nullopt;
  }

  const Op& op_;
  IRContext& context_;
  Diagnostics& diagnostics_;
  Symbol constant_;
  Pattern pattern_;
  std::vector<bool> is_bound_;  // by variable: by a place of the match
  bool is_match_ = false;
  std::unordered_map<const Value*, std::uint32_t> numbers_;
};

}  // namespace

std::shared_ptr<const Pattern> read_pattern(const Op& op, Diagnostics& diagnostics) {
  return PatternReader(op, diagnostics).read();
}

}  // namespace mir::patterns
