// Upgrade step: infers constants that the dump does not print.
#include <cmath>
#include <cstdlib>

#include "upgrade/steps/option_rules.hpp"

// Constants whose value upstream did not print. One follows from where it stands: what scales the
// scores of attention is one over the root of a head's extent.

namespace mir {

namespace {

/// The extent of a head, where the use scales scores with a single number.
std::optional<std::int64_t> scaled_head(const Use& use) {
  const Op& product = *use.user();
  if (!product.is(OpId::kLinalgMul) || product.operand_count() != 2 || use.index() != 1 ||
      product.result_count() != 1 || !feeds_softmax(product)) {
    return std::nullopt;
  }
  const Op* scores = product.operand(0)->defining_op();
  if (scores == nullptr || !scores->is(OpId::kLinalgMatMul)) return std::nullopt;
  const auto* queries = scores->operand(0)->tensor_type();
  if (queries == nullptr || queries->rank() < 2 || !queries->dims().back().is_constant()) {
    return std::nullopt;
  }
  const std::int64_t extent = queries->dims().back().constant();
  return extent > 0 ? std::optional(extent) : std::nullopt;
}

bool is_one_float(const Value& value) {
  const auto* type = value.tensor_type();
  return type != nullptr && type->dtype() == DType::kFloat32 && type->element_count() == 1;
}

/// The number as upstream would have printed it: the shortest text of its Float32.
double shortest(double value) {
  return std::strtod(fmt::format("{}", static_cast<float>(value)).c_str(), nullptr);
}

void recover_in(Recovery& recovery, const Region& region) {
  for (Value* value : region.free_values()) {
    if (!value->has_uses() || recovery.is_given(*value) || !is_one_float(*value)) continue;
    const auto extent = scaled_head(*value->first_use());
    if (!extent) continue;
    IRContext& context = recovery.context();
    const Attr* number = context.number(shortest(1 / std::sqrt(static_cast<double>(*extent))));
    const NamedAttr constant{key::kConstant, context.array(std::span(&number, 1))};
    recovery.rewriter.set_attributes(*value, std::span(&constant, 1));
    recovery.note(*value->first_use()->user(), LossEntry::Source::kAssumed, "constant of operand 1",
                  std::string(constant.value->spelling()));
  }
}

}  // namespace

void recover_constants(Recovery& recovery) {
  recover_in(recovery, recovery.module.body());
  walk<SubGraphOp>(recovery.module, [&](SubGraphOp graph) {
    if (graph.body() != nullptr) recover_in(recovery, *graph.body());
  });
}

}  // namespace mir
