// Creates generic ops from drafts.
#include "passes/generic/generic_draft.hpp"

#include <fmt/format.h>

#include "dialects/generic_form.hpp"
#include "mir/attribute_keys.hpp"

namespace mir {

GenericDraft::GenericDraft(Rewriter& rewriter, const Op& op)
    : GenericDraft(rewriter, op.op_name().device) {
  path_ = op.path();
}

GenericDraft::GenericDraft(Rewriter& rewriter, Symbol device)
    : rewriter_(rewriter), context_(rewriter.context()), device_(device) {}

Dim GenericDraft::add_loop(Dim extent) {
  const std::string name = fmt::format("i{}", loops_.size());
  loops_.push_back({context_.intern(name), context_.dim(extent)});
  return context_.dims().symbol(name);
}

std::vector<Dim> GenericDraft::add_loops(std::span<const Dim> extents) {
  std::vector<Dim> loops;
  for (const Dim each : extents) loops.push_back(add_loop(each));
  return loops;
}

Dim GenericDraft::add_sum(Dim extent, std::string_view sum) {
  const Dim loop = add_loop(extent);
  sums_.push_back({loops_.back().key, context_.word(sum)});
  return loop;
}

Dim GenericDraft::size(Dim extent) {
  if (extent.is_constant()) return extent;
  const std::string name = fmt::format("n{}", sizes_.size());
  sizes_.push_back({context_.intern(name), context_.dim(extent)});
  return context_.dims().symbol(name);
}

const Attr* GenericDraft::dims_of(std::span<const Dim> map) {
  std::vector<const Attr*> indices;
  for (const Dim each : map) indices.push_back(context_.dim(each));
  return context_.array(indices);
}

void GenericDraft::add_operand(Value& value, std::vector<Dim> map) {
  operands_.push_back(&value);
  maps_.push_back(dims_of(map));
}

Dim GenericDraft::add_index(Value& value, std::vector<Dim> map) {
  const std::string name = fmt::format("r{}", indices_.size());
  const auto operand = static_cast<std::int64_t>(operands_.size());
  indices_.push_back({context_.intern(name), context_.integer(operand)});
  add_operand(value, std::move(map));
  return context_.dims().symbol(name);
}

void GenericDraft::require_at_most(Dim a, Dim b) {
  conditions_.push_back(
      fmt::format("{} <= {}", context_.dims().print(a), context_.dims().print(b)));
}

void GenericDraft::set_bound(Dim index, Dim extent) {
  bounds_.push_back(
      fmt::format("{} < {}", context_.dims().print(index), context_.dims().print(extent)));
}

const TensorType* GenericDraft::number_type(DType dtype) {
  return context_.tensor({}, context_.intern(name_of(dtype)),
                         device_ ? device_ : context_.intern("CPU"));
}

Value* GenericDraft::number_op(OpId op, std::span<Value* const> operands, DType dtype,
                               std::span<const NamedAttr> attributes) {
  const Type* const type = number_type(dtype);
  return rewriter_
      .create({.name = context_.op_name(context_.op_name(op).kind, device_),
               .operands = operands,
               .result_types = {&type, 1},
               .attributes = attributes})
      ->result();
}

Value* GenericDraft::create(const TensorType& result, std::vector<Dim> map,
                            const std::function<Value*(Numbers)>& compute) {
  maps_.push_back(dims_of(map));
  std::vector<NamedAttr> attributes = {{key::kLoops.symbol, context_.dict(loops_)},
                                       {key::kMaps.symbol, context_.array(maps_)}};
  if (!sums_.empty()) attributes.push_back({key::kSums.symbol, context_.dict(sums_)});
  if (!sizes_.empty()) attributes.push_back({key::kSizes.symbol, context_.dict(sizes_)});
  const auto add_relations = [&](AttrKey key, std::span<const std::string> relations) {
    std::vector<const Attr*> texts;
    for (const std::string& each : relations) texts.push_back(context_.string(each));
    if (!texts.empty()) attributes.push_back({key.symbol, context_.array(texts)});
  };
  add_relations(key::kWhere, conditions_);
  add_relations(key::kBounds, bounds_);
  if (start_) {
    const Attr* const number = context_.number(*start_);
    attributes.push_back({key::kStart.symbol, context_.array({&number, 1})});
  }
  if (!indices_.empty()) attributes.push_back({key::kIndices.symbol, context_.dict(indices_)});
  const Attr* const dtype = context_.word(name_of(*result.dtype()));
  attributes.push_back({key::kDtypes.symbol, context_.array({&dtype, 1})});
  const Type* const type = &result;
  Op& op = *rewriter_.create(
      {.name = context_.op_name(context_.op_name(OpId::kLinalgGeneric).kind, device_),
       .operands = operands_,
       .result_types = {&type, 1},
       .attributes = attributes,
       .regions = 1,
       .path = path_});
  Region& region = *op.first_region();
  std::vector<const Type*> types;
  for (const Value* each : operands_) {
    types.push_back(number_type(*accumulation_type(*each->tensor_type()->dtype())));
  }
  Block* const block = rewriter_.create_block(region, types);
  std::vector<Value*> numbers;
  for (Value& each : block->arguments()) numbers.push_back(&each);
  rewriter_.set_insertion_point_to_end(*block);
  Value* const passed = compute(numbers);
  rewriter_.create({.name = context_.op_name(OpId::kCfYield), .operands = {&passed, 1}});
  rewriter_.set_has_signature(region, true);
  const Type* const passed_type = passed->type();
  rewriter_.set_result_types(region, {&passed_type, 1});
  rewriter_.set_insertion_point_after(op);
  return op.result();
}

namespace {

Value* numbers_of(Rewriter& rewriter, const Op& op, std::span<const Dim> extents,
                  std::span<const double> values) {
  IRContext& context = rewriter.context();
  std::vector<const Attr*> numbers;
  for (const double each : values) numbers.push_back(context.number(each));
  const NamedAttr constant{key::kConstant.symbol, context.array(numbers)};
  const TensorType& type = *op.result()->tensor_type();
  return rewriter.constant(*op.parent_region(),
                           {.type = with_extents(context, type, extents, DType::kFloat64),
                            .attributes = {&constant, 1}});
}

}  // namespace

Value* generic_number(Rewriter& rewriter, const Op& op, double value) {
  return numbers_of(rewriter, op, {}, {&value, 1});
}

Value* generic_numbers(Rewriter& rewriter, const Op& op, std::span<const double> values) {
  const Dim count(static_cast<std::int64_t>(values.size()));
  return numbers_of(rewriter, op, {&count, 1}, values);
}

Value* generic_elements(
    Rewriter& rewriter, const Op& op, const TensorType& result, std::span<Value* const> values,
    const std::function<Value*(GenericDraft& draft, GenericDraft::Numbers numbers)>& compute) {
  GenericDraft draft(rewriter, op);
  const std::vector<Dim> loops = draft.add_loops(result.dims());
  for (Value* each : values) {
    const auto dims = each->tensor_type()->dims();
    std::vector<Dim> map(loops.end() - static_cast<std::ptrdiff_t>(dims.size()), loops.end());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == Dim(1)) map[i] = Dim(0);
    }
    draft.add_operand(*each, std::move(map));
  }
  return draft.create(result, loops,
                      [&](GenericDraft::Numbers numbers) { return compute(draft, numbers); });
}

const TensorType* with_extents(IRContext& context, const TensorType& type,
                               std::span<const Dim> extents, DType dtype) {
  return context.tensor(extents, context.intern(name_of(dtype)), type.device(), nullptr);
}

}  // namespace mir
