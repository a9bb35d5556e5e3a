// Gives values of the positions of a step a dimension for the sequences of a batch.
#include "passes/batch/own_positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/infer.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

bool is_rotation(const Op& op) {
  return op.is(OpId::kLinalgRoPE, OpId::kLinalgMultimodalRoPE);
}

bool is_reshaping(const Op& op) {
  return op.is(OpId::kLinalgView, OpId::kLinalgReshape);
}

/// True for ops whose results have the sequences where their first operand has them.
bool keeps_leading_dimensions(const Op& op) {
  if (op.is(OpId::kLinalgMatMul))
    return op.operand(1)->tensor_type() != nullptr && op.operand(1)->tensor_type()->rank() <= 2;
  if (!op.is(OpId::kLinalgConcat)) return false;
  // A dimension that is counted from the end is the same one after the sequences were added.
  const Attr* dim = op.attribute(key::kDim);
  return dim != nullptr && dim->kind() == AttrKind::kInt && dim->integer() < 0;
}

}  // namespace

bool OwnPositions::refuse(const Op& op, std::string message) {
  run_.diagnostics().error(diag::kPipeline, op.span(), std::move(message));
  return false;
}

const OwnPositions::Place* OwnPositions::place_in(const Value& value) const {
  const auto found = values_.find(&value);
  return found == values_.end() ? nullptr : &found->second;
}

std::size_t OwnPositions::rank_before(const Value& value) const {
  const Place* place = place_in(value);
  return value.tensor_type()->rank() - (place != nullptr && *place == Place::kBefore ? 1 : 0);
}

bool OwnPositions::follow() {
  bool is_good = true;
  for_each_child(run_.module().body(), [&](Op& op) {
    const bool reads = std::ranges::any_of(
        op.operand_uses(), [&](const Use& use) { return place_in(*use.value()) != nullptr; });
    if (reads && is_good) is_good = follow(op);
  });
  return is_good;
}

bool OwnPositions::follow(Op& op) {
  if (op.has(Trait::kElementwise) || op.is(OpId::kLinalgCastType))
    return align_operands(op) && infer_results(op);
  if (is_reshaping(op) && op.result()->tensor_type() != nullptr) {
    widen_view(op);
    return infer_results(op);
  }
  const auto is_shared = [&](const Use& use) { return place_in(*use.value()) == nullptr; };
  const bool is_known =
      is_rotation(op)
          ? is_shared(op.operand_uses()[0])
          : keeps_leading_dimensions(op) && !is_shared(op.operand_uses()[0]) &&
                (op.is(OpId::kLinalgMatMul) ? is_shared(op.operand_uses()[1])
                                            : std::ranges::none_of(op.operand_uses(), is_shared));
  if (is_known) return infer_results(op);
  return refuse(op, fmt::format("'{}' reads values that are different for each sequence, and would "
                                "not keep them apart",
                                op.name()));
}

bool OwnPositions::align_operands(Op& op) {
  std::size_t rank = 0;  // of the result for one sequence
  for (const Use& use : op.operand_uses()) {
    if (use.value()->tensor_type() == nullptr)
      return refuse(op, fmt::format("the extents of an operand of '{}' are not known", op.name()));
    rank = std::max(rank, rank_before(*use.value()));
  }
  // The sequences come before all dimensions if a value of that rank has none for them.
  const bool is_before = std::ranges::any_of(op.operand_uses(), [&](const Use& use) {
    const Place* place = place_in(*use.value());
    return place != nullptr && *place == Place::kBefore && rank_before(*use.value()) == rank;
  });
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    Value& value = *op.operand(i);
    const auto dims = value.tensor_type()->dims();
    const Place* place = place_in(value);
    if (place == nullptr) {
      const bool is_apart = is_before
                                ? !batch_.is_symbolic() || !std::ranges::count(dims, batch_)
                                : dims.size() < rank || dims[0] == batch_ || dims[0] == Dim(1);
      if (is_apart) continue;
      return refuse(op, fmt::format("'{}' reads values that are different for each sequence beside "
                                    "{}, expected the sequences in its first dimension",
                                    op.name(), value.tensor_type()->spelling()));
    }
    std::vector<Dim> wanted(dims.begin() + 1, dims.end());
    if (is_before && *place == Place::kFirst) wanted.insert(wanted.begin(), Dim(1));
    const std::size_t others = is_before ? rank : rank - 1;
    wanted.insert(wanted.begin(), others - wanted.size(), Dim(1));
    wanted.insert(wanted.begin(), batch_);
    if (std::ranges::equal(wanted, dims)) continue;
    std::vector<const Attr*> shape;
    for (const Dim dim : wanted) shape.push_back(builder_.context().dim(dim));
    builder_.set_insertion_point(op);
    Value* view =
        linalg::View::build(builder_, &value, {.to_shape = builder_.context().array(shape)});
    if (view == nullptr) return false;
    builder_.set_operand(op, i, view);
  }
  return true;
}

void OwnPositions::widen_view(Op& op) {
  IRContext& context = builder_.context();
  const auto dims = op.result()->tensor_type()->dims();
  const bool is_first = !dims.empty() && dims[0] == Dim(1);
  std::vector<const Attr*> shape = {context.dim(batch_)};
  for (const Dim dim : dims.subspan(is_first ? 1 : 0)) shape.push_back(context.dim(dim));
  const AttrKey name = op.is(OpId::kLinalgView) ? key::kToShape : key::kShape;
  builder_.set_attribute(op, context.intern(name.text), context.array(shape));
}

bool OwnPositions::infer_results(Op& op) {
  const auto types = infer(op, operand_types(op), op.attributes(), run_.diagnostics());
  if (!types) return false;
  for (std::uint32_t i = 0; i < types->size(); ++i) {
    Value& result = *op.result(i);
    const Type* type = (*types)[i];
    if (type == nullptr || type == result.type()) continue;
    const auto* before = result.tensor_type();
    const auto* after = dyn_cast<TensorType>(type);
    if (before == nullptr || after == nullptr || after->rank() == 0 || after->dims()[0] != batch_)
      return refuse(
          op, fmt::format("'{}' has no dimension for the sequences in its result", op.name()));
    const bool is_first = after->rank() == before->rank() && before->dims()[0] == Dim(1);
    const auto kept = before->dims().subspan(is_first ? 1 : 0);
    if (!std::ranges::equal(after->dims().subspan(1), kept))
      return refuse(op, fmt::format("'{}' mixes the sequences with other dimensions", op.name()));
    builder_.set_type(result, type);
    values_.emplace(&result, is_first ? Place::kFirst : Place::kBefore);
  }
  return true;
}

}  // namespace mir
