// One result of a generic op as loops of C.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/generic_form.hpp"
#include "emit_c/c_extents.hpp"
#include "emit_c/c_generic.hpp"
#include "emit_c/c_region.hpp"

namespace mir::c {

/// Larger indices that data decides are clamped, or end the run, so that arithmetic on them does
/// not overflow.
inline constexpr std::int64_t kLargestCIndex = std::int64_t{1} << 62;

/// Writes the loops that compute one result. Everything is borrowed for its life.
class CGenericResult {
 public:
  CGenericResult(const Op& op, const GenericForm& form, std::uint32_t number,
                 const CGenericPlace& place, const CNames& names, CLines& out);

  /// An error says what C out does not have.
  Result<void> emit();

 private:
  /// A relation that each iteration fulfils.
  struct Condition {
    SymbolRelation relation;
    std::string text;
    std::size_t level = 0;     ///< how many loops are around the place where it is decided
    bool ends_result = false;  ///< elements for which it does not hold do not exist
    bool has_data = false;     ///< depends on indices that data decides
    bool is_met = false;       ///< holds for certain where the loops are written
  };
  /// Consecutive summed loops that share an accumulator for each element.
  struct Group {
    SumKind kind{};
    std::size_t first = 0;           ///< position of its first loop
    std::vector<std::size_t> inner;  ///< positions of loops of the result inside of that
    std::int64_t width = 1;          ///< elements side by side
    std::string sum_name{}, found_name{};
  };

  const TensorType& type_of(std::size_t port) const;
  DType dtype_of(std::size_t port) const { return *type_of(port).dtype(); }
  std::size_t result_port() const { return op_.operand_count() + number_; }
  bool is_summed(std::size_t loop) const;
  std::int64_t elements() const { return *type_of(result_port()).element_count(); }
  std::int64_t extent_at(std::size_t position) const {
    return form_.loops[order_[position]].extent.constant();
  }
  Dim known(Dim index) const { return dims_.substitute(index, sizes_); }

  // Preparation.
  Result<void> bind_loops();
  void order_loops(bool is_written_order);
  void find_groups();
  Result<void> bind_indices();
  std::size_t level_of_reading(std::size_t operand, std::size_t level) const;
  Result<void> bind_region();
  Result<void> bind_conditions();
  Result<void> bind_result();
  bool ends_result(const SymbolRelation& bound) const;
  bool may_clamp(Symbol symbol, Dim extent) const;
  std::string condition_text(const SymbolRelation& relation) const;

  // Places.
  Result<std::string> element(std::size_t port, std::string_view array, bool checks_conditions);
  bool is_implied(Dim extent, bool checks_conditions) const;
  void check_index(const std::string& index, std::int64_t extent, bool is_above, bool is_below);

  // Loops.
  const CSymbols::Variable& variable_at(std::size_t position) const;
  int limit_factor(const Condition& condition, const CSymbols::Variable& variable) const;
  Dim limit_of(const Condition& condition, const CSymbols::Variable& variable, int factor) const;
  using IsWanted = bool (*)(const Condition&);
  void open_loop(std::size_t position, IsWanted is_wanted);
  void open_head(std::size_t position, std::string_view begin, std::string_view end);
  void open_conditions(std::size_t level, IsWanted is_wanted);
  bool is_marked(const std::vector<std::size_t>& marks, std::size_t position) const;
  bool has_elements() const;
  void state_parallel();
  std::string full_tile_text(std::vector<std::size_t>& met) const;
  bool needs_data(Symbol symbol) const;
  void read_data(std::size_t level);
  Result<void> emit_number();

  // Results.
  void emit_start();
  void clear_marks();
  void check_marks();
  Result<void> store(std::string_view text);
  Result<void> emit_elements();
  Result<void> emit_sums();
  Result<void> emit_sums_of_tile();
  bool is_float() const;
  std::string_view sum_type(const Group& group) const;
  std::string joined(const Group& group, std::string_view a, std::string_view b) const;
  bool may_lack(LoopSum sum) const { return !has_neutral(sum) && (has_filter_ || is_empty_); }
  std::string neutral(LoopSum sum) const;
  std::string side(const Group& group, const std::string& name) const;
  void declare(Group& group, bool has_start);
  void join_number(const Group& group);
  void join(const Group& group, std::string_view number);
  void open_inner(const Group& group);
  void close_group(const Group& inner, const Group& outer);
  Result<void> store_sums();

  const Op& op_;
  IRContext& context_;
  DimTable& dims_;
  const GenericForm& form_;
  const GenericForm::Result& result_;
  std::uint32_t number_;
  const CGenericPlace& place_;
  CNames names_;
  CLines& out_;
  DimBindings sizes_;
  CSymbols symbols_;
  std::vector<CSymbols::Variable> data_;  // indices that data decides
  std::vector<bool> are_clamped_;         // those that clamping to the largest one does not change
  std::vector<std::size_t> order_;        // loops from the outermost to the innermost one
  std::size_t first_sum_ = 0;             // position of the first summed loop
  std::vector<Group> groups_;
  std::optional<CRegion> region_;
  bool has_single_terms_ = false;  // terms are Float32, or exact products of such numbers
  std::vector<Condition> conditions_;
  bool has_filter_ = false;
  bool is_empty_ = false;    // a loop has no iterations
  std::string start_;        // number that sums begin with; empty if there is none
  std::string mark_;         // array of elements that are written; empty if each is for certain
  bool is_storing_ = false;  // loops store sums, and read no indices
  std::optional<std::size_t> parallel_;  // where in the text the outermost parallel loop begins
  std::size_t parallel_position_ = 0;    // of that loop
  std::optional<Error> problem_;
};

}  // namespace mir::c
