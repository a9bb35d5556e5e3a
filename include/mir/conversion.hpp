// Dialect conversion: rewriting a module until no illegal op is left.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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
  /// Ops of no kind and no dialect of those are legal if the predicate is true of them, otherwise
  /// illegal.
  void set_others_legal_if(std::function<bool(const Op&)> predicate) {
    others_ = std::move(predicate);
  }
  /// Leaves what is inside the ops for which the predicate is true as it is.
  void set_closed_if(std::function<bool(const Op&)> predicate) {
    is_closed_ = std::move(predicate);
  }

  Legality of(const Op& op) const;
  bool is_closed(const Op& op) const { return is_closed_ && is_closed_(op); }

 private:
  struct KindLegality {
    Legality legality = Legality::kUnknown;
    std::function<bool(const Op&)> predicate{};
  };
  /// No value if the target does not name the dialect.
  std::optional<Legality> of_dialect(std::string_view kind) const;

  std::map<std::string, KindLegality, std::less<>> kinds_;
  std::map<std::string, Legality, std::less<>> dialects_;
  std::function<bool(const Op&)> others_, is_closed_;
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

/// The decision of a conversion on an illegal op.
struct ConversionStep {
  const Op& op;
  const RewritePattern* pattern = nullptr;  ///< that replaces the op; null: it stays illegal
  /// The patterns that were tried before, and why each does not match.
  std::span<const PatternMismatch> mismatches;
};

/// Receives each decision, in the order of the conversion, before the module is edited.
using ExplainConversion = std::function<void(const ConversionStep&)>;

struct ConversionOptions {
  /// Null: types stay. Otherwise the inputs and outputs of the module and its graphs, and their
  /// calls, are converted.
  const TypeConverter* types = nullptr;
  bool is_full = false;  ///< ops of unknown legality are illegal
  /// Each op is rewritten once, and no match depends on another rewrite. Then every illegal op is
  /// matched before the first edit, and no copy is needed.
  bool is_one_step = false;
  bool only_checks = false;   ///< report what stays illegal, and edit nothing
  bool checks_claims = true;  ///< check what patterns declare of themselves
  ExplainConversion explain{};
  /// Reports an op that stays illegal. By default MIR0923 with a note for each pattern.
  std::function<void(const Op&, std::span<const PatternMismatch>)> refuse{};
};

/// Applies patterns to illegal ops until none is left. Of several patterns that match, the one with
/// the greatest benefit is applied; its ops may be illegal in turn.
///
/// Returns false after reporting each op that stays illegal, with the condition that failed for
/// each of its patterns, or patterns that reach no end (MIR0922). The module is then as it was: the
/// conversion is tried on a copy first. In one step, a pattern that breaks its declaration
/// (MIR0921) leaves a module that must not be used further.
bool convert(Module& module, const ConversionTarget& target, const FrozenPatterns& patterns,
             const ConversionOptions& options, Diagnostics& diagnostics);

}  // namespace mir
