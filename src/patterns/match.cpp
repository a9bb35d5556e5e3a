// Matches patterns at a root op and plans and applies the replacement.
#include "patterns/match.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/quantisation.hpp"
#include "mir/module.hpp"
#include "mir/tensor.hpp"
#include "patterns/unify.hpp"
#include "weights/elements.hpp"

namespace mir::patterns {

namespace {

using TemplateKind = AttributeTemplate::Kind;

/// One attempt to match a pattern at a root.
class Matcher {
 public:
  Matcher(const Pattern& pattern, Op& root, bool explains, Mismatch& mismatch)
      : pattern_(pattern),
        graph_(pattern.match),
        root_(root),
        context_(root.module().context()),
        explains_(explains),
        mismatch_(mismatch),
        unifier_(context_),
        bindings_(unifier_.bindings()) {
    mismatch_ = {};
  }

  std::optional<Plan> match() {
    // Most attempts fail here, before anything is allocated.
    const OpTemplate& wanted = pattern_.root();
    const bool is_possible = has_head(wanted, root_) && (explains_ || may_keep_types(wanted)) &&
                             may_have_operands_in_any_order(wanted, root_);
    if (!is_possible) return std::nullopt;
    bindings_.variables.assign(pattern_.variables.size(), nullptr);
    bindings_.values.assign(graph_.values.size(), nullptr);
    ops_.assign(graph_.ops.size(), nullptr);
    if (!bind_in_any_order(0, root_)) return std::nullopt;
    return std::move(plan_);
  }

 private:
  /// Notes why an op does not match, if no attempt came further.
  template <class Reason>
  bool fail(const Op& at, const Reason& reason) {
    if (mismatch_.at != nullptr && depth_ < deepest_) return false;
    deepest_ = depth_;
    mismatch_.at = &at;
    if (explains_) {
      if constexpr (std::is_invocable_v<Reason>) {
        mismatch_.reason = reason();
      } else {
        mismatch_.reason = reason;
      }
    }
    return false;
  }

  // -- bindings, and how they are undone --------------------------------------------------------

  struct Mark {
    Unifier::Mark variables;
    std::size_t values;
  };
  Mark mark() const { return {unifier_.mark(), value_trail_.size()}; }
  void undo(const Mark& to) {
    unifier_.undo(to.variables);
    for (; value_trail_.size() > to.values; value_trail_.pop_back()) {
      bindings_.values[value_trail_.back()] = nullptr;
    }
  }

  // -- values -----------------------------------------------------------------------------------

  /// True if one number of a constant is that of the pattern, with the precision of the type.
  static bool is_number(const Attr& wanted, const Attr& found, const TensorType& type) {
    if (!type.dtype()) return false;
    if (&wanted == &found) return encode_element(*type.dtype(), found.spelling()).ok();
    const auto a = encode_element(*type.dtype(), wanted.spelling());
    const auto b = encode_element(*type.dtype(), found.spelling());
    return a && b && *a == *b;
  }

  /// One number in a pattern stands for a constant that has it everywhere.
  bool unify_constant(const AttributeTemplate& wanted, const Value& found) {
    const Attr* stated = numbers_of(found);
    const TensorType* type = found.tensor_type();
    if (stated == nullptr || type == nullptr || stated->kind() != AttrKind::kArray) return false;
    if (wanted.kind == TemplateKind::kVariable || wanted.kind == TemplateKind::kAny) {
      return unifier_.unify(wanted, stated);
    }
    const auto elements = stated->elements();
    const auto is_pack = [](const AttributeTemplate& each) { return each.is_pack; };
    if (wanted.kind == TemplateKind::kArray && std::ranges::any_of(wanted.elements, is_pack)) {
      return unifier_.unify_list(wanted.elements, elements);
    }
    const std::size_t count = wanted.kind == TemplateKind::kArray
                                  ? wanted.elements.size()
                                  : wanted.literal->elements().size();
    if (elements.empty() || (count != 1 && count != elements.size())) return false;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::size_t at = count == 1 ? 0 : i;
      const AttributeTemplate* number =
          wanted.kind == TemplateKind::kArray ? &wanted.elements[at] : nullptr;
      const Attr* literal = number == nullptr ? wanted.literal->elements()[at]
                            : number->kind == TemplateKind::kLiteral ? number->literal
                                                                     : nullptr;
      const bool fits = literal != nullptr ? is_number(*literal, *elements[i], *type)
                                           : unifier_.unify(*number, elements[i]);
      if (!fits) return false;
    }
    return true;
  }

  /// `spec` is the QuantSpec with which the op at hand mentions the value.
  bool match_value(std::uint32_t number, Value& found, const Attr* spec, const Op& user) {
    const ValueTemplate& wanted = graph_.values[number];
    Value*& bound = bindings_.values[number];
    if (bound != nullptr) {
      return bound == &found ||
             fail(user, [&] { return fmt::format("'%{}' is another value", wanted.name); });
    }
    if (wanted.constant && !unify_constant(*wanted.constant, found)) {
      return fail(user, [&] { return fmt::format("'%{}' is no such constant", wanted.name); });
    }
    if (!unifier_.unify_type(wanted.type, found.type())) {
      return fail(user, [&] {
        return fmt::format("'%{}' has another type: {}", wanted.name,
                           found.type() == nullptr ? "none" : found.type()->spelling());
      });
    }
    const TensorType* type = found.tensor_type();
    if (type != nullptr && holds_codes(*type, spec)) {
      return fail(user, [&] { return fmt::format("'%{}' holds codes", wanted.name); });
    }
    bound = &found;
    value_trail_.push_back(number);
    return true;
  }

  // -- ops --------------------------------------------------------------------------------------

  /// Compares properties that are cheap to read.
  bool has_head(const OpTemplate& wanted, const Op& op) {
    if (op.kind() != wanted.kind) {
      return fail(op, [&] { return fmt::format("it is no '{}'", wanted.info->name); });
    }
    if (op.first_region() != nullptr) return fail(op, "it has a region");
    if (op.operand_count() != wanted.operands.size() ||
        op.result_count() != wanted.results.size()) {
      return fail(op, "it has another number of operands or results");
    }
    for (const OpTemplate::Attribute& each : wanted.attributes) {
      if (each.value.kind != TemplateKind::kLiteral) continue;
      const Attr* found = value_in(op, each);
      if (found != nullptr && are_equal(*each.value.literal, *found, context_)) continue;
      return fail(op, [&] { return fmt::format("attribute '{}' differs", each.row->name); });
    }
    for (const OpTemplate::Default& each : wanted.defaults) {
      const Attr* found = op.attribute(each.key);
      if (found == nullptr || (each.value != nullptr && are_equal(*each.value, *found, context_))) {
        continue;
      }
      return fail(op, [&] {
        return fmt::format("it states attribute '{}', which the pattern does not mention",
                           each.row->name);
      });
    }
    const auto is_of_row = [&](const NamedAttr& each) {
      if (wanted.others && row_of(wanted, each.key) != nullptr) return true;
      return std::ranges::find(wanted.attributes, each.key, &OpTemplate::Attribute::key) !=
                 wanted.attributes.end() ||
             std::ranges::find(wanted.defaults, each.key, &OpTemplate::Default::key) !=
                 wanted.defaults.end();
    };
    return std::ranges::all_of(op.attributes(), is_of_row) ||
           fail(op, "it has marks that a pass attached");
  }

  const AttrRow* row_of(const OpTemplate& wanted, Symbol key) const {
    const auto& rows = wanted.info->row->attributes;
    const auto row = std::ranges::find(rows, context_.text(key), &AttrRow::name);
    return row == rows.end() ? nullptr : &*row;
  }

  /// The attributes that an op states and the pattern does not mention, in the order of the row.
  /// Those that have their default are left out: they are the same as absent ones.
  const Attr* other_attributes(const OpTemplate& wanted, const Op& op) const {
    std::vector<NamedAttr> others;
    for (const AttrRow& row : wanted.info->row->attributes) {
      const Symbol key = context_.intern(row.name);
      const Attr* stated = op.attribute(key);
      const bool is_mentioned =
          std::ranges::find(wanted.attributes, key, &OpTemplate::Attribute::key) !=
          wanted.attributes.end();
      if (stated == nullptr || is_mentioned) continue;
      const Attr* by_default = default_value(context_, row);
      if (by_default != nullptr && are_equal(*by_default, *stated, context_)) continue;
      others.push_back({key, stated});
    }
    return context_.dict(others);
  }

  /// The numbers that the text states for a constant; null for other values.
  const Attr* numbers_of(const Value& value) const {
    return value.is_free() && !value.has_symbol() ? value.attribute(key::kConstant) : nullptr;
  }

  /// True if a constant is where the pattern has one, with the right numbers if the pattern states
  /// them, and the result of an op of the right kind where the pattern has that.
  bool may_be_operand(const ValueTemplate& wanted, const Value& found, const Op& user) {
    const auto has_numbers = [&](const AttributeTemplate& constant) {
      const bool is_literal = constant.kind == TemplateKind::kLiteral;  // binds nothing
      return is_literal ? unify_constant(constant, found) : numbers_of(found) != nullptr;
    };
    if (wanted.constant && !has_numbers(*wanted.constant)) {
      return fail(user, [&] { return fmt::format("'%{}' is no such constant", wanted.name); });
    }
    if (wanted.op == ValueTemplate::kNone) return true;
    const OpTemplate& op = graph_.ops[wanted.op];
    const Op* definition = found.defining_op();
    if (definition != nullptr && definition->kind() == op.kind) return true;
    return fail(user,
                [&] { return fmt::format("no '{}' defines '%{}'", op.info->name, wanted.name); });
  }

  static const Attr* value_in(const Op& op, const OpTemplate::Attribute& wanted) {
    const Attr* stated = op.attribute(wanted.key);
    return stated != nullptr ? stated : wanted.by_default;
  }

  bool match_op(std::size_t step, Op& op) {
    depth_ = step;
    if (std::ranges::find(ops_, &op) != ops_.end()) return fail(op, "it is matched already");
    return has_head(graph_.ops[pattern_.steps[step].op], op) && bind_in_any_order(step, op);
  }

  /// The head of the op is right.
  bool bind_in_any_order(std::size_t step, Op& op) {
    const std::uint32_t number = pattern_.steps[step].op;
    const OpTemplate& wanted = graph_.ops[number];
    const Mark before = mark();
    const auto attempt = [&](bool swaps) {
      depth_ = step;
      if (bind_op(wanted, op, swaps)) {
        ops_[number] = &op;
        if (match_next(step + 1)) return true;
        ops_[number] = nullptr;
      }
      undo(before);
      return false;
    };
    return attempt(false) || (wanted.is_commutative && attempt(true));
  }

  static std::uint32_t operand_at(std::size_t i, const OpTemplate& wanted, bool swaps) {
    return static_cast<std::uint32_t>(swaps ? wanted.operands.size() - 1 - i : i);
  }

  /// Asks what needs no bindings.
  bool may_have_operands(const OpTemplate& wanted, Op& op, bool swaps) {
    for (std::size_t i = 0; i < wanted.operands.size(); ++i) {
      const ValueTemplate& value = graph_.values[wanted.operands[i]];
      if (!may_be_operand(value, *op.operand(operand_at(i, wanted, swaps)), op)) return false;
    }
    return true;
  }
  bool may_have_operands_in_any_order(const OpTemplate& wanted, Op& op) {
    return may_have_operands(wanted, op, false) ||
           (wanted.is_commutative && may_have_operands(wanted, op, true));
  }

  /// False if an operand of the root replaces a result of another type.
  bool may_keep_types(const OpTemplate& wanted) {
    for (std::size_t i = 0; i < graph_.results.size(); ++i) {
      const std::uint32_t made = pattern_.rewrite.results[i];
      const auto result = std::ranges::find(wanted.results, graph_.results[i]);
      const auto operand = std::ranges::find(wanted.operands, made);
      const bool is_direct = made < pattern_.rewrite.input_count &&
                             result != wanted.results.end() && operand != wanted.operands.end();
      if (!is_direct) continue;
      const Type* const after =
          root_.result(static_cast<std::size_t>(result - wanted.results.begin()))->type();
      const auto at = static_cast<std::size_t>(operand - wanted.operands.begin());
      const auto is_same = [&](bool swaps) {
        return root_.operand(operand_at(at, wanted, swaps))->type() == after;
      };
      if (is_same(false) || (wanted.is_commutative && is_same(true))) continue;
      return fail(root_, "a result has another type");
    }
    return true;
  }

  bool bind_op(const OpTemplate& wanted, Op& op, bool swaps) {
    if (!may_have_operands(wanted, op, swaps)) return false;
    if (wanted.device &&
        !unifier_.unify_name(*wanted.device, op.device(), context_.text(op.device()))) {
      return fail(op, "it runs on another device");
    }
    for (const OpTemplate::Attribute& each : wanted.attributes) {
      if (!unifier_.unify(each.value, value_in(op, each))) {
        return fail(op, [&] { return fmt::format("attribute '{}' differs", each.row->name); });
      }
    }
    if (wanted.others && !unifier_.unify(*wanted.others, other_attributes(wanted, op))) {
      return fail(op, "its other attributes differ");
    }
    if (wanted.path) {
      const Attr* path = op.has_path() ? context_.string(context_.text(op.path())) : nullptr;
      if (!unifier_.unify(*wanted.path, path)) return fail(op, "its name differs");
    }
    for (std::size_t i = 0; i < wanted.operands.size(); ++i) {
      const std::uint32_t at = operand_at(i, wanted, swaps);
      const Attr* spec = operand_quant_spec(op, at);
      if (!match_value(wanted.operands[i], *op.operand(at), spec, op)) return false;
    }
    for (std::size_t i = 0; i < wanted.results.size(); ++i) {
      const Attr* spec = result_quant_spec(op, static_cast<std::uint32_t>(i));
      if (!match_value(wanted.results[i], *op.result(i), spec, op)) return false;
    }
    return true;
  }

  bool match_next(std::size_t step) {
    if (step == pattern_.steps.size()) return finish();
    const MatchStep& next = pattern_.steps[step];
    Value& from = *bindings_.values[next.value];
    if (next.way == MatchStep::Way::kDefinition) {
      Op* definition = from.defining_op();
      const ValueTemplate& value = graph_.values[next.value];
      depth_ = step;
      if (definition == nullptr || from.index() != value.result) {
        return fail(definition == nullptr ? root_ : *definition,
                    [&] { return fmt::format("another op defines '%{}'", value.name); });
      }
      return match_op(step, *definition);
    }
    // A value with many users would be looked through for each of them.
    constexpr std::size_t kMostUsers = 64;
    const OpTemplate& wanted = graph_.ops[next.op];
    std::size_t tried = 0;
    for (const Use* use = from.first_use(); use != nullptr && tried < kMostUsers;
         use = use->next(), ++tried) {
      Op& user = *use->user();
      if (user.kind() != wanted.kind || user.block() == nullptr) continue;
      if (use->index() != next.operand && !wanted.is_commutative) continue;
      if (match_op(step, user)) return true;
    }
    depth_ = step;
    return fail(root_, [&] {
      return fmt::format("no '{}' that fits uses '%{}'", wanted.info->name,
                         graph_.values[next.value].name);
    });
  }

  // -- the whole --------------------------------------------------------------------------------

  bool finish() {
    depth_ = pattern_.steps.size();
    for (const Unifier::Waiting& each : unifier_.waiting()) {
      const Attr* value = evaluate(*each.expression, bindings_, context_);
      if (value == nullptr || !are_equal(*value, *each.found, context_)) {
        return fail(root_, [&] {
          return fmt::format("an expression of the pattern is {}, the operation has {}",
                             value == nullptr ? "not known" : value->spelling(),
                             each.found->spelling());
        });
      }
    }
    // Conditions cost more, but tell why.
    if (!explains_ && !keeps_types()) return fail(root_, "a result has another type");
    const Mark before = mark();
    const bool is_complete = bind_lets() && check_conditions() && check_replaced() && plan();
    if (!is_complete) undo(before);
    return is_complete;
  }

  /// True if each result that the rewrite replaces by an input has the type of the input.
  bool keeps_types() const {
    for (std::size_t i = 0; i < graph_.results.size(); ++i) {
      const std::uint32_t made = pattern_.rewrite.results[i];
      if (made >= pattern_.rewrite.input_count) continue;
      const Value& after = *bindings_.values[made];
      if (bindings_.values[graph_.results[i]]->type() != after.type()) return false;
    }
    return true;
  }

  bool bind_lets() {
    for (const auto& let : pattern_.lets) {
      const Attr* value = evaluate(let.second, bindings_, context_);
      if (value == nullptr) {
        return fail(
            root_, [&] { return fmt::format("'{}' has no value", pattern_.variables[let.first]); });
      }
      unifier_.bind(let.first, value);
    }
    return true;
  }

  bool check_conditions() {
    for (const Condition& each : pattern_.conditions) {
      if (!holds(each.expression, bindings_, context_)) return fail(root_, each.text);
    }
    return true;
  }

  bool check_replaced() {
    for (const Op* op : ops_) {
      if (op->block() == ops_.front()->block()) continue;
      return fail(*op, "the operations are in different blocks");
    }
    for (std::size_t i = 0; i < graph_.input_count; ++i) {
      const Op* definition = bindings_.values[i]->defining_op();
      if (definition == nullptr || std::ranges::find(ops_, definition) == ops_.end()) continue;
      return fail(*definition, [&] {
        return fmt::format("a matched operation defines the input '%{}'", graph_.values[i].name);
      });
    }
    for (const std::uint32_t number : graph_.results) {
      const Value& value = *bindings_.values[number];
      if (value.has_symbol() || !value.attributes().empty()) {
        return fail(*value.defining_op(), [&] {
          return fmt::format("'%{}' has a symbol or attributes", graph_.values[number].name);
        });
      }
    }
    return find_place();
  }

  /// New ops go before the first op that defines a replaced value, if the inputs are defined there;
  /// else before the last one, if nothing between uses replaced values.
  bool find_place() {
    Op *first = nullptr, *last = nullptr;
    for (const std::uint32_t number : graph_.results) {
      Op* op = bindings_.values[number]->defining_op();
      if (first == nullptr || op->is_before_in_block(first)) first = op;
      if (last == nullptr || last->is_before_in_block(op)) last = op;
    }
    plan_.before = first;
    if (first == last || are_inputs_before(*first)) return true;
    plan_.before = last;
    if (!are_inputs_before(*last)) return fail(root_, "an input is defined too late");
    for (const std::uint32_t number : graph_.results) {
      const Value& value = *bindings_.values[number];
      for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
        const Op* user = use->user()->ancestor_in(*last->parent_region());
        const bool is_matched = std::ranges::find(ops_, use->user()) != ops_.end();
        if (is_matched || user == nullptr || user->block() != last->block()) continue;
        if (user != last && user->is_before_in_block(last)) {
          return fail(*user, "an operation between the matched ones uses a replaced value");
        }
      }
    }
    return true;
  }

  bool are_inputs_before(const Op& place) const {
    for (std::size_t i = 0; i < graph_.input_count; ++i) {
      const Op* definition = bindings_.values[i]->defining_op();
      if (definition == nullptr || definition->block() != place.block()) continue;
      if (!definition->is_before_in_block(&place)) return false;
    }
    return true;
  }

  // -- the plan ---------------------------------------------------------------------------------

  bool plan() {
    const GraphTemplate& rewrite = pattern_.rewrite;
    plan_.reset(rewrite.values.size());
    for (std::size_t i = 0; i < rewrite.input_count; ++i) {
      plan_.values[i] = bindings_.values[i];
      plan_.types[i] = plan_.values[i]->type();
    }
    if (auto reason = plan_graph(rewrite, bindings_, context_, plan_)) {
      return fail(root_, *std::move(reason));
    }
    if (explains_) {
      plan_.bindings = bindings_;
      plan_.bindings.prover = nullptr;
    }
    plan_.replaced.clear();
    for (std::size_t i = 0; i < rewrite.results.size(); ++i) {
      Value& before = *bindings_.values[graph_.results[i]];
      const Type* after = plan_.types[rewrite.results[i]];
      if (before.type() != after) {
        return fail(root_, [&] {
          return fmt::format("the rewrite would give a {}, the value is a {}",
                             after == nullptr ? "value of no type" : after->spelling(),
                             before.type()->spelling());
        });
      }
      if (has_unknown_extent(before) && rewrite.values[rewrite.results[i]].is_input) {
        return fail(root_, "an extent is not known, so the types may differ");
      }
      plan_.replaced.push_back(&before);
    }
    plan_.results = rewrite.results;
    plan_.matched.clear();
    plan_.matched.push_back(&root_);
    for (Op* op : ops_) {
      if (op != &root_) plan_.matched.push_back(op);
    }
    return true;
  }

  static bool has_unknown_extent(const Value& value) {
    const TensorType* type = value.tensor_type();
    return type != nullptr && std::ranges::any_of(type->dims(), &Dim::is_unknown);
  }

  const Pattern& pattern_;
  const GraphTemplate& graph_;
  Op& root_;
  IRContext& context_;
  bool explains_;
  Mismatch& mismatch_;
  Unifier unifier_;
  Bindings& bindings_;
  std::vector<Op*> ops_;
  std::vector<std::uint32_t> value_trail_;
  std::size_t depth_ = 0, deepest_ = 0;
  Plan plan_;
};

}  // namespace

std::optional<Plan> match(const Pattern& pattern, Op& root, bool explains, Mismatch& mismatch) {
  return Matcher(pattern, root, explains, mismatch).match();
}

void apply(Rewriter& rewriter, const Plan& plan) {
  std::vector<ValueName> names;
  for (const Value* value : plan.replaced) names.push_back(value->name());
  rewriter.set_insertion_point(*plan.before);
  const std::vector<Value*> values = make_graph(rewriter, plan, *plan.before->parent_region());
  for (std::size_t i = 0; i < plan.replaced.size(); ++i) {
    rewriter.replace_all_uses(*plan.replaced[i], *values[plan.results[i]]);
  }
  const auto is_unused = [](const Op* op) {
    return std::ranges::none_of(op->results(), &Value::has_uses);
  };
  std::vector<Op*> left = plan.matched;
  for (auto op = std::ranges::find_if(left, is_unused); op != left.end();
       op = std::ranges::find_if(left, is_unused)) {
    rewriter.erase(**op);
    left.erase(op);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_new = plan.values[plan.results[i]] == nullptr;
    if (is_new) rewriter.set_name(*values[plan.results[i]], names[i]);
  }
}

}  // namespace mir::patterns
