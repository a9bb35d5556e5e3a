// Walks the loops of a generic op for one of its results.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dialects/generic_form.hpp"
#include "eval/call.hpp"
#include "eval/generic_strip.hpp"
#include "eval/generic_sums.hpp"
#include "extents/compiled_extent.hpp"

namespace mir::eval {

/// A generic op whose extents are numbers.
struct BoundGeneric {
  struct Condition {
    SymbolRelation::Comparison comparison{};
    CompiledExtent margin;
    bool has_data = false;  ///< depends on indices that data decides
    bool holds(std::int64_t value) const {
      return comparison == SymbolRelation::Comparison::kEqual ? value == 0 : value >= 0;
    }
  };

  GenericForm form;
  std::vector<Symbol> names;          ///< of the loops, then of the indices that data decides
  std::vector<std::int64_t> extents;  ///< of the loops
  std::vector<Condition> conditions;
};

/// Reads the attributes of the op, in which extents are numbers.
Result<BoundGeneric> bind_generic(EvalCall& call);

/// The index map of a tensor.
struct BoundMap {
  std::vector<CompiledExtent> indices;
  Shape extents;
  std::vector<std::int64_t> strides;
  bool is_linear = true;
};

/// Stretch of iterations of the innermost loop.
struct Stretch {
  std::int64_t first = 0, last = 1;
  bool is_empty() const { return first >= last; }
};

/// Computes one result of a generic op.
class GenericWalk {
 public:
  GenericWalk(EvalCall& call, const BoundGeneric& generic, std::uint32_t number)
      : call_(call), generic_(generic), form_(generic.form.results[number]), number_(number) {}

  Result<void> run();

 private:
  /// An element for the first iteration of a stretch, and the distance to that of the next one.
  struct Place {
    std::int64_t at = 0, step = 0;
  };

  Result<void> prepare();
  void order_loops();
  Result<BoundMap> bind(std::span<const Dim> map, const Shape& extents) const;
  Result<void> walk(std::size_t position, std::size_t group);
  Result<void> walk_group(std::size_t position, std::size_t group, Place to);
  Result<void> walk_loops(std::size_t position, std::size_t group);
  Result<void> walk_innermost();
  Result<void> walk_each(Stretch part);
  Result<bool> admits_iteration();
  Result<void> read_indices();
  Stretch current() const;
  Result<Stretch> within_result(Stretch part);
  Result<void> append(Stretch part);
  Result<void> append_at_once(Stretch part);
  Result<Place> place(const BoundMap& map, std::size_t number, Stretch part);
  Error outside(const BoundMap& map, std::size_t number, std::size_t dim, Stretch part);
  Result<void> gather(std::size_t operand, Place from, std::int64_t count);
  void copy(Place from, Place to, std::int64_t count);
  Result<void> note_written(Place to, std::int64_t count);
  Result<void> note(LoopEvent event);
  Result<void> flush();
  Result<void> check_written() const;

  EvalCall& call_;
  const BoundGeneric& generic_;
  const GenericForm::Result& form_;
  std::uint32_t number_;
  std::optional<GenericStrip> strip_;
  std::unique_ptr<GenericSums> sums_;
  std::vector<std::size_t> order_;             // loops of the result, summed ones, that of columns
  std::vector<SumKind> groups_;                // of sums of consecutive loops
  std::vector<std::size_t> group_starts_;      // positions in the order
  std::optional<std::size_t> column_loop_;     // innermost, of elements computed side by side
  Stretch column_;                             // the part of that loop at hand
  std::vector<std::size_t> ends_;              // conditions that end the result, of a sum
  std::vector<std::int64_t> values_;           // of the names
  std::vector<std::optional<BoundMap>> maps_;  // of the operands that are read
  BoundMap result_map_;
  std::optional<std::size_t> copied_;  // the operand whose elements are moved
  bool is_linear_ = true;              // all maps and conditions
  std::vector<bool> written_;          // elements; empty if the map counts each of them once
  std::vector<LoopEvent> events_;      // since the last strip
  std::int64_t filled_ = 0;            // iterations in the strip
};

}  // namespace mir::eval
