// What a shape and dtype rule sees of an op, and how it answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/type.hpp"

namespace mir {

class IRContext;
class Op;
struct OpRow;

/// What a rule is asked about. Operand types may be seen before the op exists (the builder asks for
/// result types), so everything is here and nothing is read from an Op.
struct InferRequest {
  IRContext& context;
  const OpRow& row;
  std::span<const Type* const> operands;  ///< as many as the row admits, none of them null
  std::span<const NamedAttr> attributes;
  std::size_t result_count = 1;
  Span at = {};
  std::string_view op_name = {};  ///< as messages name it; empty: the row's name
};

/// The result types that the row's rule gives, at most as many as asked for, null where the
/// declared type stands; none of them for a row without a rule. No value after the rule has
/// reported why.
[[nodiscard]] std::optional<std::vector<const Type*>> infer(const InferRequest& request,
                                                            Diagnostics& diagnostics);
/// The same of an op with these operand types and attributes; messages name it with its dialect.
[[nodiscard]] std::optional<std::vector<const Type*>> infer(const Op& op,
                                                            std::span<const Type* const> operands,
                                                            std::span<const NamedAttr> attributes,
                                                            Diagnostics& diagnostics);
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

/// Input and output of one call of an InferFn.
class InferContext {
 public:
  IRContext& context() const { return context_; }
  /// For extents of results. One that overflows is reported once the rule has given its results.
  ExtentMath& extents() { return extents_; }
  std::string_view op_name() const { return op_name_; }
  std::size_t operand_count() const { return operands_.size(); }
  std::size_t result_count() const { return result_count_; }
  /// The operand's type; reports and gives null when it is not a tensor.
  const TensorType* operand(std::size_t index);

  /// Attribute access by key; a present value of the wrong kind is reported once and gives none.
  const Attr* attribute(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key);
  std::optional<double> number(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string_view> string(std::string_view key);
  std::optional<std::vector<std::int64_t>> integers(std::string_view key);
  std::optional<std::vector<Dim>> dims(std::string_view key);

  /// Appends the type of the next result.
  void result(const Type* type) { results_.push_back(type); }
  void result(std::vector<Dim> dims, const TensorType& like);
  const std::vector<const Type*>& results() const { return results_; }

  /// Names the constraint that the checks from here on rest on, like "matmul_c3"; a report carries
  /// it. The text must outlive the context.
  void constraint(std::string_view id) { constraint_ = id; }
  /// Reports `message` at the op; always false, so rules can `return context.fail(...)`.
  bool fail(DiagCode code, std::string message);

  /// `a` with axis normalisation: [-rank, rank) to [0, rank); reports and gives none otherwise.
  std::optional<std::size_t> axis(std::int64_t value, std::size_t rank, std::string_view key);

 private:
  friend std::optional<std::vector<const Type*>> infer(const InferRequest& request,
                                                       Diagnostics& diagnostics);
  InferContext(const InferRequest& request, Diagnostics& diagnostics);
  bool has_held_extents();

  IRContext& context_;
  ExtentMath extents_;
  std::string_view op_name_;
  std::span<const Type* const> operands_;
  std::span<const NamedAttr> attributes_;
  std::size_t result_count_;
  std::string_view constraint_{};
  Span at_;
  Diagnostics& diagnostics_;
  std::vector<const Type*> results_;
};

}  // namespace mir
