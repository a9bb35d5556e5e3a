// Builds nests, buffers, reads and writes for the loops, maps and sums of a generic op.
#include "passes/loops/lower_generic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/generic_form.hpp"
#include "ir/symbol_relations.hpp"
#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"
#include "mir/op_id.hpp"

namespace mir {

namespace {

using Range = GenericForm::Range;

/// Accumulators of a result that exist at the same time.
constexpr std::int64_t kMostAccumulators = 4096;

std::optional<GenericForm> generic_form(const Op& op) {
  return read_generic({.context = op.module().context(),
                       .attribute = [&](AttrKey key) { return op.attribute(key); },
                       .operand_count = op.operand_count(),
                       .result_count = op.result_count()},
                      [](const GenericProblem&) {});
}

DType element_type(const Value& value) {
  return *value.tensor_type()->dtype();
}

/// The numbers that data decides, once they have been read.
struct IndexValues {
  std::vector<Value*> values;  // by index of the form
  bool are_bound = false;      // by a nest around
};

/// Lowers one generic op.
class GenericLowering {
 public:
  GenericLowering(Rewriter& rewriter, Op& generic)
      : rewriter_(rewriter),
        context_(rewriter.context()),
        dims_(context_.dims()),
        generic_(generic),
        form_(*generic_form(generic)) {
    for (const Range& loop : form_.loops) names_.push_back(loop.name);
  }

  Op& run() {
    rewriter_.set_insertion_point(generic_);
    rewriter_.set_default_location(generic_.location());
    std::vector<Value*> operands;
    std::vector<const Type*> types, buffers, results;
    for (const Use& use : generic_.operand_uses()) {
      operands.push_back(use.value());
      buffers.push_back(
          buffer_type(element_type(*use.value()), use.value()->tensor_type()->dims()));
    }
    for (const Value& result : generic_.results()) {
      types.push_back(result.type());
      results.push_back(buffer_type(element_type(result), result.tensor_type()->dims()));
    }
    kernel_ = rewriter_.create({.name = context_.op_name(OpId::kLoopKernel),
                                .operands = operands,
                                .result_types = types,
                                .regions = 1,
                                .path = generic_.path()});
    Region& region = *kernel_->first_region();
    Block* const block = rewriter_.create_block(region, buffers);
    rewriter_.set_insertion_point_to_end(*block);
    for (Value& each : block->arguments()) operands_.push_back(&each);
    for (const Type* type : results) results_.push_back(new_buffer(type));
    for (std::size_t i = 0; i < form_.results.size(); ++i) lower_result(i);
    rewriter_.create({.name = context_.op_name(OpId::kCfYield), .operands = results_});
    rewriter_.set_has_signature(region, true);
    rewriter_.set_result_types(region, results);
    rewriter_.set_insertion_point_after(*kernel_);
    return *kernel_;
  }

 private:
  using Numbers = std::vector<std::size_t>;  // of loops
  using Conditions = std::vector<SymbolRelation>;

  // -- ops ----------------------------------------------------------------------------------------

  const Type* buffer_type(DType dtype, std::span<const Dim> extents) {
    std::vector<const Attr*> dims;
    for (const Dim each : extents) dims.push_back(context_.dim(each));
    const std::vector<const Attr*> parameters = {context_.word(name_of(dtype)),
                                                 context_.array(dims)};
    return *context_.dialect_type("loop.buffer", parameters);
  }

  const TensorType* number_type(DType dtype) {
    const Symbol device = generic_.result()->tensor_type()->device();
    return context_.tensor({}, context_.intern(name_of(dtype)), device);
  }

  Value* new_buffer(const Type* type) {
    return rewriter_
        .create({.name = context_.op_name(OpId::kLoopBuffer), .result_types = {&type, 1}})
        ->result();
  }

  const Attr* map_attribute(std::span<const Dim> map) {
    std::vector<const Attr*> indices;
    for (const Dim each : map) indices.push_back(context_.dim(each));
    return context_.array(indices);
  }

  /// States the symbols of a map that data decides, and appends their values to the operands.
  void add_indices(std::span<const Dim> map, const IndexValues& indices,
                   std::vector<Value*>& operands, std::vector<NamedAttr>& attributes) {
    std::vector<NamedAttr> entries;
    for (std::size_t i = 0; i < indices.values.size() && !indices.are_bound; ++i) {
      const Symbol name = form_.indices[i].name;
      if (std::ranges::none_of(map, [&](Dim each) { return mentions(each, name); })) continue;
      entries.push_back({name, context_.integer(static_cast<std::int64_t>(operands.size()))});
      operands.push_back(indices.values[i]);
    }
    if (!entries.empty()) attributes.push_back({key::kIndices.symbol, context_.dict(entries)});
  }

  Value* read(Value& buffer, std::span<const Dim> map, DType dtype,
              const IndexValues& indices = {}) {
    const Type* const type = number_type(dtype);
    std::vector<Value*> operands = {&buffer};
    std::vector<NamedAttr> attributes = {{key::kAt.symbol, map_attribute(map)}};
    add_indices(map, indices, operands, attributes);
    return rewriter_
        .create({.name = context_.op_name(OpId::kLoopRead),
                 .operands = operands,
                 .result_types = {&type, 1},
                 .attributes = attributes})
        ->result();
  }

  void write(Value& number, Value& buffer, std::span<const Dim> map,
             std::optional<LoopSum> join = std::nullopt) {
    std::vector<NamedAttr> attributes = {{key::kAt.symbol, map_attribute(map)}};
    if (join) attributes.push_back({key::kJoin.symbol, context_.word(word_of(*join))});
    Value* const operands[] = {&number, &buffer};
    rewriter_.create({.name = context_.op_name(OpId::kLoopWrite),
                      .operands = operands,
                      .attributes = attributes});
  }

  /// Runs `fill` at the inside of a nest over the loops. Without loops and conditions there is no
  /// nest.
  template <class Fill>
  void nest(const Numbers& loops, const Conditions& bounds, const Conditions& filters,
            const Fill& fill) {
    if (loops.empty() && bounds.empty() && filters.empty()) return fill();
    std::vector<NamedAttr> ranges;
    for (const std::size_t loop : loops) {
      ranges.push_back({names_[loop], context_.dim(form_.loops[loop].extent)});
    }
    std::vector<NamedAttr> attributes = {{key::kLoops.symbol, context_.dict(ranges)}};
    const auto add = [&](AttrKey key, const Attr* value) {
      if (value != nullptr) attributes.push_back({key.symbol, value});
    };
    add(key::kBounds, relations_attribute(bounds, context_));
    add(key::kWhere, relations_attribute(filters, context_));
    if (depth_ == 0 && !form_.sizes.empty()) {
      std::vector<NamedAttr> sizes;
      for (const Range& each : form_.sizes) sizes.push_back({each.name, context_.dim(each.extent)});
      attributes.push_back({key::kSizes.symbol, context_.dict(sizes)});
    }
    for (const AttrKey key : {key::kParallel, key::kVector, key::kUnroll}) {
      add(key, marked_loops(key, loops));
    }
    inside({}, attributes, fill);
  }

  /// Creates a nest and runs `fill` in its region.
  template <class Fill>
  void inside(std::span<Value* const> operands, std::span<const NamedAttr> attributes,
              const Fill& fill) {
    Op& made = *rewriter_.create({.name = context_.op_name(OpId::kLoopNest),
                                  .operands = operands,
                                  .attributes = attributes,
                                  .regions = 1});
    Block* const block = rewriter_.create_block(*made.first_region());
    rewriter_.set_has_signature(*made.first_region(), true);
    rewriter_.set_insertion_point_to_end(*block);
    ++depth_;
    fill();
    --depth_;
    rewriter_.set_insertion_point_to_end(*block);
    rewriter_.create({.name = context_.op_name(OpId::kCfYield)});
    rewriter_.set_insertion_point_after(made);
  }

  /// The loops of a nest that the generic op marks by this attribute; null if there are none.
  const Attr* marked_loops(AttrKey key, const Numbers& loops) {
    const Attr* stated = generic_.attribute(key);
    if (stated == nullptr || stated->kind() != AttrKind::kArray) return nullptr;
    std::vector<const Attr*> marked;
    for (const Attr* each : stated->elements()) {
      const bool is_inside = std::ranges::any_of(loops, [&](std::size_t loop) {
        return each->kind() == AttrKind::kString && context_.text(names_[loop]) == each->text();
      });
      if (is_inside) marked.push_back(each);
    }
    return marked.empty() ? nullptr : context_.array(marked);
  }

  // -- conditions ---------------------------------------------------------------------------------

  bool mentions(Dim extent, Symbol name) const {
    bool found = false;
    for_each_symbol_of(extent, dims_, [&](Symbol each) { found = found || each == name; });
    return found;
  }
  bool mentions(const SymbolRelation& each, Symbol name) const {
    return mentions(each.left, name) || mentions(each.right, name);
  }
  bool is_over(const SymbolRelation& each, const Numbers& loops) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (mentions(each, names_[i]) && std::ranges::find(loops, i) == loops.end()) return false;
    }
    return true;
  }
  bool has_index(const SymbolRelation& each) const {
    return std::ranges::any_of(form_.indices,
                               [&](const auto& index) { return mentions(each, index.name); });
  }
  /// True if the bound ends the result in one of its dimensions.
  bool ends(const GenericForm::Result& result, const SymbolRelation& bound) const {
    return std::ranges::any_of(result.map, [&](Dim index) {
      return bound_of(index, {&bound, 1}, names_, dims_).has_value();
    });
  }

  // -- results ------------------------------------------------------------------------------------

  void lower_result(std::size_t number) {
    const GenericForm::Result& result = form_.results[number];
    if (result.start != nullptr) write_starts(number);
    if (result.sums.empty()) {
      const auto bounds = form_.bounds();
      Conditions filters, late;
      for (std::size_t i = form_.bound_count; i < form_.conditions.size(); ++i) {
        (has_index(form_.conditions[i]) ? late : filters).push_back(form_.conditions[i]);
      }
      nest(result.loops, {bounds.begin(), bounds.end()}, filters, [&] {
        body(number, late, [&](Value& passed) { write(passed, *results_[number], result.map); });
      });
      return;
    }
    lower_sums(number);
  }

  /// Writes the start of each element, which those without an iteration keep.
  void write_starts(std::size_t number) {
    const std::span<const Dim> extents = generic_.result(number)->tensor_type()->dims();
    std::vector<NamedAttr> ranges;
    std::vector<Dim> map;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const std::string name = fmt::format("d{}", i);
      ranges.push_back({context_.intern(name), context_.dim(extents[i])});
      map.push_back(dims_.symbol(name));
    }
    const auto fill = [&] { write(*start(number), *results_[number], map); };
    if (ranges.empty()) return fill();
    const NamedAttr loops{key::kLoops.symbol, context_.dict(ranges)};
    inside({}, {&loops, 1}, fill);
  }

  DType computed(std::size_t number) const {
    return *accumulation_type(element_type(*generic_.result(number)));
  }

  Value* constant(DType dtype, const Attr* number) {
    const NamedAttr elements{key::kConstant.symbol, context_.array({&number, 1})};
    return rewriter_.constant(*kernel_->first_region(),
                              {.type = number_type(dtype), .attributes = {&elements, 1}});
  }
  Value* start(std::size_t number) {
    const DType dtype = computed(number);
    const Attr& start = *form_.results[number].start;
    const bool is_number = start.kind() != AttrKind::kBool;
    if (dtype == DType::kBool && is_number) {
      return constant(dtype, context_.boolean(start.integer() != 0));
    }
    if (dtype != DType::kBool && !is_number) {
      return constant(dtype, context_.integer(start.boolean() ? 1 : 0));
    }
    return constant(dtype, &start);
  }
  Value* neutral(DType dtype, LoopSum sum) {
    const bool is_one = sum == LoopSum::kMul || sum == LoopSum::kAnd;
    if (dtype == DType::kBool) return constant(dtype, context_.boolean(is_one));
    if (dtype == DType::kFloat64) return constant(dtype, context_.number(is_one ? 1.0 : 0.0));
    return constant(dtype, context_.integer(is_one ? 1 : 0));
  }

  /// Loops of a result with sums: those around all of its sums, and those inside of the first one.
  struct Order {
    Numbers outer, inner;
    std::vector<Dim> extents, map;  // of the accumulators: one for each iteration of `inner`
  };

  Order order_of(const GenericForm::Result& result) const {
    Order order;
    const std::size_t first_sum = result.sums.front().loop;
    const bool has_one_group = std::ranges::all_of(
        result.sums, [&](const auto& each) { return each.sum == result.sums.front().sum; });
    std::int64_t count = 1;
    for (const std::size_t loop : result.loops) {
      const bool is_inner = loop > first_sum && has_one_group;
      (is_inner ? order.inner : order.outer).push_back(loop);
      if (!is_inner) continue;
      const Dim extent = form_.loops[loop].extent;
      const std::int64_t times = extent.is_constant() ? extent.constant() : kMostAccumulators + 1;
      const std::int64_t factor = std::clamp<std::int64_t>(times, 1, kMostAccumulators + 1);
      count = std::min(count * factor, kMostAccumulators + 1);
      order.extents.push_back(extent);
      order.map.push_back(dims_.symbol(context_.text(names_[loop])));
    }
    if (count > kMostAccumulators)
      order = {.outer = result.loops, .inner = {}, .extents = {}, .map = {}};
    return order;
  }

  /// Conditions that leave out iterations of sums.
  struct LeftOut {
    Conditions bounds, filters;
  };

  void lower_sums(std::size_t number) {
    const GenericForm::Result& result = form_.results[number];
    const Order order = order_of(result);
    const DType dtype = computed(number);
    Conditions outer, inner, late;
    LeftOut out;
    for (std::size_t i = 0; i < form_.conditions.size(); ++i) {
      const SymbolRelation& each = form_.conditions[i];
      if (i < form_.bound_count && ends(result, each)) {
        (is_over(each, order.outer) ? outer : inner).push_back(each);
      } else if (has_index(each)) {
        late.push_back(each);
      } else {
        (i < form_.bound_count ? out.bounds : out.filters).push_back(each);
      }
    }
    nest(order.outer, outer, {}, [&] {
      Value* const sums = new_buffer(buffer_type(dtype, order.extents));
      const LoopSum first = result.sums.front().sum;
      if (result.start != nullptr || has_neutral(first)) {
        nest(order.inner, inner, {}, [&] {
          write(result.start != nullptr ? *start(number) : *neutral(dtype, first), *sums,
                order.map);
        });
      }
      if (order.inner.empty()) {
        lower_group(number, 0, *sums, out, late);
      } else {
        out.bounds.insert(out.bounds.begin(), inner.begin(), inner.end());
        nest(loops_inside(order), out.bounds, out.filters, [&] {
          body(number, late, [&](Value& passed) { write(passed, *sums, order.map, first); });
        });
      }
      nest(order.inner, inner, {},
           [&] { write(*read(*sums, order.map, dtype), *results_[number], result.map); });
    });
  }

  /// All loops but the outer ones, in the written order.
  Numbers loops_inside(const Order& order) const {
    Numbers loops;
    for (std::size_t i = 0; i < form_.loops.size(); ++i) {
      if (std::ranges::find(order.outer, i) == order.outer.end()) loops.push_back(i);
    }
    return loops;
  }

  /// Joins the iterations of consecutive loops with the same sum. The sums inside have an
  /// accumulator for each of them.
  void lower_group(std::size_t number, std::size_t first, Value& sums, const LeftOut& out,
                   const Conditions& late) {
    const std::vector<GenericForm::SummedLoop>& all = form_.results[number].sums;
    const LoopSum sum = all[first].sum;
    Numbers loops;
    std::size_t next = first;
    for (; next < all.size() && all[next].sum == sum; ++next) loops.push_back(all[next].loop);
    if (next == all.size()) {
      nest(loops, out.bounds, out.filters,
           [&] { body(number, late, [&](Value& passed) { write(passed, sums, {}, sum); }); });
      return;
    }
    nest(loops, {}, {}, [&] {
      const DType dtype = computed(number);
      Value* const part = new_buffer(buffer_type(dtype, {}));
      if (has_neutral(all[next].sum)) write(*neutral(dtype, all[next].sum), *part, {});
      lower_group(number, next, *part, out, late);
      write(*read(*part, {}, dtype), sums, {}, sum);
    });
  }

  // -- iterations ---------------------------------------------------------------------------------

  /// One iteration: reads, the ops of the region, and a call of `store` with the number.
  template <class Store>
  void body(std::size_t number, const Conditions& late, const Store& store) {
    IndexValues indices;
    for (const GenericForm::Index& each : form_.indices) {
      indices.values.push_back(read(*operands_[each.operand], form_.operands[each.operand],
                                    element_type(*generic_.operand(each.operand)), indices));
    }
    if (late.empty()) return store(*compute(number, indices));
    std::vector<NamedAttr> entries;
    for (std::size_t i = 0; i < form_.indices.size(); ++i) {
      entries.push_back({form_.indices[i].name, context_.integer(static_cast<std::int64_t>(i))});
    }
    const NamedAttr attributes[] = {{key::kLoops.symbol, context_.dict({})},
                                    {key::kWhere.symbol, relations_attribute(late, context_)},
                                    {key::kIndices.symbol, context_.dict(entries)}};
    inside(indices.values, attributes,
           [&] { store(*compute(number, {.values = indices.values, .are_bound = true})); });
  }

  Value* compute(std::size_t number, const IndexValues& indices) {
    const Block& from = generic_.first_region()->only_block();
    const Value& wanted = *from.back()->operand(number);
    const std::vector<const Op*> steps = steps_for(wanted, from);
    RewriteMapping mapping;
    const auto map = [&](const Value& value) {
      if (mapping.find(value) != nullptr) return;
      if (value.is_free()) {
        mapping.map(value, *rewriter_.constant(*kernel_->first_region(),
                                               {.type = value.type(),
                                                .attributes = value.attributes(),
                                                .symbol = value.symbol(),
                                                .has_symbol = value.has_symbol()}));
      } else if (value.is_argument()) {
        mapping.map(value, *read_operand(number, value, value.index(), indices));
      }
    };
    for (const Op* step : steps) {
      for (const Use& use : step->operand_uses()) map(*use.value());
      rewriter_.name_results(*rewriter_.clone(*step, mapping));
    }
    map(wanted);
    return mapping.find(wanted);
  }

  /// The element of an operand: the number in which the region computes, or the element itself
  /// where the region only passes it on.
  Value* read_operand(std::size_t number, const Value& argument, std::size_t operand,
                      const IndexValues& indices) {
    const auto index = std::ranges::find(form_.indices, operand, &GenericForm::Index::operand);
    if (index != form_.indices.end()) {
      return indices.values[static_cast<std::size_t>(index - form_.indices.begin())];
    }
    const DType stored = element_type(*generic_.operand(operand));
    const bool is_copied =
        &argument == generic_.first_region()->only_block().back()->operand(number) &&
        form_.results[number].sums.empty() && stored == element_type(*generic_.result(number));
    return read(*operands_[operand], form_.operands[operand],
                is_copied ? stored : *accumulation_type(stored), indices);
  }

  /// The ops that a value depends on, in their order.
  static std::vector<const Op*> steps_for(const Value& wanted, const Block& block) {
    std::vector<const Value*> needed = {&wanted};
    std::vector<const Op*> steps;
    for (const Op* op : block.reversed()) {
      const auto is_needed = [&](const Value& value) {
        return std::ranges::find(needed, &value) != needed.end();
      };
      if (op == block.back() || std::ranges::none_of(op->results(), is_needed)) continue;
      steps.push_back(op);
      for (const Use& use : op->operand_uses()) needed.push_back(use.value());
    }
    std::ranges::reverse(steps);
    return steps;
  }

  Rewriter& rewriter_;
  IRContext& context_;
  DimTable& dims_;
  Op& generic_;
  GenericForm form_;
  std::vector<Symbol> names_;  // of the loops
  Op* kernel_ = nullptr;
  std::vector<Value*> operands_, results_;  // buffers
  std::size_t depth_ = 0;                   // nests around the insertion point
};

bool has_known_type(const Value& value) {
  const TensorType* type = value.tensor_type();
  return type != nullptr && type->dtype() && std::ranges::none_of(type->dims(), &Dim::is_unknown);
}

/// True if the start is a number of the type in which the region computes.
bool is_start_of(const Attr& start, DType dtype) {
  if (start.kind() == AttrKind::kBool || dtype == DType::kFloat64) return true;
  if (start.kind() != AttrKind::kInt) return false;
  return dtype != DType::kBool || start.integer() == 0 || start.integer() == 1;
}

}  // namespace

std::string why_no_kernel(const Op& generic) {
  const auto form = generic_form(generic);
  if (!form) return "its attributes are not sound";
  const auto is_known_use = [](const Use& use) { return has_known_type(*use.value()); };
  if (!std::ranges::all_of(generic.operand_uses(), is_known_use) ||
      !std::ranges::all_of(generic.results(), has_known_type)) {
    return "an extent or element type is not known";
  }
  for (std::uint32_t i = 0; i < generic.result_count(); ++i) {
    const GenericForm::Result& result = form->results[i];
    const DType computed = *accumulation_type(element_type(*generic.result(i)));
    if (result.start != nullptr && !is_start_of(*result.start, computed)) {
      return fmt::format("the start of result {} is not a number of type {}", i, name_of(computed));
    }
    // A sum leaves out the largest of nothing, and a read refuses it.
    bool is_term = false;
    for (const auto& each : result.sums) {
      if (each.precision != SumPrecision::kWide) {
        return fmt::format("a sum of result {} has '{}'", i, key::kAccumulate.text);
      }
      is_term = is_term || each.sum != result.sums.front().sum;
      if (!is_term || has_neutral(each.sum)) continue;
      const Dim extent = form->loops[each.loop].extent;
      if (!form->conditions.empty() || !extent.is_constant() || extent.constant() == 0) {
        return fmt::format("a sum of result {} may have the largest or least of nothing as a term",
                           i);
      }
    }
  }
  return {};
}

Op& lower_generic(Rewriter& rewriter, Op& generic) {
  return GenericLowering(rewriter, generic).run();
}

}  // namespace mir
