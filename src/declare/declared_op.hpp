// An op that a text declares: its signatures and what they mean. docs/dialects.md describes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/body_trial.hpp"
#include "ir/extent_prover.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/infer.hpp"
#include "mir/rewriter.hpp"
#include "patterns/plan_graph.hpp"
#include "patterns/template.hpp"

namespace mir::declare {

/// An operand or a result of a signature.
struct Part {
  std::string name{};  ///< without `%`
  patterns::TypeTemplate type{};
  std::string_view type_text{};  ///< as it is written; of the context
  bool is_optional = false;
  bool is_many = false;
};

/// One region of a declaration: the operands and results of an op, and its body if it has one.
struct Signature {
  std::vector<Part> operands{}, results{};
  std::vector<std::pair<std::uint32_t, patterns::Expression>> lets{};
  std::vector<patterns::Condition> conditions{};
  patterns::GraphTemplate body{};  ///< its inputs are the operands
  bool has_body = false;

  std::size_t least() const;
  /// True if an op may have so many operands.
  bool admits(std::size_t operand_count) const;
  /// How many of so many operands each part has.
  std::vector<std::uint32_t> operand_counts(std::size_t operand_count) const;
  /// How many of so many results each part has; of fewer results than required, one each.
  std::vector<std::uint32_t> result_counts(std::size_t result_count) const;
};

/// The text in which each variable, `$n` or `$n..`, is its value if `value_of` gives one.
std::string fill(std::string_view text,
                 const std::function<const Attr*(std::string_view variable)>& value_of);

/// Returns the value that the variable of an attribute has: the stated one, or the default if that
/// is null. An element type has its canonical name. Returns null if there is no value.
const Attr* value_of_variable(const AttrRow& row, const Attr* stated, IRContext& context);

/// Extents of a parameter that an op owns, with variables.
struct WeightShape {
  struct Extent {
    std::string word{};                                ///< "out_channels"; empty: an expression
    std::optional<patterns::Expression> expression{};  ///< no value: the word has a meaning
  };
  std::string suffix{};  ///< ".weight"
  std::vector<Extent> extents{};
};

struct DeclaredOp {
  std::string name{};                    ///< "moe.RouteOp"
  std::vector<std::string> variables{};  ///< "$n", "T"
  /// The variables that attributes bind, in the order of the rows.
  std::vector<std::optional<std::uint32_t>> attribute_variables{};
  std::optional<std::uint32_t> path_variable{};  ///< `$name`: the name of the op at hand
  std::vector<Signature> signatures{};
  std::vector<WeightShape> weights{};    ///< those with variables
  std::vector<std::uint32_t> lengths{};  ///< variables that are lengths of caches
  bool lists_weights = false;            ///< it states `weights`, so the body has no others
  bool is_layer = false;                 ///< see OpRow

  /// The signature of ops with so many operands; null if there is none.
  const Signature* signature_for(std::size_t operand_count) const;
  /// A text in which each `$n` is what it is bound to.
  std::string filled(std::string_view text, const patterns::Bindings& bindings) const;
};

/// An op as its declaration sees it.
struct OpFacts {
  IRContext& context;
  const OpRow& row;
  std::span<const Type* const> operands;
  std::span<const NamedAttr> attributes;
  std::string_view path{};
  ExtentProver* prover = nullptr;  ///< null: the module declares no symbols
};

/// Why an op does not fit its declaration.
struct Refusal {
  DiagCode code{};
  std::string message{};
};

/// The variables of the signature for an op. No value after setting `refusal`.
std::optional<patterns::Bindings> bind(const DeclaredOp& declared, const Signature& signature,
                                       const OpFacts& op, Refusal& refusal);
/// The result types of an op with so many results; null where an op states it itself.
std::vector<const Type*> result_types(const Signature& signature, const OpFacts& op,
                                      const patterns::Bindings& bindings, std::size_t count);

/// Ops that a body creates for one op.
struct BodyPlan {
  patterns::GraphPlan plan{};
  std::vector<std::uint32_t> inputs{};   ///< the value of each operand
  std::vector<std::uint32_t> results{};  ///< the value of each result
  std::optional<patterns::GraphTemplate>
      unfolded{};  ///< the body for this op, if it is another one
};
/// Plans the body for an op. Returns false after setting the fault of the trial if the op has no
/// body, or one that does not verify or does not give the stated types.
bool plan_body(const DeclaredOp& declared, const Signature& signature, const OpFacts& op,
               const patterns::Bindings& bindings, std::size_t result_count, BodyPlan& made,
               BodyTrial& trial);
/// Tries the body of an op that need not exist, and those of the ops in it. Returns false after
/// setting the fault of the trial.
bool try_body(const DeclaredOp& declared, const InferRequest& op, BodyTrial& trial);
/// Tries the bodies of planned ops. Returns false after setting the fault of the trial.
bool try_bodies_of(const BodyPlan& made, const DeclaredOp& declared, ExtentProver* prover,
                   IRContext& context, BodyTrial& trial);

/// The rule of a row.
bool infer_by_signature(const DeclaredOp& declared, InferContext& op);
/// False after reporting that the body does not verify for this op. Whatever its signature refuses
/// is reported elsewhere; an op without a body is right.
bool verify_body(const DeclaredOp& declared, VerifyContext& op);
/// The extents of a parameter of a row.
std::optional<std::vector<Dim>> weight_dims(const DeclaredOp& declared, const InferRequest& op,
                                            const WeightRow& weight);
/// The body of a row.
std::optional<std::vector<Value*>> make_body(const DeclaredOp& declared, const Op& op,
                                             std::span<Value* const> operands, Rewriter& rewriter,
                                             Diagnostics& diagnostics);

}  // namespace mir::declare
