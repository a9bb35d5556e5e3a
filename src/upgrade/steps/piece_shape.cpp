// Infers the shape of a piece of a tensor from the ops that use it.
#include "upgrade/steps/piece_shape.hpp"

#include <algorithm>

#include "mir/infer.hpp"
#include "upgrade/steps/option_rules.hpp"

namespace mir {

PieceShape shape_of(const Value& value) {
  const TensorType* type = value.tensor_type();
  return type == nullptr ? PieceShape() : PieceShape(type->dims().begin(), type->dims().end());
}

bool fits(const PieceShape& piece, const PieceShape& whole) {
  if (piece.size() != whole.size()) return false;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const bool same = piece[i] == whole[i];
    const bool less = piece[i].is_constant() && whole[i].is_constant() &&
                      piece[i].constant() <= whole[i].constant();
    if (!same && !less) return false;
  }
  return true;
}

namespace {

std::size_t cut_dims(const PieceShape& piece, const PieceShape& whole) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < piece.size(); ++i) count += piece[i] == whole[i] ? 0 : 1;
  return count;
}

/// The shape that a product needs of its right side: what meets the left side's columns and gives
/// the result's, read as it is or transposed; where both fit, the reading that cuts fewer
/// dimensions, and of equal ones transposed where scores are made. Heads of the right side may
/// serve several.
std::optional<NeededShape> right_side(const Op& product, const PieceShape& whole) {
  const PieceShape a = shape_of(*product.operand(0)), c = shape_of(*product.result());
  if (a.size() != whole.size() || c.size() != whole.size() || a.size() < 2) return std::nullopt;
  const Attr* stated = product.attribute(key::kTransposeB);
  PieceShape straight = whole, transposed = whole;
  const std::size_t rows = whole.size() - 2, columns = rows + 1;
  straight[rows] = a[columns], straight[columns] = c[columns];
  transposed[rows] = c[columns], transposed[columns] = a[columns];
  const bool turned = stated != nullptr && stated->kind() == AttrKind::kBool && stated->boolean();
  const bool may_turn = (stated == nullptr || turned) && fits(transposed, whole);
  const bool may_stay = (stated == nullptr || !turned) && fits(straight, whole);
  if (!may_turn && !may_stay) return std::nullopt;
  if (!may_turn || !may_stay) return NeededShape{may_turn ? transposed : straight};
  const std::size_t if_turned = cut_dims(transposed, whole), if_not = cut_dims(straight, whole);
  const bool turns = if_turned == if_not ? feeds_softmax(product) : if_turned < if_not;
  return NeededShape{turns ? transposed : straight, straight == transposed};
}

/// Returns the shape that gives the result by an exchange of two dimensions: of 1 and 2, as
/// attention exchanges heads and tokens. It is certain if no other exchange has a piece of `whole`.
NeededShape before_transpose(const PieceShape& result, const PieceShape& whole) {
  NeededShape needed{result};
  std::swap(needed.shape[1], needed.shape[2]);
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (std::size_t j = i + 1; j < result.size(); ++j) {
      PieceShape other = result;
      std::swap(other[i], other[j]);
      needed.certain = needed.certain && (other == needed.shape || !fits(other, whole));
    }
  }
  return needed;
}

/// Returns the part of a concatenation's result that its other operand leaves.
std::optional<PieceShape> rest_of_concat(const Op& concat, std::uint32_t index) {
  if (concat.operand_count() != 2) return std::nullopt;
  const Value& other = *concat.operand(1 - index);
  PieceShape out = shape_of(*concat.result());
  const PieceShape given = shape_of(other);
  if (given.size() != out.size() || &other == concat.operand(index)) return std::nullopt;
  std::optional<std::size_t> dim;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (given[i] == out[i]) continue;
    if (dim || !given[i].is_constant() || !out[i].is_constant()) return std::nullopt;
    dim = i;
  }
  if (!dim || given[*dim].constant() >= out[*dim].constant()) return std::nullopt;
  out[*dim] = Dim(out[*dim].constant() - given[*dim].constant());
  return out;
}

}  // namespace

std::optional<NeededShape> needed_by(const Use& use, const PieceShape& whole) {
  const Op& user = *use.user();
  if (user.result_count() != 1 || user.row() == nullptr) return std::nullopt;
  PieceShape out = shape_of(*user.result());
  if (user.is(OpId::kLinalgMatMul) && use.index() == 1) return right_side(user, whole);
  if (user.is(OpId::kLinalgConcat)) {
    auto rest = rest_of_concat(user, use.index());
    return rest ? std::optional(NeededShape{*std::move(rest)}) : std::nullopt;
  }
  if (user.is(OpId::kLinalgMatMul) || (user.is(OpId::kLinalgLinear) && user.operand_count() == 1)) {
    if (!out.empty() && !whole.empty()) out.back() = whole.back();
    return NeededShape{std::move(out)};
  }
  if (user.is(OpId::kLinalgTranspose) && out.size() == 4) return before_transpose(out, whole);
  if (use.index() == 0 && user.has(Trait::kSameShape)) {
    return NeededShape{std::move(out)};
  }
  return std::nullopt;
}

std::optional<NeededShape> needed_by_elements(const Use& use, const PieceShape& whole) {
  const Op& user = *use.user();
  const bool elementwise = user.has(Trait::kElementwise);
  if (!elementwise || user.result_count() != 1) return std::nullopt;
  PieceShape out = shape_of(*user.result());
  return fits(out, whole) ? std::optional(NeededShape{std::move(out), false}) : std::nullopt;
}

std::optional<bool> takes_type(const Use& use, const TensorType& type) {
  const Op& user = *use.user();
  const PieceShape shape(type.dims().begin(), type.dims().end());
  if (const auto needed = needed_by(use, shape)) return needed->shape == shape;
  const bool view = user.is(OpId::kLinalgView, OpId::kLinalgReshape);
  if (view && user.result_count() == 1 && user.result()->tensor_type() != nullptr) {
    return type.element_count() == user.result()->tensor_type()->element_count();
  }
  const bool broadcasts = user.has(Trait::kElementwise);
  if (!broadcasts || user.row()->infer == nullptr) return std::nullopt;
  std::vector<const Type*> operands = operand_types(user);
  operands[use.index()] = &type;
  Diagnostics unheard(1);
  const auto inferred = infer(user, operands, user.attributes(), unheard);
  if (!inferred) return false;
  for (std::uint32_t i = 0; i < user.result_count() && i < inferred->size(); ++i) {
    const Type* given = (*inferred)[i];
    const Type* printed = user.results()[i].type();
    if (given != nullptr && printed != nullptr && !compatible(given, printed)) return false;
  }
  return true;
}

std::optional<std::int64_t> element_count(const PieceShape& shape) {
  std::int64_t count = 1;
  for (const Dim dim : shape) {
    if (!dim.is_constant() || __builtin_mul_overflow(count, dim.constant(), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::optional<NeededShape> piece_of_elements(const PieceShape& whole, std::int64_t elements) {
  const auto all = element_count(whole);
  if (!all || *all <= 0 || elements <= 0 || elements > *all) return std::nullopt;
  if (elements == *all) return NeededShape{whole};
  std::optional<NeededShape> found;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::int64_t rest = *all / whole[i].constant();
    if (elements % rest != 0) continue;
    if (found) {
      found->certain = false;
      break;
    }
    found = NeededShape{whole};
    found->shape[i] = Dim(elements / rest);
  }
  return found;
}

}  // namespace mir
