// Dialect conversion: rewriting a module until no illegal op is left.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/module.hpp"
#include "mir/rewrite_patterns.hpp"

namespace mir {

enum class Legality : std::uint8_t {
  kUnknown,  ///< may remain, unless the conversion is full
  kLegal,
  kIllegal
};

/// The ops that may remain after a conversion.
class ConversionTarget {
 public:
  /// Of ops of one kind, "linalg.AddOp".
  void set(std::string kind, Legality legality);
  /// Ops of the kind are legal if the predicate is true of them, otherwise illegal.
  void set_legal_if(std::string kind, std::function<bool(const Op&)> predicate);
  /// Of the other ops of a dialect, "linalg".
  void set_dialect(std::string dialect, Legality legality);

  Legality of(const Op& op) const;

 private:
  struct KindLegality {
    Legality legality = Legality::kUnknown;
    std::function<bool(const Op&)> predicate{};
  };
  std::map<std::string, KindLegality, std::less<>> kinds_;
  std::map<std::string, Legality, std::less<>> dialects_;
};

/// Converts the types of values. Where converted and other ops meet, it inserts casts: ops with one
/// operand and one result. Casts that cancel each other are removed at the end of a conversion; the
/// target decides whether others may remain.
class TypeConverter {
 public:
  /// Returns the new type, or null if the rule does not apply.
  using Rule = std::function<const Type*(IRContext& context, const Type& type)>;

  /// `cast` is the spelling of the casts, "my.CastOp".
  explicit TypeConverter(std::string cast) : cast_(std::move(cast)) {}
  /// Later rules are tried first.
  void add(Rule rule) { rules_.push_back(std::move(rule)); }

  /// The type itself if no rule applies.
  const Type* convert(IRContext& context, const Type* type) const;
  bool is_cast(const Op& op) const;

  // For patterns.

  /// The value with its converted type: the operand of the cast that defines it, or the result of a
  /// new cast at the insertion point of the rewriter.
  Value* converted(Rewriter& rewriter, Value& value) const;
  /// Replaces the results of an op by values, which may have converted types, and erases the op.
  void replace(Rewriter& rewriter, Op& op, std::span<Value* const> values) const;
  /// Casts a value at the insertion point of the rewriter.
  Value* cast(Rewriter& rewriter, Value& value, const Type* type) const;

 private:
  std::string cast_;
  std::vector<Rule> rules_;
};

struct ConversionOptions {
  /// Null: types stay. Otherwise the inputs and outputs of the module and its graphs, and their
  /// calls, are converted.
  const TypeConverter* types = nullptr;
  bool is_full = false;       ///< ops of unknown legality are illegal
  bool checks_claims = true;  ///< check what patterns declare of themselves
};

/// Applies patterns to illegal ops of a portable module until none is left. Of several patterns
/// that match, the one with the greatest benefit is applied; its ops may be illegal in turn.
///
/// Returns false after reporting each op that stays illegal (MIR0923), with the condition that
/// failed for each of its patterns, or patterns that reach no end (MIR0922). The module is then as
/// it was: the conversion is tried on a copy first.
bool convert(Module& module, const ConversionTarget& target, const FrozenPatterns& patterns,
             const ConversionOptions& options, Diagnostics& diagnostics);

}  // namespace mir
