// Matching ops with a pattern, and what the pattern then makes of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/rewriter.hpp"
#include "patterns/pattern.hpp"

namespace mir::patterns {

/// An op or constant that a rewrite will make. Operands are numbers of values of the rewrite.
struct PlannedOp {
  OpName name{};
  std::vector<NamedAttr> attributes{};
  Symbol path{};
  bool has_path = false;
  std::vector<std::uint32_t> operands{}, results{};
};

/// What a rewrite will make, complete before anything is edited.
struct Plan {
  std::vector<const Type*> types;      ///< of the values of the rewrite
  std::vector<Value*> values;          ///< those that exist already; null: will be made
  std::vector<const Attr*> constants;  ///< of the values that are constants
  std::vector<PlannedOp> ops;
  std::vector<Op*> matched;            ///< the root first
  std::vector<Value*> replaced;        ///< in the order of the results
  std::vector<std::uint32_t> results;  ///< the values of the rewrite that replace them
  Op* before = nullptr;                ///< where new ops go
};

/// Why a pattern does not match, at the op that came nearest.
struct Mismatch {
  std::string reason;  ///< completes "it does not match because ..."; may name what differs
  const Op* at = nullptr;
};

/// Compares the ops around a root with a pattern. Edits nothing. With `explains`, the reasons say
/// what differs; otherwise they are not built.
std::optional<Plan> match(const Pattern& pattern, Op& root, bool explains, Mismatch& mismatch);

/// Makes what was planned, replaces the values and erases the matched ops that nothing uses.
void apply(Rewriter& rewriter, const Plan& plan);

/// The value of a template, with the variables that are bound. Null if an expression has none.
const Attr* instantiate(const AttributeTemplate& from, const Bindings& bindings,
                        IRContext& context);
/// The type of a template. Null if it has none, and for a template that takes any.
const Type* instantiate(const TypeTemplate& from, const Bindings& bindings, IRContext& context);

}  // namespace mir::patterns
