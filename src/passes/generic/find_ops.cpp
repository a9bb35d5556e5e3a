// Compares generic ops with the bodies of the ops that they may have come from.
#include "passes/generic/find_ops.hpp"

#include <algorithm>

#include "mir/attribute_keys.hpp"
#include "mir/equivalence.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "passes/generic/generic_bodies.hpp"
#include "passes/generic/op_candidates.hpp"

namespace mir {

namespace found_ops {

namespace {

/// The body that decompose{to=generic} makes of an op, in a module of its own.
class BuiltBody {
 public:
  BuiltBody(const GenericRoot& root, const OpCandidate& candidate, const PatternSet& patterns)
      : module_(root.op.module().context(), root.op.module().context().intern("body")) {
    IRContext& context = module_.context();
    Rewriter rewriter(module_);
    rewriter.set_version(root.op.module().version());
    Region& region = module_.body();
    rewriter.set_insertion_point_to_end(rewriter.entry_of(region));
    std::vector<Value*> operands;
    std::vector<const Type*> types;
    for (Value* each : candidate.operands) {
      Value* place = find(originals_, *each);
      if (place == nullptr) {
        place = rewriter.create_free_value(region, each->type(), {});
        originals_.emplace_back(place, each);
      }
      operands.push_back(place);
      types.push_back(each->type());
    }
    const Symbol device = root.op.op_name().device;
    const Type* const type = &root.result;
    Op& op = *rewriter.create({.name = context.op_name(context.op_name(candidate.op).kind, device),
                               .operands = operands,
                               .result_types = {&type, 1},
                               .attributes = candidate.attributes,
                               .path = candidate.path});
    // A number that is a constant in the region of a generic op is missing from its operands.
    if (op.row() == nullptr || !op.row()->operands.admits(operands.size())) return;
    Diagnostics ignored(1);
    const auto inferred = infer(op, types, op.attributes(), ignored);
    if (!inferred || inferred->size() != 1) return;
    if (inferred->front() != nullptr && inferred->front() != type) return;
    Value* result = op.result();
    const Op& end =
        *rewriter.create({.name = context.op_name(OpId::kCfReturn), .operands = {&result, 1}});
    for (const RewritePattern& pattern : patterns.patterns()) {
      if (!pattern.roots.admit(op.info())) continue;
      const PatternMatch match = pattern.match(op);
      if (!match) continue;
      pattern.rewrite(rewriter, match);
      result_ = end.operand(0);
      return;
    }
  }

  /// Null if the op is not valid, or has no body.
  const Value* result() const { return result_; }
  /// The operand of the candidate for which a value stands; null for other values.
  const Value* original(const Value& value) const {
    for (const auto& [place, original] : originals_) {
      if (place == &value) return original;
    }
    return nullptr;
  }

 private:
  using Originals = std::vector<std::pair<Value*, Value*>>;

  static Value* find(const Originals& originals, const Value& original) {
    const auto found = std::ranges::find(originals, &original, &Originals::value_type::second);
    return found == originals.end() ? nullptr : found->first;
  }

  Module module_;
  Originals originals_;
  const Value* result_ = nullptr;
};

/// Replaces the symbols of loops and sizes by those of the other form, whose names do not matter.
/// False if there are more or fewer of them.
bool rename_symbols(LoopForm& form, const LoopForm& like, IRContext& context) {
  if (form.loops.size() != like.loops.size() || form.sizes.size() != like.sizes.size() ||
      form.indices.size() != like.indices.size()) {
    return false;
  }
  DimTable& dims = context.dims();
  std::vector<std::pair<Symbol, Symbol>> names;
  for (std::size_t i = 0; i < form.loops.size(); ++i) {
    names.emplace_back(form.loops[i].name, like.loops[i].name);
  }
  for (const GenericForm::Range& each : form.sizes) {
    const auto found = std::ranges::find(like.sizes, each.extent, &GenericForm::Range::extent);
    if (found == like.sizes.end()) return false;
    names.emplace_back(each.name, found->name);
  }
  for (const GenericForm::Index& each : form.indices) {
    const auto found = std::ranges::find(like.indices, each.operand, &GenericForm::Index::operand);
    if (found == like.indices.end()) return false;
    names.emplace_back(each.name, found->name);
  }
  const auto renamed = [&](Symbol name) {
    const auto found = std::ranges::find(names, name, &std::pair<Symbol, Symbol>::first);
    return found == names.end() ? name : found->second;
  };
  const auto value = [&](Symbol name) -> std::optional<Dim> {
    return dims.symbol(context.text(renamed(name)));
  };
  for (auto& map : form.maps) {
    for (Dim& index : map) index = dims.substitute(index, value);
  }
  for (auto* list : {&form.bounds, &form.filters}) {
    for (SymbolRelation& each : *list) {
      const auto made = each.substitute(dims, value);
      if (!made) return false;
      each = *made;
    }
  }
  for (auto* list : {&form.loops, &form.sizes}) {
    for (GenericForm::Range& each : *list) each.name = renamed(each.name);
  }
  for (auto& sums : form.sums) {
    for (LoopForm::Sum& each : sums) each.loop = renamed(each.loop);
  }
  return true;
}

bool are_equal(std::span<const SymbolRelation> a, std::span<const SymbolRelation> b) {
  return std::ranges::equal(a, b, [](const SymbolRelation& one, const SymbolRelation& other) {
    return one.comparison == other.comparison && one.margin == other.margin;
  });
}

/// True if generic ops have the same loops, maps, sums and conditions, and no loop has marks.
bool have_equal_loops(const Op& a, const Op& b) {
  if (a.attribute(key::kStart) != b.attribute(key::kStart)) return false;
  IRContext& context = a.module().context();
  LoopForm one = read_loops(a);
  const LoopForm other = read_loops(b);
  if (!rename_symbols(one, other, context)) return false;
  const auto have_equal_extents = std::ranges::equal(
      one.loops, other.loops, {}, &GenericForm::Range::extent, &GenericForm::Range::extent);
  const auto is_plain = [](const LoopForm& form) {
    return form.parallel.empty() && form.vector.empty() && form.unroll.empty();
  };
  return have_equal_extents && one.maps == other.maps && one.sums == other.sums &&
         are_equal(one.bounds, other.bounds) && are_equal(one.filters, other.filters) &&
         is_plain(one) && is_plain(other);
}

/// True if the regions compute the same from the numbers that they take.
bool have_equal_regions(const Op& a, const Op& b) {
  const Block &one = a.first_region()->only_block(), &other = b.first_region()->only_block();
  std::vector<std::pair<const Value*, const Value*>> pairs;
  const auto pair_all = [&](const ValueRange& from, const ValueRange& to) {
    if (from.size() != to.size()) return false;
    for (std::uint32_t i = 0; i < from.size(); ++i) {
      if (from[i].type() != to[i].type()) return false;
      pairs.emplace_back(&from[i], &to[i]);
    }
    return true;
  };
  if (!pair_all(one.arguments(), other.arguments())) return false;
  const Op *x = one.front(), *y = other.front();
  for (; x != nullptr && y != nullptr; x = x->next(), y = y->next()) {
    if (!are_same_operation(*x, *y) || x->operand_count() != y->operand_count()) return false;
    for (std::uint32_t i = 0; i < x->operand_count(); ++i) {
      const auto known =
          std::ranges::find(pairs, x->operand(i), [](const auto& each) { return each.first; });
      if (known == pairs.end() || known->second != y->operand(i)) return false;
    }
    if (!pair_all(x->results(), y->results())) return false;
  }
  return x == nullptr && y == nullptr;
}

/// Compares a built body with the ops that lead to a root.
class BodyComparison {
 public:
  BodyComparison(const BuiltBody& body, const Op& root) : body_(body), block_(root.block()) {}

  bool are_equal(const Value& built, const Value& found) {
    if (built.type() != found.type()) return false;
    if (const Value* original = body_.original(built)) return original == &found;
    const Op* const from = built.defining_op();
    Op* const to = found.defining_op();
    if (from == nullptr || to == nullptr) {
      return from == nullptr && built.is_free() && found.is_free() &&
             built.has_symbol() == found.has_symbol() && built.symbol() == found.symbol() &&
             std::ranges::equal(built.attributes(), found.attributes(), {}, &NamedAttr::value,
                                &NamedAttr::value);
    }
    for (const auto& [known, partner] : ops_) {
      if (known == from || partner == to) return known == from && partner == to;
    }
    if (!have_equal_heads(*from, *to)) return false;
    ops_.emplace_back(from, to);
    for (std::uint32_t i = 0; i < from->operand_count(); ++i) {
      if (!are_equal(*from->operand(i), *to->operand(i))) return false;
    }
    return true;
  }

  /// The ops that are the body, the root first.
  std::vector<Op*> found() const {
    std::vector<Op*> ops;
    for (const auto& [built, each] : ops_) ops.push_back(each);
    return ops;
  }
  /// True if nothing else reads what the ops before the last one compute.
  bool are_used_inside() const {
    const auto is_inside = [&](const Op* op) {
      return std::ranges::any_of(ops_, [&](const auto& each) { return each.second == op; });
    };
    for (std::size_t i = 1; i < ops_.size(); ++i) {
      const Use* use = ops_[i].second->result()->first_use();
      for (; use != nullptr; use = use->next()) {
        if (!is_inside(use->user())) return false;
      }
    }
    return true;
  }

 private:
  bool have_equal_heads(const Op& from, const Op& to) const {
    return from.is(OpId::kLinalgGeneric) && to.is(OpId::kLinalgGeneric) && to.block() == block_ &&
           from.op_name().device == to.op_name().device && to.result_count() == 1 &&
           from.operand_count() == to.operand_count() && have_equal_loops(from, to) &&
           have_equal_regions(from, to);
  }

  const BuiltBody& body_;
  const Block* block_;
  std::vector<std::pair<const Op*, Op*>> ops_;  // the root first
};

const Op* only_op(const Op& generic) {
  const Block& block = generic.first_region()->only_block();
  const Op* const first = block.front();
  const bool is_one = first != nullptr && first->next() == block.back() &&
                      first->result_count() == 1 && block.back()->operand(0) == first->result();
  return is_one ? first : nullptr;
}

PatternMatch match_root(Op& op, const PatternSet& bodies, GenericBody::Search search) {
  if (op.result_count() != 1) return PatternMatch::failed("the op has several results", op);
  const TensorType* type = op.result()->tensor_type();
  if (type == nullptr || !type->dtype() || op.operand_count() == 0) {
    return PatternMatch::failed("a type is not known, or it has no operand", op);
  }
  const GenericRoot root{.op = op, .form = read_loops(op), .result = *type, .only = only_op(op)};
  OpCandidates candidates;
  for (const GenericBody& each : generic_bodies()) {
    if (each.add_candidates != nullptr && each.search == search) {
      each.add_candidates(each.op, root, candidates);
    }
  }
  for (OpCandidate& each : candidates) {
    const BuiltBody body(root, each, bodies);
    if (body.result() == nullptr) continue;
    BodyComparison comparison(body, op);
    if (!comparison.are_equal(*body.result(), *op.result())) continue;
    if (!comparison.are_used_inside()) continue;
    return PatternMatch::of(comparison.found(), {},
                            std::make_shared<const OpCandidate>(std::move(each)));
  }
  return PatternMatch::failed("no op has this body", op);
}

void rewrite_root(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const auto& found = match.plan<OpCandidate>();
  IRContext& context = rewriter.context();
  const Type* const type = op.result()->type();
  rewriter.set_insertion_point(op);
  Op& made = *rewriter.create(
      {.name = context.op_name(context.op_name(found.op).kind, op.op_name().device),
       .operands = found.operands,
       .result_types = {&type, 1},
       .attributes = found.attributes,
       .path = found.path ? found.path : op.path()});
  const ValueName name = op.result()->name();
  rewriter.set_name(*op.result(), made.result()->name());
  rewriter.set_name(*made.result(), name);
  Value* const result = made.result();
  rewriter.replace(op, {&result, 1});
}

}  // namespace

}  // namespace found_ops

PatternSet find_op_patterns(FoundOps which, const ParameterTypes* parameters) {
  using Search = GenericBody::Search;
  const auto bodies = std::make_shared<const PatternSet>(generic_body_patterns(parameters));
  PatternSet set;
  const auto add = [&](std::string_view name, Search search, unsigned benefit) {
    set.add(
        {.name = std::string(name),
         .benefit = benefit,
         .roots = {.names = {"linalg.GenericOp"}},
         .makes = {"linalg"},
         .match = [bodies, search](Op& op) { return found_ops::match_root(op, *bodies, search); },
         .rewrite = found_ops::rewrite_root});
  };
  if (which == FoundOps::kCompound) {
    add("compound-op", Search::kCompound, 1);
  } else {
    add("simple-op", Search::kSimple, 2);
    add("general-op", Search::kGeneral, 1);
  }
  return set;
}

}  // namespace mir
