// Packs operands of generic ops.
#include "passes/schedule/pack_operand.hpp"

#include <algorithm>

#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/op_id.hpp"
#include "passes/schedule/loop_form.hpp"

namespace mir {

namespace {

/// Loops of an op that extents of a map or condition have.
struct SymbolsOf {
  std::vector<Symbol> loops;
  bool has_index = false;

  SymbolsOf(std::span<const Dim> extents, const LoopForm& form, DimTable& dims) {
    for (const Dim each : extents) {
      for_each_symbol_of(each, dims, [&](Symbol name) {
        has_index = has_index || std::ranges::find(form.indices, name, &GenericForm::Index::name) !=
                                     form.indices.end();
        const bool is_loop =
            std::ranges::find(form.loops, name, &GenericForm::Range::name) != form.loops.end();
        if (is_loop) loops.push_back(name);
      });
    }
  }
  bool has(Symbol name) const { return std::ranges::find(loops, name) != loops.end(); }
};

}  // namespace

std::string_view pack_operand(Rewriter& rewriter, Op& op, std::size_t operand) {
  IRContext& context = rewriter.context();
  DimTable& dims = context.dims();
  LoopForm form = read_loops(op);
  const TensorType* type = op.operand(operand)->tensor_type();
  if (type == nullptr || !type->dtype()) return "its type is not known";
  const SymbolsOf read(form.maps[operand], form, dims);
  if (read.has_index) return "data decides where it is read";
  const bool decides = std::ranges::any_of(
      form.indices, [&](const GenericForm::Index& each) { return each.operand == operand; });
  if (decides) return "it decides indices";
  // The copy leaves out what no iteration reads.
  std::vector<SymbolRelation> conditions;
  for (const auto* list : {&form.bounds, &form.filters}) {
    for (const SymbolRelation& each : *list) {
      const Dim sides[] = {each.left, each.right};
      const SymbolsOf used(sides, form, dims);
      const bool touches =
          std::ranges::any_of(used.loops, [&](Symbol name) { return read.has(name); });
      if (!touches) continue;
      const bool is_within = !used.has_index && std::ranges::all_of(used.loops, [&](Symbol name) {
        return read.has(name);
      });
      if (!is_within) return "a condition over other loops decides where it is read";
      conditions.push_back(each);
    }
  }
  LoopForm copy{.loops = {},
                .sizes = form.sizes,
                .indices = {},
                .maps = {form.maps[operand], {}},
                .sums = {{}},
                .bounds = {},
                .filters = std::move(conditions),
                .parallel = {},
                .vector = {},
                .unroll = {}};
  std::vector<Dim> extents;
  for (const GenericForm::Range& each : form.loops) {
    if (!read.has(each.name)) continue;
    copy.loops.push_back(each);
    copy.maps[1].push_back(dims.symbol(context.text(each.name)));
    extents.push_back(each.extent);
  }
  copy.drop_unused_sizes(dims);
  const bool leaves_out = !copy.filters.empty();
  const std::string_view dtype_name = name_of(*type->dtype());
  const Type* const packed = context.tensor(extents, context.intern(dtype_name), type->device());
  const Attr* const dtype = context.word(dtype_name);
  const Attr* const zero =
      *type->dtype() == DType::kBool ? context.boolean(false) : context.integer(0);
  Value* const source = op.operand(operand);
  rewriter.set_insertion_point(op);
  Op& made = *rewriter.create({.name = op.op_name(),
                               .operands = {&source, 1},
                               .result_types = {&packed, 1},
                               .regions = 1,
                               .location = op.location()});
  write_loops(rewriter, made, copy);
  if (leaves_out) rewriter.set_attribute(made, key::kStart.symbol, context.array({&zero, 1}));
  rewriter.set_attribute(made, key::kDtypes.symbol, context.array({&dtype, 1}));
  const Type* const number =
      op.first_region()->only_block().arguments()[static_cast<std::uint32_t>(operand)].type();
  Region& region = *made.first_region();
  Block* const block = rewriter.create_block(region, {&number, 1});
  rewriter.set_insertion_point_to_end(*block);
  Value* const passed = &block->arguments()[0];
  rewriter.create({.name = context.op_name(OpId::kCfYield), .operands = {&passed, 1}});
  rewriter.set_has_signature(region, true);
  rewriter.set_result_types(region, {&number, 1});
  rewriter.set_operand(op, operand, made.result());
  form.maps[operand] = copy.maps[1];
  write_loops(rewriter, op, form);
  return "";
}

}  // namespace mir
