#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "mir/ir/infer.hpp"
#include "recovery.hpp"

// Slices and splits. Upstream prints their results with the type of their operand, drops their
// bounds, and names all pieces of a split alike. Stated bounds give the types; where none are
// stated, what the users compute tells the shape, and the bounds are the documented choice.

namespace mir {

namespace {

using Shape = std::vector<Dim>;

Shape shape_of(const Value& value) {
  const TensorType* type = value.tensor_type();
  return type == nullptr ? Shape() : Shape(type->dims().begin(), type->dims().end());
}

/// Whether a piece of this shape can come out of `whole`.
bool fits(const Shape& piece, const Shape& whole) {
  if (piece.size() != whole.size()) return false;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const bool same = piece[i] == whole[i];
    const bool less = piece[i].is_constant() && whole[i].is_constant() &&
                      piece[i].constant() <= whole[i].constant();
    if (!same && !less) return false;
  }
  return true;
}

/// The shape that a product needs of its right side: what meets the left side's columns and gives
/// the result's, read as it is or transposed. Heads of the right side may serve several.
std::optional<Shape> right_side(const Op& product, const Shape& whole) {
  const Shape a = shape_of(*product.operand(0)), c = shape_of(*product.result());
  if (a.size() != whole.size() || c.size() != whole.size() || a.size() < 2) return std::nullopt;
  const Attr* stated = product.attribute("transpose_b");
  Shape straight = whole, transposed = whole;
  const std::size_t rows = whole.size() - 2, columns = rows + 1;
  straight[rows] = a[columns], straight[columns] = c[columns];
  transposed[rows] = c[columns], transposed[columns] = a[columns];
  const bool turned = stated != nullptr && stated->kind() == AttrKind::kBool && stated->boolean();
  if ((stated == nullptr || turned) && fits(transposed, whole)) return transposed;
  if ((stated == nullptr || !turned) && fits(straight, whole)) return straight;
  return std::nullopt;
}

/// The shape that one user needs; none where it does not tell.
std::optional<Shape> needed_by(const Use& use, const Shape& whole) {
  const Op& user = *use.user();
  if (user.result_count() != 1 || user.row() == nullptr) return std::nullopt;
  Shape out = shape_of(*user.result());
  if (user.is("linalg.MatMulOp")) {
    if (use.index() == 1) return right_side(user, whole);
    if (!out.empty() && !whole.empty()) out.back() = whole.back();
    return out;
  }
  if (user.is("linalg.LinearOp")) {
    if (!out.empty() && !whole.empty()) out.back() = whole.back();
    return out;
  }
  if (user.is("linalg.TransposeOp") && out.size() == 4) {
    std::swap(out[1], out[2]);
    return out;
  }
  if (use.index() == 0 && has(user.row()->traits, Trait::kSameShape)) return out;
  return std::nullopt;
}

std::vector<Use*> uses_in_order(Value& value) {
  std::vector<Use*> uses;
  for (Use* use = value.first_use(); use != nullptr; use = use->next()) uses.push_back(use);
  std::ranges::stable_sort(uses, [](const Use* a, const Use* b) {
    if (a->user() == b->user()) return a->index() < b->index();
    return a->user()->block() == b->user()->block() && a->user()->is_before_in_block(b->user());
  });
  return uses;
}

class Pieces {
 public:
  explicit Pieces(Recovery& recovery) : recovery_(recovery) {}

  /// In the order of execution, for what a slice gives goes on into calls and out of them.
  void run() { visit(recovery_.module.body()); }

 private:
  void visit(Region& region) {
    for (Op* op : region.ops()) {
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(op)) enter(call);
      const bool whole = op->operand_count() >= 1 && op->operand(0)->tensor_type() != nullptr;
      if (whole && op->is("linalg.SliceOp") && op->result_count() == 1) slice(*op);
      if (whole && op->is("linalg.SplitOp") && op->result_count() >= 1) split(*op);
    }
    settle_results(region);
  }

  void enter(CallGraphOp call) {
    const SubGraphOp target = call.target();
    if (!target || target.body() == nullptr) return;
    Region& body = *target.body();
    if (visited_.insert(target.op()).second) {
      take_operand_types(*call.op(), body);
      visit(body);
    }
    for (std::uint32_t i = 0; i < call->result_count() && i < body.results().size(); ++i) {
      const Type* type = body.results()[i].type;
      const Value* value = body.returned(i);
      if (value == nullptr || !pieces_.contains(value)) continue;
      call->result(i)->set_type(type);
      pieces_.insert(call->result(i));
    }
  }

  /// A piece handed to a graph is what the graph gets.
  void take_operand_types(const Op& call, Region& body) {
    for (std::uint32_t i = 0; i < call.operand_count() && i < body.arguments().size(); ++i) {
      const Type* type = call.operand(i)->type();
      Value& argument = body.arguments()[i];
      if (!pieces_.contains(call.operand(i))) continue;
      argument.set_type(type);
      pieces_.insert(&argument);
    }
  }

  void settle_results(Region& region) {
    std::vector<RegionResult> results(region.results().begin(), region.results().end());
    bool changed = false;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value* value = region.returned(i);
      if (value == nullptr || !pieces_.contains(value) || value->type() == results[i].type)
        continue;
      results[i].type = value->type();
      changed = true;
    }
    if (!changed) return;
    region.set_results(recovery_.module.copy(std::span<const RegionResult>(results)));
  }

  void slice(Op& op) {
    const Shape whole = shape_of(*op.operand(0));
    if (!Recovery::is_stated(op, "indices")) {
      const auto piece = piece_of(*op.result(), whole);
      if (!piece) return recovery_.refuse(op, "indices", "no user tells the shape it needs");
      assume_bounds(op, whole, *piece);
    }
    infer(op);
  }

  /// A part begins at the first element, a single one is the last: upstream cuts caches to what
  /// they hold and hidden states to the last token.
  void assume_bounds(Op& op, const Shape& whole, const Shape& piece) {
    IRContext& context = recovery_.context();
    std::vector<const Attr*> bounds;
    const auto entry = [&](std::string_view key, std::int64_t value) {
      return NamedAttr{context.intern(key), context.integer(value)};
    };
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::vector<NamedAttr> bound;
      if (piece[i] == whole[i]) {
      } else if (piece[i].constant() == 1) {
        bound = {entry("start", -1), entry("end", 0)};
      } else {
        bound = {entry("end", piece[i].constant())};
      }
      bounds.push_back(context.dict(bound));
    }
    recovery_.assume(op, "indices", context.array(bounds));
  }

  void split(Op& op) {
    const Shape whole = shape_of(*op.operand(0));
    if (!Recovery::is_stated(op, "split_size_or_sections") || !Recovery::is_stated(op, "dim")) {
      if (!assume_sections(op, whole)) return;
    }
    hand_out(op);
    infer(op);
  }

  /// Equal pieces along the one dimension in which the users' shape differs from the operand's.
  bool assume_sections(Op& op, const Shape& whole) {
    const auto piece = piece_of(*op.result(op.result_count() - 1), whole);
    std::optional<std::size_t> dim;
    for (std::size_t i = 0; piece && i < whole.size(); ++i) {
      if ((*piece)[i] == whole[i]) continue;
      if (dim) return refuse_sections(op);
      dim = i;
    }
    if (!dim || !whole[*dim].is_constant()) return refuse_sections(op);
    const std::int64_t extent = whole[*dim].constant(), count = op.result_count();
    if (extent % count != 0 || extent / count != (*piece)[*dim].constant()) {
      return refuse_sections(op);
    }
    IRContext& context = recovery_.context();
    const Attr* size = context.integer((*piece)[*dim].constant());
    recovery_.derive(op, "dim", context.integer(static_cast<std::int64_t>(*dim)));
    recovery_.derive(op, "split_size_or_sections", context.array(std::span(&size, 1)));
    return true;
  }

  bool refuse_sections(const Op& op) {
    recovery_.refuse(op, "dim, split_size_or_sections", "no user tells the shape of a piece");
    return false;
  }

  /// All pieces have one name, so every user seems to read the last: each reads the next one.
  void hand_out(Op& op) {
    const std::uint32_t count = op.result_count();
    Value& last = *op.result(count - 1);
    const auto results = op.results();
    const bool alike = count > 1 && std::ranges::all_of(results, [&](const Value& each) {
                         return each.name() == last.name() && (&each == &last || !each.has_uses());
                       });
    if (!alike) return;
    const auto uses = uses_in_order(last);
    if (uses.size() != count) {
      return recovery_.refuse(
          op, "pieces",
          fmt::format("which of {} pieces each of {} users reads", count, uses.size()));
    }
    for (std::uint32_t i = 0; i + 1 < count; ++i) {
      uses[i]->user()->set_operand(uses[i]->index(), op.result(i));
    }
    recovery_.note(op, LossEntry::Source::kAssumed, "pieces", "in the order of their users");
  }

  std::optional<Shape> piece_of(Value& value, const Shape& whole) {
    for (const Use* use : uses_in_order(value)) {
      auto shape = needed_by(*use, whole);
      if (shape && fits(*shape, whole)) return shape;
    }
    return std::nullopt;
  }

  /// The types that the bounds give stand for those that upstream printed.
  void infer(Op& op) {
    std::vector<const Type*> operands;
    for (const Use& use : op.operand_uses()) operands.push_back(use.value()->type());
    InferContext inference(recovery_.context(), op.name(), operands, op.attributes(),
                           op.result_count(), op.span(), recovery_.diagnostics);
    if (!op.row()->infer(inference)) return;
    for (std::uint32_t i = 0; i < op.result_count() && i < inference.results().size(); ++i) {
      const Type* type = inference.results()[i];
      if (type == nullptr || type == op.result(i)->type()) continue;
      op.result(i)->set_type(type);
      pieces_.insert(op.result(i));
      recovery_.note(op, LossEntry::Source::kDerived, fmt::format("type of result {}", i),
                     std::string(type->spelling()));
    }
  }

  Recovery& recovery_;
  std::unordered_set<const Value*> pieces_;  ///< values with another type than upstream printed
  std::unordered_set<const Op*> visited_;
};

}  // namespace

void recover_pieces(Recovery& recovery) {
  Pieces(recovery).run();
}

}  // namespace mir
