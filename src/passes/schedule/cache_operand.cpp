// Caches operands of kernels: divides nests, copies parts of operands, moves reads to the copies.
#include "passes/schedule/cache_operand.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/loop_body.hpp"
#include "dialects/loop_space.hpp"
#include "ir/symbol_relations.hpp"
#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/op_id.hpp"

namespace mir {

namespace {

using Range = GenericForm::Range;

/// Reads of an operand at one index, inside of one loop.
struct CachedPart {
  std::size_t nest = 0;  ///< with the loop
  std::vector<Dim> at;
  std::vector<const Op*> reads;
  std::vector<Dim> base;     ///< the index where the loops inside are 0
  std::vector<Dim> offset;   ///< of the read from the base
  std::vector<Dim> extents;  ///< of the buffer
};

/// Caches one operand of one kernel.
class OperandCache {
 public:
  OperandCache(Rewriter& rewriter, Op& kernel, const CacheRequest& request)
      : rewriter_(rewriter),
        context_(rewriter.context()),
        dims_(context_.dims()),
        kernel_(kernel),
        request_(request) {}

  std::string run() {
    auto body = read_kernel(kernel_, [](const KernelProblem&) {});
    if (!body) return "the kernel is not sound";
    body_ = &*body;
    const Value& argument = kernel_.first_region()
                                ->only_block()
                                .arguments()[static_cast<std::uint32_t>(request_.operand)];
    const auto buffer = std::ranges::find(body_->buffers, &argument, &KernelBody::Buffer::value);
    if (buffer == body_->buffers.end()) return "it is no buffer of numbers";
    shape_ = buffer->shape;
    for (std::size_t nest = 1; nest < body_->nests.size(); ++nest) {
      if (!place_in(nest)) continue;
      if (auto why = find_parts(nest, static_cast<std::size_t>(buffer - body_->buffers.begin()));
          !why.empty()) {
        return why;
      }
    }
    if (parts_.empty()) {
      return fmt::format("nothing reads it inside of a loop '{}'", request_.loop);
    }
    // Later nests are edited first, so that numbers of earlier ones stay.
    for (std::size_t i = parts_.size(); i-- > 0;) {
      const bool is_divided = i + 1 < parts_.size() && parts_[i + 1].nest == parts_[i].nest;
      if (!is_divided) divide(parts_[i].nest);
      insert_copy(parts_[i]);
    }
    return {};
  }

 private:
  /// The place of the loop in a nest; no value if it has another one.
  std::optional<std::size_t> place_in(std::size_t nest) const {
    const auto& loops = body_->nests[nest].loops;
    const auto found = std::ranges::find_if(
        loops, [&](const Range& each) { return context_.text(each.name) == request_.loop; });
    if (found == loops.end()) return std::nullopt;
    return static_cast<std::size_t>(found - loops.begin());
  }

  /// Loops that are the same for all iterations of a copy, and those that a read has inside.
  struct Scope {
    std::vector<Range> outer, inner, sizes;
    std::vector<SymbolRelation> conditions;
  };

  Scope scope_of(std::size_t nest, std::size_t read) const {
    Scope scope;
    for (const std::size_t each : body_->chain(read)) {
      const KernelBody::Nest& at = body_->nests[each];
      scope.sizes.insert(scope.sizes.end(), at.sizes.begin(), at.sizes.end());
      const bool is_inside = each != nest && body_->is_inside(each, nest);
      const std::size_t outer = is_inside      ? 0
                                : each == nest ? *place_in(nest) + 1
                                               : at.loops.size();
      const auto middle = at.loops.begin() + static_cast<std::ptrdiff_t>(outer);
      scope.outer.insert(scope.outer.end(), at.loops.begin(), middle);
      scope.inner.insert(scope.inner.end(), middle, at.loops.end());
      scope.conditions.insert(scope.conditions.end(), at.conditions.begin(), at.conditions.end());
    }
    return scope;
  }

  static bool has(std::span<const Range> ranges, Symbol name) {
    return std::ranges::find(ranges, name, &Range::name) != ranges.end();
  }

  bool mentions(Dim extent, std::span<const Range> ranges) const {
    bool found = false;
    for_each_symbol_of(extent, dims_, [&](Symbol name) { found = found || has(ranges, name); });
    return found;
  }

  std::string find_parts(std::size_t nest, std::size_t buffer) {
    const std::size_t first = parts_.size();
    for (const KernelBody::Access& access : body_->accesses) {
      if (access.buffer != buffer || !body_->is_inside(access.nest, nest)) continue;
      const auto known =
          std::find_if(parts_.begin() + static_cast<std::ptrdiff_t>(first), parts_.end(),
                       [&](const CachedPart& each) { return each.at == access.at; });
      if (known != parts_.end()) {
        known->reads.push_back(access.op);
        continue;
      }
      CachedPart part{.nest = nest,
                      .at = access.at,
                      .reads = {access.op},
                      .base = {},
                      .offset = {},
                      .extents = {}};
      if (auto why = measure(part, access); !why.empty()) return why;
      parts_.push_back(std::move(part));
    }
    return {};
  }

  /// Divides the index of a read into the base and the offset, and finds the extents of the part.
  std::string measure(CachedPart& part, const KernelBody::Access& access) {
    const Scope scope = scope_of(part.nest, access.nest);
    std::vector<Symbol> names;
    std::vector<Dim> extents;
    for (const Range& each : scope.inner) {
      names.push_back(each.name);
      extents.push_back(each.extent);
    }
    LoopSpace space({.context = context_,
                     .extents_around = shape_.extents,
                     .loops = scope.inner,
                     .sizes = scope.sizes,
                     .conditions = {}});
    for (std::size_t i = 0; i < access.at.size(); ++i) {
      const Dim index = access.at[i];
      bool is_known = true;
      for_each_symbol_of(index, dims_, [&](Symbol name) {
        is_known = is_known &&
                   (has(scope.outer, name) || has(scope.inner, name) || has(scope.sizes, name));
      });
      if (!is_known) return "data decides where it is read";
      const Dim base = dims_.substitute(index, [&](Symbol name) -> std::optional<Dim> {
        return has(scope.inner, name) ? std::optional(Dim(0)) : std::nullopt;
      });
      const Dim offset = dims_.subtract(index, base);
      if (offset.is_unknown() || mentions(offset, scope.outer)) {
        return fmt::format("its index '{}' does not divide into loops outside and inside of '{}'",
                           dims_.print(index), request_.loop);
      }
      const auto least = space.outside(offset);
      const bool grows =
          least &&
          (space.is_empty() || space.prover().is_proved(ExtentRelation::kAtLeast, *least, Dim(0)));
      if (!grows) {
        return fmt::format("its index '{}' falls with a loop inside of '{}'", dims_.print(index),
                           request_.loop);
      }
      const Dim extent = not_negative(reached_extents({&offset, 1}, names, extents, dims_).front());
      if (extent.is_unknown()) {
        return fmt::format("the extent of its part at index '{}' is not known", dims_.print(index));
      }
      // The part is no longer than the dimension.
      const Dim whole = shape_.extents[i];
      const bool is_cut = base == Dim(0) && extent.is_constant() && whole.is_constant() &&
                          whole.constant() < extent.constant();
      part.base.push_back(base);
      part.offset.push_back(offset);
      part.extents.push_back(is_cut ? whole : extent);
    }
    return {};
  }

  /// The extent, or 0 where it is less: a loop inside may have no iteration.
  Dim not_negative(Dim extent) const {
    const bool is_fine =
        extent.is_unknown() ||
        ExtentProver::holds_always(context_, ExtentRelation::kAtLeast, extent, Dim(0));
    if (is_fine) return extent;
    const auto made = dims_.parse(fmt::format("({}) max 0", dims_.print(extent)));
    return made ? *made : Dim::unknown();
  }

  // -- edits --------------------------------------------------------------------------------------

  const Attr* map_attribute(std::span<const Dim> map) {
    std::vector<const Attr*> indices;
    for (const Dim each : map) indices.push_back(context_.dim(each));
    return context_.array(indices);
  }
  const Attr* ranges_attribute_of(std::span<const Range> ranges) {
    std::vector<NamedAttr> entries;
    for (const Range& each : ranges) entries.push_back({each.name, context_.dim(each.extent)});
    return context_.dict(entries);
  }

  /// Creates a nest whose region is an empty block, which the insertion point is in.
  Op& create_nest(std::span<const NamedAttr> attributes) {
    Op& made = *rewriter_.create(
        {.name = context_.op_name(OpId::kLoopNest), .attributes = attributes, .regions = 1});
    Block* const block = rewriter_.create_block(*made.first_region());
    rewriter_.set_has_signature(*made.first_region(), true);
    rewriter_.set_insertion_point_to_end(*block);
    return made;
  }

  /// Moves the loops inside the named one, with their conditions and marks, to a nest of their own.
  void divide(std::size_t number) {
    const KernelBody::Nest& nest = body_->nests[number];
    const std::size_t count = *place_in(number) + 1;
    Op& op = *const_cast<Op*>(nest.op);
    if (count == nest.loops.size()) return;
    const std::span<const Range> outer(nest.loops.data(), count),
        inner = std::span(nest.loops).subspan(count);
    std::vector<NamedAttr> attributes = {{key::kLoops, ranges_attribute_of(inner)}};
    rewriter_.set_attribute(op, key::kLoops, ranges_attribute_of(outer));
    const auto conditions = std::span(nest.conditions);
    const std::pair<AttrKey, std::span<const SymbolRelation>> lists[] = {
        {key::kBounds, conditions.first(nest.bound_count)},
        {key::kWhere, conditions.subspan(nest.bound_count)}};
    for (const auto& list : lists) {
      std::vector<SymbolRelation> here, inside;
      for (const SymbolRelation& each : list.second) {
        const bool is_inside = mentions(each.left, inner) || mentions(each.right, inner);
        (is_inside ? inside : here).push_back(each);
      }
      if (inside.empty()) continue;
      attributes.push_back({list.first, relations_attribute(inside, context_)});
      set_or_remove(op, list.first, relations_attribute(here, context_));
    }
    for (const auto& [key, marks] :
         {std::pair(key::kParallel, &nest.parallel), std::pair(key::kVector, &nest.vector),
          std::pair(key::kUnroll, &nest.unroll)}) {
      std::vector<const Attr*> here, inside;
      for (const std::size_t each : *marks) {
        (each < count ? here : inside)
            .push_back(context_.word(context_.text(nest.loops[each].name)));
      }
      if (inside.empty()) continue;
      attributes.push_back({key, context_.array(inside)});
      set_or_remove(op, key, here.empty() ? nullptr : context_.array(here));
    }
    Block& block = op.first_region()->only_block();
    rewriter_.set_default_location(op.location());
    rewriter_.set_insertion_point_to_start(block);
    Op& made = create_nest(attributes);
    Block& inside = made.first_region()->only_block();
    while (made.next() != block.back()) rewriter_.move_to_end(*made.next(), inside);
    rewriter_.set_insertion_point_to_end(inside);
    rewriter_.create({.name = context_.op_name(OpId::kCfYield)});
  }

  void set_or_remove(Op& op, AttrKey key, const Attr* value) {
    if (value != nullptr) {
      rewriter_.set_attribute(op, key, value);
    } else {
      rewriter_.remove_attribute(op, key);
    }
  }

  /// A symbol that no nest of the kernel binds yet.
  Symbol new_symbol(std::string_view name) {
    const auto is_bound = [&](Symbol symbol) {
      return std::ranges::any_of(body_->nests, [&](const KernelBody::Nest& each) {
        return has(each.loops, symbol) || has(each.sizes, symbol) ||
               std::ranges::find(each.indices, symbol, &GenericForm::Index::name) !=
                   each.indices.end();
      });
    };
    Symbol made = context_.intern(name);
    for (int i = 2; is_bound(made); ++i) made = context_.intern(fmt::format("{}_{}", name, i));
    return made;
  }

  void insert_copy(const CachedPart& part) {
    Op& nest = *const_cast<Op*>(body_->nests[part.nest].op);
    rewriter_.set_default_location(nest.location());
    rewriter_.set_insertion_point_to_start(nest.first_region()->only_block());
    std::vector<const Attr*> extents;
    for (const Dim each : part.extents) extents.push_back(context_.dim(each));
    const std::vector<const Attr*> parameters = {context_.word(name_of(shape_.dtype)),
                                                 context_.array(extents),
                                                 context_.word(request_.space)};
    const Type* const type = *context_.dialect_type("loop.buffer", parameters);
    Value* const cache =
        rewriter_.create({.name = context_.op_name(OpId::kLoopBuffer), .result_types = {&type, 1}})
            ->result();
    copy(part, *cache);
    for (const Op* each : part.reads) {
      Op& read = *const_cast<Op*>(each);
      rewriter_.set_operand(read, 0, cache);
      rewriter_.set_attribute(read, key::kAt, map_attribute(part.offset));
    }
  }

  void copy(const CachedPart& part, Value& cache) {
    std::vector<Range> loops, sizes;
    std::vector<Dim> to;
    for (std::size_t i = 0; i < part.extents.size(); ++i) {
      loops.push_back({new_symbol(fmt::format("c{}", i)), part.extents[i]});
      to.push_back(dims_.symbol(context_.text(loops.back().name)));
    }
    std::vector<SymbolRelation> filters;
    const std::vector<Dim> from = source_map(part, loops, sizes, filters);
    std::vector<NamedAttr> attributes = {{key::kLoops, ranges_attribute_of(loops)}};
    if (!filters.empty()) {
      attributes.push_back({key::kWhere, relations_attribute(filters, context_)});
    }
    if (!sizes.empty()) attributes.push_back({key::kSizes, ranges_attribute_of(sizes)});
    create_nest(attributes);
    const TensorType* const read = part.reads.front()->result()->tensor_type();
    const Type* const number =
        context_.tensor({}, context_.intern(name_of(shape_.dtype)), read->device());
    const NamedAttr at{key::kAt, map_attribute(from)}, place{key::kAt, map_attribute(to)};
    Value* const source = &kernel_.first_region()
                               ->only_block()
                               .arguments()[static_cast<std::uint32_t>(request_.operand)];
    Value* const element = rewriter_
                               .create({.name = context_.op_name(OpId::kLoopRead),
                                        .operands = {&source, 1},
                                        .result_types = {&number, 1},
                                        .attributes = {&at, 1}})
                               ->result();
    Value* const operands[] = {element, &cache};
    rewriter_.create({.name = context_.op_name(OpId::kLoopWrite),
                      .operands = operands,
                      .attributes = {&place, 1}});
    rewriter_.create({.name = context_.op_name(OpId::kCfYield)});
  }

  /// The index of the operand for each iteration of a copy. Where a bound ends the loops, the copy
  /// repeats the last element, which nothing reads. A dimension that may be empty has none, so that
  /// the copy leaves out the iteration.
  std::vector<Dim> source_map(const CachedPart& part, std::span<const Range> loops,
                              std::vector<Range>& sizes, std::vector<SymbolRelation>& filters) {
    const Scope scope = scope_of(part.nest, part.nest);
    std::vector<Range> all = scope.outer;
    all.insert(all.end(), loops.begin(), loops.end());
    std::vector<SymbolRelation> conditions;
    for (const SymbolRelation& each : scope.conditions) {
      const bool is_inside = mentions(each.left, scope.inner) || mentions(each.right, scope.inner);
      if (!is_inside) conditions.push_back(each);
    }
    LoopSpace space({.context = context_,
                     .extents_around = shape_.extents,
                     .loops = all,
                     .sizes = scope.sizes,
                     .conditions = conditions});
    const auto is_at_most = [&](Dim a, Dim b) {
      return space.is_empty() || space.prover().is_proved(ExtentRelation::kAtLeast, b, a);
    };
    std::vector<Dim> map;
    for (std::size_t i = 0; i < part.base.size(); ++i) {
      const Dim index = dims_.add(part.base[i], dims_.symbol(context_.text(loops[i].name)));
      const auto known = space.outside(index);
      const Dim last = dims_.subtract(shape_.extents[i], Dim(1));
      const bool exceeds = !known || !is_at_most(*known, last);
      const bool precedes = !known || !is_at_most(Dim(0), *known);
      const Dim end = exceeds || precedes ? in_nest(last, scope.sizes, sizes) : last;
      if ((exceeds || precedes) && !is_at_most(Dim(1), shape_.extents[i])) {
        add_condition(filters, index, end);
        add_condition(filters, Dim(0), index);
        map.push_back(index);
        continue;
      }
      std::string text = dims_.print(index);
      if (exceeds) text = fmt::format("({}) min ({})", text, dims_.print(end));
      if (precedes) text = fmt::format("({}) max 0", text);
      const auto made = dims_.parse(text);
      map.push_back(made ? *made : Dim::unknown());
    }
    return map;
  }

  void add_condition(std::vector<SymbolRelation>& filters, Dim a, Dim b) {
    const SymbolRelation relation{
        .comparison = SymbolRelation::Comparison::kAtMost, .left = a, .right = b};
    const auto whole = relation.substitute(dims_, [](Symbol) { return std::nullopt; });
    if (whole) filters.push_back(*whole);
  }

  /// An extent from around the kernel in symbols of the nests, which get those that they lack.
  Dim in_nest(Dim extent, std::span<const Range> known, std::vector<Range>& sizes) {
    return dims_.substitute(extent, [&](Symbol name) -> std::optional<Dim> {
      const Dim symbol = dims_.symbol(context_.text(name));
      for (const std::span<const Range> list : {known, std::span<const Range>(sizes)}) {
        const auto found = std::ranges::find(list, symbol, &Range::extent);
        if (found != list.end()) return dims_.symbol(context_.text(found->name));
      }
      sizes.push_back({new_symbol(fmt::format("n_{}", context_.text(name))), symbol});
      return dims_.symbol(context_.text(sizes.back().name));
    });
  }

  Rewriter& rewriter_;
  IRContext& context_;
  DimTable& dims_;
  Op& kernel_;
  const CacheRequest& request_;
  KernelBody* body_ = nullptr;
  BufferShape shape_;
  std::vector<CachedPart> parts_;
};

}  // namespace

std::string cache_operand(Rewriter& rewriter, Op& kernel, const CacheRequest& request) {
  return OperandCache(rewriter, kernel, request).run();
}

}  // namespace mir
