// The head of an op that is being typed, and the operand that is wanted there.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lsp/features.hpp"

namespace mir::lsp {

/// The words of an op from its name to its body, to the next op or to what cannot be read.
struct OpHead {
  std::vector<std::string_view> operands;  ///< names without `%`; empty where none is typed yet
  std::vector<std::string_view> keys;      ///< of its attributes, but the one at the place
  std::string_view symbol{};               ///< without `@`
};

/// Reads the head of the op whose name begins at `op`. `at` is the place that is typed at.
OpHead head_of(const View& view, SourcePos op, SourcePos at);

/// Returns the type that a text, or the name of an alias, denotes; null if it cannot be read.
const Type* read_type(const View& view, std::string_view text);

/// Tells which values an op can take as one of its operands.
class OperandFit {
 public:
  /// `index` is the operand's position among those of the op, whose name is `op`.
  OperandFit(const View& view, std::string_view op, const OpHead& head, std::uint32_t index);

  /// True if the op can take a value of this type there, as far as its row and its other operands
  /// tell.
  bool admits(const Type* type);
  /// True if only values of one type fit, which the op states.
  bool is_exact() const { return exact_ != nullptr; }

 private:
  void use_callee(const OpHead& head, std::uint32_t index);

  const View& view_;
  const OpRow* row_;
  Symbol device_{};
  std::uint32_t index_;
  std::vector<const Type*> operands_;  // types; of the one at the place: null
  bool is_known_ = false;              // the other operands
  const Type* exact_ = nullptr;
};

}  // namespace mir::lsp
