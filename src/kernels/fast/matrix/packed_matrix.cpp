// Packs weights, and dispatches linear layers to the kernels for the type of their weights.
#include <algorithm>

#include "kernels/fast/matrix/linear_tile.hpp"

namespace mir::fast {

namespace {

bool is_float_type(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kFloat16;
}

/// Kernels that take different packed weights, and different forms of x.
enum class Family : std::uint8_t { kFloats, kBfloats, kBlocks, kCodes };

Family family_of(DType dtype, Activations activations) {
  if (dtype == DType::kInt8) return Family::kCodes;
  if (!is_float_type(dtype)) return Family::kBlocks;
  return activations == Activations::kBFloat16 ? Family::kBfloats : Family::kFloats;
}

Family family_of(const LinearTarget& target) {
  return family_of(target.weight->dtype, target.weight->activations);
}

void run(const LinearCall& call, Context& context) {
  if (call.rows == 0) return;
  switch (family_of(call.targets.front())) {
    case Family::kFloats:
      return run_float_products(call, context);
    case Family::kBfloats:
      return run_bfloat_products(call, context);
    case Family::kBlocks:
      return run_block_products(call, context);
    case Family::kCodes:  // linear_codes has them
      return;
  }
}

}  // namespace

bool is_packable(DType dtype, std::int64_t depth) {
  return is_float_type(dtype) || is_packable_block(dtype, depth);
}

std::size_t packed_bytes(DType dtype, std::int64_t outputs, std::int64_t depth, IsaLevel isa,
                         Activations activations) {
  switch (family_of(dtype, activations)) {
    case Family::kFloats:
      return packed_float_bytes(dtype, outputs, depth, isa);
    case Family::kBfloats:
      return packed_bfloat_bytes(outputs, depth, isa);
    case Family::kCodes:
      return packed_code_bytes(outputs, depth, isa);
    case Family::kBlocks:
      break;
  }
  return packed_block_bytes(dtype, outputs, depth, isa);
}

PackedMatrix pack(const std::byte* weight, DType dtype, std::int64_t outputs, std::int64_t depth,
                  std::span<std::byte> to, Context& context, Activations activations) {
  const PackedMatrix matrix{.data = to.data(),
                            .dtype = dtype,
                            .outputs = outputs,
                            .depth = depth,
                            .activations = activations};
  if (to.empty()) return matrix;  // nothing to lay out, and no address to lay it at
  switch (family_of(dtype, activations)) {
    case Family::kFloats:
      pack_floats(weight, matrix, to.data(), context);
      break;
    case Family::kBfloats:
      pack_bfloats(weight, matrix, to.data(), context);
      break;
    case Family::kBlocks:
      pack_blocks(weight, matrix, to.data(), context);
      break;
    case Family::kCodes:
      pack_codes(weight, matrix, to.data(), context);
      break;
  }
  return matrix;
}

void linear(const PackedMatrix& weight, const LinearOperands& operands, Context& context) {
  const LinearTarget target = {&weight, operands.out, operands.out_stride, operands.epilogue};
  run({operands.rows, weight.depth, {&target, 1}, nullptr}, context);
}

void linear_group(const LinearRows& rows, std::span<const LinearTarget> targets, Context& context) {
  // One loop for each run of targets whose weights are of one family.
  while (!targets.empty()) {
    const Family family = family_of(targets.front());
    const auto end = std::ranges::find_if(
        targets, [&](const LinearTarget& target) { return family_of(target) != family; });
    const auto count = static_cast<std::size_t>(end - targets.begin());
    run({rows, targets.front().weight->depth, targets.first(count), nullptr}, context);
    targets = targets.subspan(count);
  }
}

void linear_gated(const PackedMatrix& gate, const PackedMatrix& up, const LinearOperands& operands,
                  Context& context) {
  const LinearTarget target = {&gate, operands.out, operands.out_stride, operands.epilogue};
  run({operands.rows, gate.depth, {&target, 1}, &up}, context);
}

}  // namespace mir::fast
