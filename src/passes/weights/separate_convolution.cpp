// Convolutions as products.
//
// note [patches]: each result is the product of a patch of the operand with a row of the weight. In
// a dimension whose patches neither overlap nor leave gaps, such as that of a kernel that moves by
// its own extent, a View cuts the operand into patches. In any other dimension, Index copies the
// elements of all patches: element k of patch p is at p stride + k dilation, so its indices are a
// sum of two Iotas. Padding is an operation of its own before that.
#include <algorithm>
#include <vector>

#include "mir/op_attributes.hpp"
#include "passes/weights/separation.hpp"

namespace mir {

namespace {

/// Patches along one dimension.
struct PatchDimension {
  std::int64_t taps = 1, stride = 1, padding = 0, dilation = 1;
  Dim count{};          ///< patches
  Dim padded{};         ///< the extent of the operand with its padding
  bool is_cut = false;  ///< neighbours touch: count times taps elements fill the extent
};

struct ConvolutionPlan {
  OwnedWeight weight{};
  OwnedWeight bias{};
  std::int64_t groups = 1;
  std::vector<PatchDimension> dimensions{};
};

/// One number for each dimension.
std::vector<std::int64_t> per_dimension(const OpAttributes& attributes, AttrKey key,
                                        std::size_t rank, std::int64_t otherwise) {
  std::vector<std::int64_t> list = attributes.integers(key);
  list.resize(rank, list.empty() ? otherwise : list.back());
  return list;
}

std::vector<PatchDimension> patches_of(const Op& op, const TensorType& weight) {
  DimTable& table = op.module().context().dims();
  const std::size_t rank = weight.rank() - 2;
  const OpAttributes attributes(op);
  const auto strides = per_dimension(attributes, key::kStride, rank, 1);
  const auto paddings = per_dimension(attributes, key::kPadding, rank, 0);
  const auto dilations = per_dimension(attributes, key::kDilation, rank, 1);
  std::vector<PatchDimension> dimensions;
  for (std::size_t i = 0; i < rank; ++i) {
    PatchDimension made{weight.dims()[i + 2].constant(), strides[i], paddings[i], dilations[i]};
    made.count = op.result()->tensor_type()->dims()[i + 2];
    made.padded = table.add(op.operand(0)->tensor_type()->dims()[i + 2], Dim(2 * paddings[i]));
    made.is_cut = made.stride == made.taps && (made.dilation == 1 || made.taps == 1) &&
                  table.multiply(made.count, Dim(made.taps)) == made.padded;
    dimensions.push_back(made);
  }
  return dimensions;
}

/// The operand with zeros around it, if the convolution has padding.
Value* padded(SeparatedOps& ops, Value* x, const ConvolutionPlan& plan) {
  const auto has_padding = [](const PatchDimension& each) { return each.padding != 0; };
  if (std::ranges::none_of(plan.dimensions, has_padding)) return x;
  std::vector<Dim> dims(x->tensor_type()->dims().begin(), x->tensor_type()->dims().end());
  std::vector<Dim> margins;
  for (std::size_t i = plan.dimensions.size(); i-- > 0;) {
    dims[i + 2] = plan.dimensions[i].padded;
    margins.insert(margins.end(), 2, Dim(plan.dimensions[i].padding));
  }
  return ops.make(OpId::kLinalgPad, {x}, ops.type_like(*x, dims), {{key::kPad, ops.list(margins)}});
}

/// 0, step, 2 step, ... along dimension `dim` of these extents.
Value* iota(SeparatedOps& ops, Symbol device, const std::vector<Dim>& dims, std::int64_t dim,
            std::int64_t step) {
  IRContext& context = ops.context();
  std::vector<NamedAttr> attributes = {{key::kShape, ops.list(dims)},
                                       {key::kDtype, context.word("Int64")},
                                       {key::kDim, context.integer(dim)}};
  if (step != 1) attributes.push_back({key::kStep, context.integer(step)});
  return ops.make(OpId::kLinalgIota, {}, context.tensor(dims, context.intern("Int64"), device),
                  std::move(attributes));
}

/// The positions of all elements of all patches: [count, taps].
Value* positions(SeparatedOps& ops, Symbol device, const PatchDimension& patches) {
  const Dim count = patches.count, taps(patches.taps);
  Value* first = iota(ops, device, {count, Dim(1)}, 0, patches.stride);
  if (patches.taps == 1) return first;
  Value* tap = iota(ops, device, {Dim(1), taps}, 1, patches.dilation);
  IRContext& context = ops.context();
  return ops.make(OpId::kLinalgAdd, {first, tap},
                  context.tensor(std::vector<Dim>{count, taps}, context.intern("Int64"), device));
}

/// The elements of all patches, in place of the dimensions that are not cut.
Value* picked(SeparatedOps& ops, Value* x, const ConvolutionPlan& plan) {
  IRContext& context = ops.context();
  const TensorType& type = *x->tensor_type();
  std::vector<Value*> operands = {x};
  std::vector<const Attr*> entries(2, context.dict({}));
  std::vector<Dim> dims = {type.dims()[0], type.dims()[1]};
  for (const PatchDimension& each : plan.dimensions) {
    if (each.is_cut) {
      entries.push_back(context.dict({}));
      dims.push_back(each.padded);
      continue;
    }
    entries.push_back(context.integer(static_cast<std::int64_t>(operands.size())));
    operands.push_back(positions(ops, type.device(), each));
    dims.insert(dims.end(), {each.count, Dim(each.taps)});
  }
  if (operands.size() == 1) return x;
  return ops.make(OpId::kLinalgIndex, operands, ops.type_like(*x, dims),
                  {{key::kIndices, context.array(entries)}});
}

}  // namespace

PatternMatch match_convolution(Op& op, const ParameterTypes& parameters) {
  if (const auto why = why_not_single(op); !why.empty()) return failed_separation(why, op);
  auto owned = weights_of(op, parameters, DType::kFloat32);
  if (!owned || owned->weight.type == nullptr || !owned->weight.type->has_static_shape()) {
    return failed_separation("no Float32 weight of its own is declared", op);
  }
  const TensorType& weight = *owned->weight.type;
  const auto x = op.operand(0)->tensor_type()->dims();
  const auto result = op.result()->tensor_type()->dims();
  if (weight.rank() != x.size()) return failed_separation("the kernel has another rank", op);
  if (std::ranges::any_of(result.subspan(2), &Dim::is_unknown)) {
    return failed_separation("the number of patches is unknown", op);
  }
  ConvolutionPlan plan{.weight = owned->weight, .bias = owned->bias};
  plan.groups = std::max<std::int64_t>(OpAttributes(op).integer(key::kGroups), 1);
  const bool fits = weight.dims()[1].constant() > 0 &&
                    x[1] == Dim(weight.dims()[1].constant() * plan.groups) &&
                    weight.dims()[0].constant() % plan.groups == 0;
  if (!fits) return failed_separation("the channels do not fit the weight", op);
  plan.dimensions = patches_of(op, weight);
  return matched_separation(op, std::move(plan));
}

/// See note [patches]. [B, C, n, ..] -> [B, C, p, k, ..] -> [B, p, .., C, k, ..] -> [B, p .., C k
/// ..], with the groups after B where there are several.
void separate_convolution(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const ConvolutionPlan& plan = match.plan<ConvolutionPlan>();
  SeparatedOps ops(rewriter, op);
  DimTable& table = ops.context().dims();
  const auto result = op.result()->tensor_type()->dims();
  const auto weight_dims = plan.weight.type->dims();
  const Dim outputs(weight_dims[0].constant() / plan.groups), inputs = weight_dims[1];

  std::vector<Dim> batch = {result[0]}, weight_batch;
  if (plan.groups > 1) {
    batch.emplace_back(plan.groups);
    weight_batch = {Dim(1), Dim(plan.groups)};
  }
  const auto with = [](std::vector<Dim> dims, std::initializer_list<Dim> more) {
    dims.insert(dims.end(), more);
    return dims;
  };
  std::vector<Dim> cut = with(batch, {inputs});
  std::vector<std::int64_t> order, exchange;
  for (std::size_t i = 0; i < batch.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
  exchange = order;
  const auto first = static_cast<std::int64_t>(batch.size());  // the inputs
  const auto rank = static_cast<std::int64_t>(plan.dimensions.size());
  Dim patches(1), depth = inputs;
  for (const PatchDimension& each : plan.dimensions) {
    cut.insert(cut.end(), {each.count, Dim(each.taps)});
    patches = table.multiply(patches, each.count);
    depth = table.multiply(depth, Dim(each.taps));
  }
  for (std::int64_t i = 0; i < rank; ++i) order.push_back(first + 1 + 2 * i);
  order.push_back(first);
  for (std::int64_t i = 0; i < rank; ++i) order.push_back(first + 2 + 2 * i);
  exchange.insert(exchange.end(), {first + 1, first});

  Value* x = picked(ops, padded(ops, op.operand(0), plan), plan);
  Value* rows = ops.view(ops.permute(ops.view(x, cut), order), with(batch, {patches, depth}));
  Value* weight = ops.view(ops.parameter(plan.weight), with(weight_batch, {outputs, depth}));
  Value* y = ops.product(rows, weight, ops.type_like(*rows, with(batch, {patches, outputs})));
  if (plan.bias.type != nullptr) {
    Value* bias = ops.parameter(plan.bias);
    if (plan.groups > 1) bias = ops.view(bias, with(weight_batch, {Dim(1), outputs}));
    y = ops.make(OpId::kLinalgAdd, {y, bias}, y->type());
  }
  ops.replace_root(ops.view(ops.permute(y, exchange), result));
}

}  // namespace mir
