// Proves that indices of kernels are inside their buffers, that iterations of parallel loops touch
// different elements, and that elements are written before they are read.
#include "dialects/loop_proofs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/type_extents.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

using Range = GenericForm::Range;

/// Loops, sizes and conditions of a nest and those around it.
struct Scope {
  std::vector<Range> loops, sizes;
  std::vector<SymbolRelation> conditions;

  void add(const KernelBody::Nest& nest) {
    loops.insert(loops.end(), nest.loops.begin(), nest.loops.end());
    sizes.insert(sizes.end(), nest.sizes.begin(), nest.sizes.end());
    conditions.insert(conditions.end(), nest.conditions.begin(), nest.conditions.end());
  }
  bool has(Symbol name) const {
    return std::ranges::find(loops, name, &Range::name) != loops.end();
  }
};

/// The step of `nest` that is, or contains, an access.
std::size_t step_in(const KernelBody& body, const KernelBody::Access& access, std::size_t nest) {
  std::size_t at = access.nest, step = access.step;
  for (; at != nest; at = body.nests[at].around) step = body.nests[at].step;
  return step;
}

}  // namespace

KernelProofs::KernelProofs(const KernelBody& body, const SymbolDeclarations* around)
    : body_(body),
      around_(around),
      context_(body.op->module().context()),
      dims_(context_.dims()),
      spaces_(body.nests.size()) {
  for (const KernelBody::Buffer& buffer : body.buffers) {
    extents_around_.insert(extents_around_.end(), buffer.shape.extents.begin(),
                           buffer.shape.extents.end());
  }
}

LoopSpace& KernelProofs::space(std::size_t nest) {
  if (spaces_[nest] == nullptr) {
    Scope scope;
    for (const std::size_t each : body_.chain(nest)) scope.add(body_.nests[each]);
    spaces_[nest] = std::make_unique<LoopSpace>(LoopSpace::Source{.context = context_,
                                                                  .around = around_,
                                                                  .extents_around = extents_around_,
                                                                  .loops = scope.loops,
                                                                  .sizes = scope.sizes,
                                                                  .conditions = scope.conditions});
  }
  return *spaces_[nest];
}

// -- inside of buffers ----------------------------------------------------------------------------

ExtentVerdict KernelProofs::is_inside(const KernelBody::Access& access, IndexFault& fault) {
  LoopSpace& loops = space(access.nest);
  if (loops.is_empty()) return ExtentVerdict::kProved;
  const std::vector<Dim>& extents = body_.buffers[access.buffer].shape.extents;
  ExtentVerdict verdict = ExtentVerdict::kProved;
  for (std::size_t dim = 0; dim < access.at.size(); ++dim) {
    const auto index = loops.outside(access.at[dim]);
    if (!index || index->is_unknown() || extents[dim].is_unknown() || loops.is_open()) {
      verdict = ExtentVerdict::kUndecided;
      continue;
    }
    const Dim last = dims_.subtract(extents[dim], Dim(1));
    for (const auto& [a, b] : {std::pair(*index, Dim(0)), std::pair(last, *index)}) {
      const ExtentProof& proof = loops.prover().prove(ExtentRelation::kAtLeast, a, b);
      if (proof.verdict == ExtentVerdict::kProved) continue;
      // A condition that data decides may leave out the counterexample.
      const bool is_refuted = proof.verdict == ExtentVerdict::kRefuted && !has_data(access.nest);
      verdict = is_refuted ? ExtentVerdict::kRefuted : ExtentVerdict::kUndecided;
      if (!is_refuted) continue;
      std::string values;
      for (const auto& [name, value] : proof.counterexample.entries()) {
        values += fmt::format("{}${} = {}", values.empty() ? "" : ", ", context_.text(name), value);
      }
      const auto value = dims_.evaluate(*index, proof.counterexample);
      fault = {dim, values.empty() ? std::string()
                                   : fmt::format("{} makes it {}", values, value.value_or(0))};
      return verdict;
    }
  }
  return verdict;
}

/// True if data decides a condition of the nest or of one around it.
bool KernelProofs::has_data(std::size_t nest) {
  LoopSpace& loops = space(nest);
  return std::ranges::any_of(body_.chain(nest), [&](std::size_t each) {
    return std::ranges::any_of(body_.nests[each].conditions, [&](const SymbolRelation& condition) {
      return !loops.outside(condition);
    });
  });
}

// -- races ----------------------------------------------------------------------------------------

bool KernelProofs::is_free_of_races(std::size_t nest, std::size_t loop) {
  const Dim extent = body_.nests[nest].loops[loop].extent;
  if (extent.is_constant() && extent.constant() <= 1) return true;
  std::vector<const Access*> inside;
  for (const Access& access : body_.accesses) {
    const KernelBody::Buffer& buffer = body_.buffers[access.buffer];
    const bool is_shared = !buffer.is_operand && !body_.is_inside(buffer.nest, nest);
    if (is_shared && body_.is_inside(access.nest, nest)) inside.push_back(&access);
  }
  for (const Access* write : inside) {
    if (!write->is_write) continue;
    for (const Access* other : inside) {
      if (other->buffer != write->buffer) continue;
      if (!are_disjoint(nest, loop, *write, *other)) return false;
      if (other != write && !are_disjoint(nest, loop, *other, *write)) return false;
    }
  }
  return true;
}

/// True if `first` in an iteration of the loop and `next` in a later one are proved to touch
/// different elements, for one execution of the nest and the loops around the loop.
bool KernelProofs::are_disjoint(std::size_t nest, std::size_t loop, const Access& first,
                                const Access& next) {
  Scope scope;
  std::vector<std::pair<Symbol, Symbol>> renamed;
  const auto later = [&](Symbol name) -> std::optional<Dim> {
    const auto found = std::ranges::find(renamed, name, &std::pair<Symbol, Symbol>::first);
    if (found == renamed.end()) return std::nullopt;
    return dims_.symbol(context_.text(found->second));
  };
  const auto add_chain = [&](const Access& access, bool is_next) {
    bool is_own = false;  // from the loop on, iterations have loops of their own
    for (const std::size_t each : body_.chain(access.nest)) {
      const KernelBody::Nest& at = body_.nests[each];
      for (std::size_t i = 0; i < at.loops.size(); ++i) {
        is_own = is_own || (each == nest && i == loop);
        Range range = at.loops[i];
        if (is_own && is_next) {
          std::string text = fmt::format("{}_next", context_.text(range.name));
          while (scope.has(context_.intern(text))) text += '_';
          renamed.emplace_back(range.name, context_.intern(text));
          range.name = renamed.back().second;
        }
        if (!scope.has(range.name)) scope.loops.push_back(range);
      }
      for (const Range& size : at.sizes) {
        if (std::ranges::find(scope.sizes, size.name, &Range::name) == scope.sizes.end())
          scope.sizes.push_back(size);
      }
      for (const SymbolRelation& relation : at.conditions) {
        auto replaced = relation.substitute(dims_, later);
        if (replaced) scope.conditions.push_back(*std::move(replaced));
      }
    }
  };
  add_chain(first, false);
  add_chain(next, true);
  const Symbol name = body_.nests[nest].loops[loop].name;
  const SymbolRelation is_later{.comparison = SymbolRelation::Comparison::kLess,
                                .left = dims_.symbol(context_.text(name)),
                                .right = *later(name)};
  scope.conditions.push_back(*is_later.substitute(dims_, [](Symbol) { return std::nullopt; }));
  LoopSpace both({.context = context_,
                  .around = around_,
                  .extents_around = extents_around_,
                  .loops = scope.loops,
                  .sizes = scope.sizes,
                  .conditions = scope.conditions});
  if (both.is_empty()) return true;
  if (both.is_open()) return false;
  for (std::size_t dim = 0; dim < first.at.size(); ++dim) {
    const auto a = both.outside(first.at[dim]);
    const auto b = both.outside(dims_.substitute(next.at[dim], later));
    if (!a || !b || a->is_unknown() || b->is_unknown()) continue;
    const Dim above = dims_.subtract(*b, *a), below = dims_.subtract(*a, *b);
    if (above.is_unknown() || below.is_unknown()) continue;
    if (both.prover().is_proved(ExtentRelation::kAtLeast, above, Dim(1)) ||
        both.prover().is_proved(ExtentRelation::kAtLeast, below, Dim(1))) {
      return true;
    }
  }
  return false;
}

// -- elements with a number -----------------------------------------------------------------------

bool KernelProofs::is_never_empty(const GenericForm::Range& loop) const {
  return loop.extent.is_constant() && loop.extent.constant() > 0;
}

/// True if a write, in nests inside of `inside_of`, writes each element of its buffer.
bool KernelProofs::covers(const Access& write, std::size_t inside_of) {
  if (!write.indices.empty()) return false;
  Scope scope;
  for (std::size_t at = write.nest; at != inside_of; at = body_.nests[at].around) {
    if (!body_.nests[at].indices.empty()) return false;
    scope.add(body_.nests[at]);
  }
  LoopSpace loops({.context = context_,
                   .around = around_,
                   .extents_around = extents_around_,
                   .loops = scope.loops,
                   .sizes = scope.sizes,
                   .conditions = {}});
  GenericForm::Result seen;
  for (const Dim index : write.at) {
    const auto known = loops.outside(index);
    if (!known || known->is_unknown()) return false;
    seen.map.push_back(*known);
  }
  for (std::size_t i = 0; i < scope.loops.size(); ++i) {
    const auto mentions = [&](Dim index) {
      bool found = false;
      for_each_symbol_of(index, dims_,
                         [&](Symbol name) { found = found || name == loops.names()[i]; });
      return found;
    };
    if (std::ranges::any_of(seen.map, mentions)) {
      seen.loops.push_back(i);
    } else if (!is_never_empty(scope.loops[i])) {
      return false;
    }
  }
  if (!counts_each_element_once(seen, loops.names(), loops.extents(), dims_)) return false;
  const std::vector<Dim> reached = reached_extents(seen.map, loops.names(), loops.extents(), dims_);
  const std::vector<Dim>& extents = body_.buffers[write.buffer].shape.extents;
  const auto is_at_least = [&](Dim a, Dim b) {
    if (a.is_unknown() || b.is_unknown()) return false;
    return a == b || loops.prover().is_proved(ExtentRelation::kAtLeast, a, b);
  };
  for (std::size_t dim = 0; dim < extents.size(); ++dim) {
    if (!is_at_least(reached[dim], extents[dim])) return false;
  }
  // A condition may leave out only what is beyond the end of the buffer.
  return std::ranges::all_of(scope.conditions, [&](const SymbolRelation& each) {
    const auto known = loops.outside(each);
    if (!known) return false;
    for (std::size_t dim = 0; dim < extents.size(); ++dim) {
      const auto end = bound_of(seen.map[dim], {&*known, 1}, loops.names(), dims_);
      if (end && is_at_least(*end, extents[dim])) return true;
    }
    return false;
  });
}

/// True if the nests of the read, inside of `common`, have the loops and conditions of those of the
/// write, and the indices are the same.
bool KernelProofs::is_covered_alike(const Access& write, const Access& read, std::size_t common) {
  if (write.at != read.at || !write.indices.empty() || !read.indices.empty()) return false;
  Scope of_write, of_read;
  for (std::size_t at = write.nest; at != common; at = body_.nests[at].around) {
    if (!body_.nests[at].indices.empty()) return false;
    of_write.add(body_.nests[at]);
  }
  for (std::size_t at = read.nest; at != common; at = body_.nests[at].around) {
    of_read.add(body_.nests[at]);
  }
  const auto is_in_read = [&](const Range& loop) {
    return std::ranges::any_of(of_read.loops, [&](const Range& each) {
      return each.name == loop.name && each.extent == loop.extent;
    });
  };
  const auto mentions = [&](Dim extent, Symbol name) {
    bool found = false;
    for_each_symbol_of(extent, dims_, [&](Symbol each) { found = found || each == name; });
    return found;
  };
  // A loop of the write that the read lacks may neither select elements nor be empty.
  for (const Range& loop : of_write.loops) {
    const bool selects =
        std::ranges::any_of(write.at, [&](Dim index) { return mentions(index, loop.name); }) ||
        std::ranges::any_of(of_write.conditions, [&](const SymbolRelation& each) {
          return mentions(each.left, loop.name) || mentions(each.right, loop.name);
        });
    if (is_in_read(loop) || (!selects && is_never_empty(loop))) continue;
    return false;
  }
  const auto is_of_read = [&](const SymbolRelation& each) {
    return std::ranges::any_of(of_read.conditions, [&](const SymbolRelation& other) {
      return each.comparison == other.comparison && each.margin == other.margin;
    });
  };
  const bool has_sizes = std::ranges::any_of(of_write.sizes, [&](const Range& size) {
    return std::ranges::none_of(of_read.sizes, [&](const Range& each) {
      return each.name == size.name && each.extent == size.extent;
    });
  });
  return !has_sizes && std::ranges::all_of(of_write.conditions, is_of_read);
}

bool KernelProofs::is_written_before(const Access& read) {
  const KernelBody::Buffer& buffer = body_.buffers[read.buffer];
  if (buffer.is_operand || space(read.nest).is_empty()) return true;
  return std::ranges::any_of(body_.accesses, [&](const Access& write) {
    if (!write.is_write || write.buffer != read.buffer) return false;
    std::size_t common = read.nest;
    while (!body_.is_inside(write.nest, common)) common = body_.nests[common].around;
    // Both are in one life of the buffer, and the write comes first.
    if (!body_.is_inside(common, buffer.nest)) return false;
    if (step_in(body_, write, common) >= step_in(body_, read, common)) return false;
    return is_covered_alike(write, read, common) || covers(write, common);
  });
}

bool KernelProofs::is_written(std::size_t buffer) {
  return std::ranges::any_of(body_.accesses, [&](const Access& write) {
    return write.is_write && write.buffer == buffer && covers(write, body_.buffers[buffer].nest);
  });
}

}  // namespace mir
