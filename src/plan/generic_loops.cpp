// Compiles a generic op for the extents of a run: orders loops, turns maps into steps, proves
// ranges.
#include "plan/generic_loops.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "plan/generic_tiles.hpp"

namespace mir {

namespace {

/// Forms stay below this, so that sums of two of them do not overflow.
constexpr std::int64_t kMostOfForm = std::int64_t{1} << 61;
constexpr std::int64_t kMostLoopIterations = std::int64_t{1} << 42;
/// Fewer elements than this are not worth to be computed side by side.
constexpr std::int64_t kLeastSideBySide = 8;
/// A sum of so many terms fills strips.
constexpr std::int64_t kLeastSummed = 64;

/// A form by loop.
struct LinearSum {
  std::int64_t first = 0;
  std::vector<std::int64_t> steps;
};

struct Interval {
  std::int64_t least = 0, greatest = 0;
};

/// Adds `a * b` to the sum. Returns false, and leaves the sum, if the result would overflow.
bool add_product(std::int64_t& sum, std::int64_t a, std::int64_t b) {
  const auto product = checked_multiply(a, b);
  const auto next = product ? checked_add(sum, *product) : std::nullopt;
  if (next) sum = *next;
  return next.has_value();
}

/// The maps of one tensor before loops have an order.
struct MapDraft {
  std::size_t tensor = 0;
  LinearSum offset;
  std::vector<GenericLoops::Rest> rest;
  std::vector<std::pair<LinearSum, std::int64_t>> checks;
  std::vector<std::optional<Interval>> ranges;  // of each dimension
};

class GenericCompiler {
 public:
  GenericCompiler(const GenericForm& form, std::size_t number, const GenericTensors& tensors,
                  DimTable& dims, const DimBindings* bindings)
      : numbered_{.form = form, .names = {}, .extents = {}, .zeros = {}},
        form_(numbered_.form),
        wanted_(form_.results[number]),
        number_(number),
        tensors_(tensors),
        dims_(dims),
        bindings_(bindings) {}

  std::optional<GenericLoops> compile() {
    if (!read_loops()) return std::nullopt;
    find_ends();
    if (!is_reached_as_declared()) return std::nullopt;
    split_tiles(numbered_, dims_);
    for (const GenericForm::Index& index : form_.indices) names_.push_back(index.name);
    loops_.loop_count = extents_.size();
    loops_.name_count = names_.size();
    if (!read_maps() || !read_conditions()) return std::nullopt;
    order_loops();
    for (LinearSum& each : ends_) loops_.ends.push_back(add_form(std::move(each)));
    for (auto& [sum, is_equal] : linear_conditions_) {
      loops_.form_conditions.push_back({add_form(sum), is_equal});
    }
    for (MapDraft& each : operands_) loops_.operands.push_back(finish(each));
    for (MapDraft& each : indices_) loops_.indices.push_back(finish(each));
    loops_.result = finish(result_);
    lay_out_steps();
    join_loops();
    return std::move(loops_);
  }

 private:
  bool read_loops() {
    const auto known = [&](Dim extent) -> std::optional<std::int64_t> {
      const Dim bound = bindings_ == nullptr ? extent : dims_.substitute(extent, *bindings_);
      return bound.is_constant() && bound.constant() >= 0 ? std::optional(bound.constant())
                                                          : std::nullopt;
    };
    std::int64_t iterations = 1;
    for (const GenericForm::Range& loop : form_.loops) {
      const auto extent = known(loop.extent);
      if (!extent) return false;
      names_.push_back(loop.name);
      extents_.push_back(*extent);
      const auto product = checked_multiply(iterations, std::max<std::int64_t>(1, *extent));
      if (!product || *product > kMostLoopIterations) return false;
      iterations = *product;
    }
    DimBindings sizes;
    for (const GenericForm::Range& size : form_.sizes) {
      if (const auto extent = known(size.extent)) sizes.bind(size.name, *extent);
    }
    for_each_extent(form_, [&](Dim& extent) { extent = dims_.substitute(extent, sizes); });
    return true;
  }

  std::optional<CompiledExtent> compiled(Dim extent) const {
    auto made = CompiledExtent::compile(extent, names_);
    for (const ZeroQuotient& each : numbered_.zeros) {
      const auto name =
          static_cast<std::size_t>(std::ranges::find(names_, each.dividend) - names_.begin());
      if (made) made->drop_quotient(name, each.divisor);
    }
    return made;
  }

  /// The extent as a form. No value if it is none.
  std::optional<LinearSum> linear(const CompiledExtent& extent) const {
    if (!extent.is_linear()) return std::nullopt;
    LinearSum sum{.first = extent.constant(), .steps = {}};
    for (std::size_t name = 0; name < names_.size(); ++name) {
      if (name >= extents_.size()) {
        if (extent.step(name) != 0) return std::nullopt;
        continue;
      }
      sum.steps.push_back(extent.step(name));
    }
    return sum;
  }

  /// Over all iterations; no value if it exceeds what a walk can count.
  std::optional<Interval> range(const LinearSum& sum) const {
    if (sum.first > kMostOfForm || sum.first < -kMostOfForm) return std::nullopt;
    Interval found{sum.first, sum.first};
    for (std::size_t loop = 0; loop < extents_.size(); ++loop) {
      const auto way =
          checked_multiply(sum.steps[loop], std::max<std::int64_t>(extents_[loop], 1) - 1);
      if (!way || *way > kMostOfForm || *way < -kMostOfForm) return std::nullopt;
      (*way < 0 ? found.least : found.greatest) += *way;
      if (found.least < -kMostOfForm || found.greatest > kMostOfForm) return std::nullopt;
    }
    return found;
  }

  bool add_dimension(MapDraft& draft, Dim index, std::int64_t stride, std::int64_t extent) {
    auto value = compiled(index);
    if (!value) return false;
    auto sum = linear(*value);
    if (!sum) {
      draft.rest.push_back({*std::move(value), stride, extent});
      draft.ranges.emplace_back();
      return true;
    }
    const auto reached = range(*sum);
    if (!reached) return false;
    draft.ranges.emplace_back(*reached);
    if (!add_product(draft.offset.first, sum->first, stride)) return false;
    for (std::size_t loop = 0; loop < extents_.size(); ++loop) {
      if (!add_product(draft.offset.steps[loop], sum->steps[loop], stride)) return false;
    }
    if (reached->least < 0 || reached->greatest >= extent) {
      draft.checks.emplace_back(*std::move(sum), extent);
    }
    return true;
  }

  std::optional<MapDraft> draft(std::size_t tensor, std::span<const Dim> map,
                                const TensorRef& memory) const {
    if (map.size() != memory.rank) return std::nullopt;
    MapDraft made{.tensor = tensor, .offset = {}, .rest = {}, .checks = {}, .ranges = {}};
    made.offset.steps.assign(extents_.size(), 0);
    for (std::size_t dim = 0; dim < map.size(); ++dim) {
      auto* self = const_cast<GenericCompiler*>(this);
      if (!self->add_dimension(made, map[dim], memory.strides[dim], memory.extents[dim])) {
        return std::nullopt;
      }
    }
    if (!range(made.offset)) return std::nullopt;
    return made;
  }

  bool read_maps() {
    for (std::size_t i = 0; i < tensors_.operands.size(); ++i) {
      if (!tensors_.needs[i]) continue;
      auto made = draft(i, form_.operands[i], tensors_.operands[i]);
      if (!made) return false;
      operands_.push_back(*std::move(made));
    }
    for (std::size_t k = 0; k < form_.indices.size(); ++k) {
      const std::size_t operand = form_.indices[k].operand;
      auto made = draft(operand, form_.operands[operand], tensors_.operands[operand]);
      if (!made) return false;
      // An index is read after those before it, and from no element that later ones decide.
      for (std::size_t later = k; later < form_.indices.size(); ++later) {
        for (const auto& each : made->rest) {
          if (each.index.depends_on(extents_.size() + later)) return false;
        }
      }
      indices_.push_back(*std::move(made));
    }
    auto made = draft(number_, wanted_.map, tensors_.result);
    if (!made) return false;
    result_ = *std::move(made);
    return true;
  }

  /// The extents that the map of the result reaches must be those that the result has in memory.
  bool is_reached_as_declared() {
    std::vector<Dim> extents;
    for (const std::int64_t extent : extents_) extents.emplace_back(extent);
    loops_.counts_once = counts_each_element_once(wanted_, names_, extents, dims_);
    auto reached = reached_extents(wanted_.map, names_, extents, dims_);
    if (reached.size() != tensors_.result.rank) return false;
    for (std::size_t dim = 0; dim < reached.size(); ++dim) {
      const auto end = bound_of(wanted_.map[dim], form_.bounds(), names_, dims_);
      if (end && end->is_constant() && reached[dim].is_constant()) {
        reached[dim] = Dim(std::min(reached[dim].constant(), end->constant()));
      }
      const bool is_known = reached[dim].is_constant();
      if (is_known && reached[dim].constant() != tensors_.result.extents[dim]) return false;
      if (!is_known && loops_.counts_once) return false;
    }
    return true;
  }

  /// Finds the bounds that end the result. They keep their places when loops are split.
  void find_ends() {
    for (std::size_t i = 0; i < form_.bound_count && !wanted_.sums.empty(); ++i) {
      const bool ends = std::ranges::any_of(wanted_.map, [&](Dim index) {
        return bound_of(index, form_.bounds().subspan(i, 1), names_, dims_).has_value();
      });
      if (ends) is_end_.insert(i);
    }
  }

  bool read_conditions() {
    for (std::size_t i = 0; i < form_.conditions.size(); ++i) {
      const SymbolRelation& each = form_.conditions[i];
      const bool is_equal = each.comparison == SymbolRelation::Comparison::kEqual;
      auto margin = compiled(each.margin);
      if (!margin) return false;
      auto sum = linear(*margin);
      if (is_end_.contains(i)) {
        if (!sum || !range(*sum)) return false;
        ends_.push_back(*std::move(sum));
        continue;
      }
      if (!sum) {
        loops_.conditions.push_back({*std::move(margin), is_equal});
        continue;
      }
      const auto reached = range(*sum);
      if (!reached) return false;
      const bool always =
          is_equal ? reached->least == 0 && reached->greatest == 0 : reached->least >= 0;
      if (!always) linear_conditions_.emplace_back(*std::move(sum), is_equal);
    }
    return true;
  }

  // -- order --------------------------------------------------------------------------------------

  bool is_form_of(const CompiledExtent& extent, std::size_t loop) const {
    return extent.is_linear_in(loop);
  }

  /// True if all indices are forms of a loop when the others stand still.
  bool is_linear_in(std::size_t loop) const {
    const auto rest_fits = [&](const MapDraft& draft) {
      return std::ranges::all_of(draft.rest,
                                 [&](const auto& each) { return is_form_of(each.index, loop); });
    };
    const auto stands_still = [&](const MapDraft& draft) {
      return draft.offset.steps[loop] == 0 &&
             std::ranges::none_of(draft.checks,
                                  [&](const auto& each) { return each.first.steps[loop] != 0; }) &&
             std::ranges::none_of(draft.rest,
                                  [&](const auto& each) { return each.index.depends_on(loop); });
    };
    return std::ranges::all_of(operands_, rest_fits) && rest_fits(result_) &&
           std::ranges::all_of(indices_, stands_still) &&
           std::ranges::all_of(loops_.conditions,
                               [&](const auto& each) { return is_form_of(each.margin, loop); });
  }

  /// How many tensors have the elements for iterations of a loop side by side, or only one.
  int neighbours(std::size_t loop) const {
    int count = 0;
    const auto look = [&](const MapDraft& draft) {
      const std::int64_t step = draft.offset.steps[loop];
      if (draft.rest.empty() && (step == 0 || step == 1)) ++count;
    };
    std::ranges::for_each(operands_, look);
    look(result_);
    // A strided result is as dear as two strided operands.
    if (result_.offset.steps[loop] == 1) ++count;
    return count;
  }

  /// True if a strip of a summed loop reads neighbours, and a strip of a loop of the result does
  /// not.
  bool sums_neighbours(std::size_t column) const {
    const std::size_t summed = wanted_.sums.back().loop;
    const auto is_near = [&](std::size_t loop) {
      return std::ranges::all_of(operands_, [&](const MapDraft& each) {
        return each.rest.empty() && (each.offset.steps[loop] == 0 || each.offset.steps[loop] == 1);
      });
    };
    return extents_[summed] >= kLeastSummed && is_near(summed) && !is_near(column);
  }

  /// The loop of the result that is best innermost; the last one if none is worth it.
  std::optional<std::size_t> best_loop(std::span<const std::size_t> loops, bool is_column) const {
    std::optional<std::size_t> best;
    for (const std::size_t loop : loops) {
      if (extents_[loop] < kLeastSideBySide || !is_linear_in(loop)) continue;
      // Elements that lie apart are dearer than places that are computed one by one.
      if (!is_column && neighbours(loop) == 0) continue;
      if (is_column && !tensors_.has_products && sums_neighbours(loop)) continue;
      if (!best || neighbours(loop) >= neighbours(*best)) best = loop;
    }
    if (!best && !is_column && !loops.empty()) best = loops.back();
    return best;
  }

  void order_loops() {
    loops_.order = wanted_.loops;
    const bool is_sum = !wanted_.sums.empty();
    const auto inner = best_loop(wanted_.loops, is_sum);
    if (inner) std::erase(loops_.order, *inner);
    for (const GenericForm::SummedLoop& each : wanted_.sums) {
      if (loops_.groups.empty() || loops_.groups.back() != each.kind()) {
        loops_.groups.push_back(each.kind());
        loops_.group_starts.push_back(loops_.order.size());
      }
      loops_.order.push_back(each.loop);
    }
    if (inner) loops_.order.push_back(*inner);
    loops_.has_column = is_sum && inner.has_value();
    if (loops_.order.empty()) return add_single_iteration();
    loops_.is_by_element = !is_linear_in(loops_.order.back());
    for (const std::size_t loop : loops_.order) loops_.extents.push_back(extents_[loop]);
  }

  /// A walk has an innermost loop. This one is in no map.
  void add_single_iteration() {
    loops_.order.push_back(names_.size());
    loops_.extents.push_back(1);
  }

  // -- forms --------------------------------------------------------------------------------------

  std::size_t add_form(LinearSum sum) {
    forms_.push_back(std::move(sum));
    return forms_.size() - 1;
  }

  GenericLoops::Access finish(MapDraft& draft) {
    GenericLoops::Access access{.tensor = draft.tensor,
                                .offset = add_form(std::move(draft.offset)),
                                .rest = std::move(draft.rest),
                                .checks = {}};
    for (auto& [sum, extent] : draft.checks) access.checks.push_back({add_form(sum), extent});
    return access;
  }

  void lay_out_steps() {
    for (const LinearSum& each : forms_) loops_.first.push_back(each.first);
    for (const std::size_t loop : loops_.order) {
      for (const LinearSum& each : forms_) {
        loops_.steps.push_back(loop < each.steps.size() ? counted_step(each, loop) : 0);
      }
    }
  }

  /// The step of a form for a loop. The range of a form does not bound the step of a loop of one
  /// iteration, which a walk adds and takes back: a large one is left out.
  std::int64_t counted_step(const LinearSum& form, std::size_t loop) const {
    const std::int64_t step = form.steps[loop];
    const bool is_bounded = extents_[loop] > 1 || (step <= kMostOfForm && step >= -kMostOfForm);
    return is_bounded ? step : 0;
  }

  /// Neighbours in the order that all forms count through like one loop become one.
  void join_loops() {
    const auto is_used_alone = [&](std::size_t loop) {
      const auto uses = [&](const GenericLoops::Access& access) {
        return std::ranges::any_of(access.rest,
                                   [&](const auto& each) { return each.index.depends_on(loop); });
      };
      return std::ranges::any_of(loops_.operands, uses) ||
             std::ranges::any_of(loops_.indices, uses) || uses(loops_.result) ||
             std::ranges::any_of(loops_.conditions,
                                 [&](const auto& each) { return each.margin.depends_on(loop); });
    };
    for (std::size_t at = loops_.order.size(); at-- > 1;) {
      const bool begins_group =
          std::ranges::find(loops_.group_starts, at) != loops_.group_starts.end();
      const bool is_column = loops_.has_column && at == loops_.innermost();
      if (begins_group || is_column || is_used_alone(loops_.order[at]) ||
          is_used_alone(loops_.order[at - 1])) {
        continue;
      }
      bool is_one = true;
      for (std::size_t form = 0; form < loops_.form_count(); ++form) {
        is_one = is_one && loops_.step(at - 1, form) == loops_.step(at, form) * loops_.extents[at];
      }
      if (!is_one) continue;
      const auto forms = static_cast<std::ptrdiff_t>(loops_.form_count());
      loops_.extents[at] *= loops_.extents[at - 1];
      loops_.extents.erase(loops_.extents.begin() + static_cast<std::ptrdiff_t>(at) - 1);
      loops_.order.erase(loops_.order.begin() + static_cast<std::ptrdiff_t>(at) - 1);
      const auto row = loops_.steps.begin() + (static_cast<std::ptrdiff_t>(at) - 1) * forms;
      loops_.steps.erase(row, row + forms);
      for (std::size_t& start : loops_.group_starts) {
        if (start >= at) --start;
      }
    }
  }

  NumberedLoops numbered_;
  GenericForm& form_;
  const GenericForm::Result& wanted_;
  std::size_t number_;
  const GenericTensors& tensors_;
  DimTable& dims_;
  const DimBindings* bindings_;

  GenericLoops loops_;
  std::vector<Symbol>& names_ = numbered_.names;
  std::vector<std::int64_t>& extents_ = numbered_.extents;  // by loop
  std::vector<MapDraft> operands_, indices_;
  MapDraft result_;
  std::vector<std::pair<LinearSum, bool>> linear_conditions_;
  std::set<std::size_t> is_end_;  // conditions
  std::vector<LinearSum> ends_;
  std::vector<LinearSum> forms_;
};

}  // namespace

bool GenericLoops::is_plain() const {
  const auto is_proved = [](const Access& access) {
    return access.rest.empty() && access.checks.empty();
  };
  return !is_by_element && indices.empty() && conditions.empty() && form_conditions.empty() &&
         std::ranges::all_of(operands, is_proved) && is_proved(result);
}

std::optional<GenericLoops> compile_generic(const GenericForm& form, std::size_t result,
                                            const GenericTensors& tensors, DimTable& dims,
                                            const DimBindings* bindings) {
  return GenericCompiler(form, result, tensors, dims, bindings).compile();
}

}  // namespace mir
