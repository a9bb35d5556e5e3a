// What the functions of a row see of an op or type, and how they answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/type.hpp"

namespace mir {

class ExtentProver;
enum class ExtentRelation : std::uint8_t;

// Result types: OpRow::infer.

/// An op whose result types are asked for. It need not exist: the builder asks before it makes one.
struct InferRequest {
  IRContext& context;
  const OpRow& row;
  std::span<const Type* const> operands;  ///< as many as the row admits, none of them null
  std::span<const NamedAttr> attributes{};
  std::size_t result_count = 1;
  Span at = {};                   ///< of the op's name
  std::string_view op_name = {};  ///< as messages name it; empty: the row's name
  Symbol device = {};             ///< of the op's name; empty: the CPU
  /// The op of a call of may_refuse(), which reads constants among its operands. Null otherwise.
  const Op* op = nullptr;
  /// Proves conditions on extents for all values that the module declares for its symbols. Null:
  /// it declares none, and only equal expressions are equal.
  ExtentProver* prover = nullptr;
};

/// Returns the result types that the row's rule gives: at most as many as asked for, null for a
/// result that keeps its declared type, none for a row without a rule. No value after the rule has
/// reported why it refuses the op.
[[nodiscard]] std::optional<std::vector<const Type*>> infer(const InferRequest& request,
                                                            Diagnostics& diagnostics);
/// The same for an op, with these operand types and attributes; messages name it with its dialect.
[[nodiscard]] std::optional<std::vector<const Type*>> infer(const Op& op,
                                                            std::span<const Type* const> operands,
                                                            std::span<const NamedAttr> attributes,
                                                            Diagnostics& diagnostics);
/// True if a run may stop at the op because of what its operands hold or because of their extents:
/// its rule has a condition that types, declared symbols and constants leave open, or a result has
/// other extents than the rule gives. Assumed if the row has Trait::kMayRefuse and its rule states
/// no condition, and if there is no rule and an extent is not a number. Missing memory, parameters
/// and kernels do not count.
bool may_refuse(const Op& op);
/// The types of the operands that no successor takes.
std::vector<const Type*> operand_types(const Op& op);

/// Arithmetic of extents in a rule: that of DimTable, which remembers whether two known extents
/// gave one that cannot be held.
class ExtentMath {
 public:
  explicit ExtentMath(DimTable& table) : table_(table) {}

  Dim add(Dim a, Dim b) { return noted(a, b, table_.add(a, b)); }
  Dim subtract(Dim a, Dim b) { return noted(a, b, table_.subtract(a, b)); }
  Dim multiply(Dim a, Dim b) { return noted(a, b, table_.multiply(a, b)); }
  Dim floor_divide(Dim a, Dim b) {
    return b == Dim() ? Dim::unknown() : noted(a, b, table_.floor_divide(a, b));
  }
  bool has_overflowed() const { return has_overflowed_; }

 private:
  Dim noted(Dim a, Dim b, Dim result) {
    has_overflowed_ |= result.is_unknown() && !a.is_unknown() && !b.is_unknown();
    return result;
  }

  DimTable& table_;
  bool has_overflowed_ = false;
};

/// Input and output of one call of an OpRow::infer. Arity has been checked before.
class InferContext {
 public:
  IRContext& context() const { return context_; }
  /// The row whose rule is called.
  const OpRow& row() const { return row_; }
  /// For extents of results. One that overflows is reported once the rule has given its results.
  ExtentMath& extents() { return extents_; }
  std::string_view op_name() const { return op_name_; }
  /// The device in the op's name, for results that no operand tells the device of.
  Symbol device() const { return device_; }
  std::size_t operand_count() const { return operands_.size(); }
  std::size_t result_count() const { return result_count_; }
  /// The operand's type, which may be null only in a module with errors.
  const Type* operand_type(std::size_t index) const { return operands_[index]; }
  /// The operand's type; null after reporting that it is not a tensor.
  const TensorType* operand(std::size_t index);

  /// The value of an attribute; null if the op does not state it.
  const Attr* attribute(KeyRef key) const;
  /// The value of an attribute as what it must be; no value if the op does not state it, or after
  /// reporting that it is something else.
  std::optional<std::int64_t> integer(KeyRef key);
  std::optional<double> number(KeyRef key);
  std::optional<bool> boolean(KeyRef key);
  std::optional<std::string_view> string(KeyRef key);
  std::optional<std::vector<std::int64_t>> integers(KeyRef key);
  std::optional<std::vector<Dim>> dims(KeyRef key);

  /// Appends the type of the next result.
  void result(const Type* type) { results_.push_back(type); }
  /// A tensor with these extents, and element type, device and encoding of `like`.
  void result(std::vector<Dim> dims, const TensorType& like);
  const std::vector<const Type*>& results() const { return results_; }

  /// Null: the module declares no symbols.
  ExtentProver* prover() const { return prover_; }
  /// True if the extents are equal for all declared values of their symbols, or one is unknown.
  bool agree(Dim a, Dim b);
  /// The extent that both broadcast to for all declared values of their symbols; no value if they
  /// do not.
  std::optional<Dim> broadcast(Dim a, Dim b);
  /// True if `from` broadcasts to `to` for all declared values of their symbols.
  bool broadcasts_to(Dim from, Dim to);
  /// True if `divisor` divides `extent` for all declared values of their symbols. In a module that
  /// declares none: for all values that are not 0.
  bool divides(Dim divisor, Dim extent);
  /// False if `divisor` does not divide `extent` for some values of their symbols. True if it
  /// always does or nothing is known, so that the run must check it.
  bool may_divide(Dim divisor, Dim extent);
  /// False if the extent is less than `least` for some values of their symbols; otherwise as
  /// may_divide().
  bool may_be_at_least(Dim extent, Dim least);

  // Conditions that only a run checks. They refuse no op; only may_refuse() reads them.
  /// The run checks a condition that has no function here.
  void leave_open() { is_open_ = true; }
  /// The run refuses an extent less than `least`.
  void run_needs_at_least(Dim extent, Dim least);
  /// The run refuses extents that differ.
  void run_needs_equal(Dim a, Dim b);
  /// The run refuses integers in operand `index` that are not below `extent`, and negative ones
  /// unless they count `from_end`.
  void run_needs_indices(std::size_t index, Dim extent, bool from_end);

  /// Names the constraint that the next checks enforce, like "matmul_c3"; a report cites it. The
  /// text must outlive the call.
  void constraint(std::string_view id) {
    constraint_ = id;
    counterexample_.clear();
  }
  /// Reports `message` at the op and returns false, so that rules can `return op.fail(...)`.
  bool fail(DiagCode code, std::string message);
  /// Reports `message` at the value of attribute `key`, or at the op if the text there has no such
  /// attribute, and returns false.
  bool fail_at(KeyRef key, DiagCode code, std::string message);

  /// The axis that `value` of attribute `key` selects, from [-rank, rank) to [0, rank); no value
  /// after reporting that it is outside.
  std::optional<std::size_t> axis(std::int64_t value, std::size_t rank, KeyRef key);

 private:
  friend std::optional<std::vector<const Type*>> infer(const InferRequest& request,
                                                       Diagnostics& diagnostics);
  friend bool may_refuse(const Op& op);
  std::optional<std::vector<const Type*>> run();
  InferContext(const InferRequest& request, Diagnostics& diagnostics);
  bool has_held_extents();
  bool fail_in(Span at, DiagCode code, std::string message);
  bool is_proved(ExtentRelation relation, Dim a, Dim b);
  bool may_hold(ExtentRelation relation, Dim a, Dim b);
  /// Notes a condition that holds as far as is known; true.
  bool is_assumed() { return is_open_ = true; }
  bool is_assumed_of(Dim a, Dim b) {
    is_open_ = is_open_ || a.is_unknown() || b.is_unknown();
    return true;
  }

  IRContext& context_;
  const OpRow& row_;
  const Op* op_;
  ExtentMath extents_;
  std::string_view op_name_;
  Symbol device_;
  std::span<const Type* const> operands_;
  std::span<const NamedAttr> attributes_;
  std::size_t result_count_;
  std::string_view constraint_{};
  ExtentProver* prover_;
  std::string counterexample_{};  // of the relation that was refuted last
  Span at_;
  Diagnostics& diagnostics_;
  std::vector<const Type*> results_;
  bool is_open_ = false;        // a run checks a condition
  bool states_checks_ = false;  // of those that Trait::kMayRefuse announces
};

// Constraints of ops: OpRow::verify.

/// Input of one call of an OpRow::verify. Arity, attributes and types of the op have been checked
/// before, and are what the row states.
class VerifyContext {
 public:
  /// The op must have a row.
  VerifyContext(const Op& op, Diagnostics& diagnostics);

  const Op& op() const { return op_; }
  IRContext& context() const;
  /// The row whose function is called.
  const OpRow& row() const { return *op_.row(); }
  /// The value of an attribute; null if the op does not state it.
  const Attr* attribute(std::string_view key) const { return op_.attribute(key); }
  /// Reports `message` at the op and returns false.
  bool fail(DiagCode code, std::string message);
  /// Reports `message` at another place, such as an op in a region. The reference is valid until
  /// the next report.
  Diagnostic& report(DiagCode code, Span at, std::string message);

 private:
  const Op& op_;
  Diagnostics& diagnostics_;
};

/// Calls the function of the op's row, if it has one; false after it has reported.
bool verify_by_row(const Op& op, Diagnostics& diagnostics);

}  // namespace mir
