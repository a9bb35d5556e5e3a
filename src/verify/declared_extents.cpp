// Finds the extents that only declared types determine.
#include "verify/declared_extents.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "ir/told_attributes.hpp"
#include "mir/infer.hpp"

namespace mir::checks {

namespace {

/// Adds the extents that are unknown in `left_out` and known in `stated`.
void add_extents(std::uint32_t result, const Type* left_out, const Type* stated,
                 std::string_view attribute, std::vector<DeclaredExtent>& found) {
  const auto *open = dyn_cast<TensorType>(left_out), *known = dyn_cast<TensorType>(stated);
  if (open == nullptr || known == nullptr) return;
  for (std::size_t dim = 0; dim < std::min(open->rank(), known->rank()); ++dim) {
    const bool is_told = open->dims()[dim].is_unknown() && !known->dims()[dim].is_unknown();
    if (is_told) found.push_back({result, dim, attribute});
  }
}

bool names_extent(const OpRow& row, std::string_view attribute) {
  return std::ranges::any_of(row.weights, [&](const WeightRow& weight) {
    return weight.shape.find(attribute) != weight.shape.npos;
  });
}

}  // namespace

std::vector<DeclaredExtent> declared_extents(const Op& op, ExtentProver* prover) {
  std::vector<DeclaredExtent> found;
  const OpRow* const row = op.row();
  const std::vector<const Type*> operands = operand_types(op);
  if (row == nullptr || row->infer == nullptr || !row->operands.admits(operands.size()) ||
      std::ranges::find(operands, nullptr) != operands.end()) {
    return found;
  }
  const auto types_with = [&](std::span<const NamedAttr> attributes) {
    Diagnostics ignored(1);
    const ToldAttributes told(op.module(), *row, op.path(), attributes);
    auto types = infer({.context = op.module().context(),
                        .row = *row,
                        .operands = operands,
                        .attributes = told.all(),
                        .result_count = op.result_count(),
                        .device = op.op_name().device,
                        .prover = prover},
                       ignored);
    if (prover != nullptr) prover->forget_undecided();
    return types;
  };
  auto types = types_with(op.attributes());
  if (!types) return found;
  types->resize(op.result_count());
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    const TensorType* stated = op.result(i)->tensor_type();
    if ((*types)[i] != nullptr || stated == nullptr) continue;
    for (std::size_t dim = 0; dim < stated->rank(); ++dim) found.push_back({i, dim});
  }
  // With the attribute, the extents that follow from it are known.
  IRContext& context = op.module().context();
  for (const AttrRow& attribute : row->attributes) {
    if (op.attribute(attribute.name) != nullptr || !names_extent(*row, attribute.name)) continue;
    std::vector<NamedAttr> options(op.attributes().begin(), op.attributes().end());
    options.push_back(
        {context.intern(attribute.name), context.dim(context.dims().symbol(attribute.name))});
    const auto told = types_with(options);
    for (std::uint32_t i = 0; told && i < std::min(told->size(), types->size()); ++i) {
      add_extents(i, (*types)[i], (*told)[i], attribute.name, found);
    }
  }
  return found;
}

}  // namespace mir::checks
