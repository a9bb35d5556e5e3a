// Rules as text: an op in, result types or a diagnostic out.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/extent_walk.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/dialects.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"

namespace mir::testing {

/// The one op of a text, and what its rule says.
struct Inference {
  std::vector<std::string> declared;  ///< spellings of the result types in the text
  std::vector<std::string> inferred;  ///< of the rule
  std::string error;                  ///< "500 'AddOp' takes ..."; empty: none
  std::string constraint;             ///< that the error names: "binary_c3"
  std::size_t errors = 0;
};

/// The type of result `i` without what only a run finds out.
inline const Type* type_before_run(const Op& op, std::size_t i) {
  const Type* type = op.result(static_cast<std::uint32_t>(i))->type();
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return type;
  std::vector<Symbol> found;
  for_each_symbol_found_out(op, [&](Symbol symbol) { found.push_back(symbol); });
  IRContext& context = op.module().context();
  std::vector<Dim> extents;
  for (const Dim extent : tensor->dims()) {
    const auto all = context.dims().symbols(extent);
    const bool is_open = std::ranges::any_of(
        all, [&](Symbol symbol) { return std::ranges::find(found, symbol) != found.end(); });
    extents.push_back(is_open ? Dim::unknown() : extent);
  }
  return context.tensor(extents, tensor->dtype_name(), tensor->device(), tensor->encoding());
}

inline Inference infer_line(const std::string& line) {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  const SourceFile* file = context.sources().add("test", "@main () -> () {\n" + line + "\n}\n");
  REQUIRE(file != nullptr);
  const auto modules = read_modules(*file, context, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.sorted()) MESSAGE(diagnostic.message);
  REQUIRE_FALSE(diagnostics.has_errors());
  REQUIRE(modules.size() == 1);
  Op* op = modules.front()->body().entry()->front();
  REQUIRE(op != nullptr);
  const OpRow* row = op->row();
  REQUIRE(row != nullptr);
  REQUIRE((row->infer != nullptr));
  REQUIRE(row->operands.admits(op->operand_count()));

  Inference answer;
  for (std::size_t i = 0; i < op->result_count(); ++i) {
    answer.declared.emplace_back(type_before_run(*op, i)->spelling());
  }
  const auto types = infer({.context = context,
                            .row = *row,
                            .operands = operand_types(*op),
                            .attributes = op->attributes(),
                            .result_count = op->result_count()},
                           diagnostics);
  CHECK(types.has_value() == !diagnostics.has_errors());
  if (types) {
    for (const Type* type : *types) answer.inferred.emplace_back(type->spelling());
  } else {
    const Diagnostic first = diagnostics.sorted().front();
    answer.errors = diagnostics.error_count();
    // What no constraint says is said of every op: kinds of attributes, operands that are tensors.
    const bool general = first.code == diag::kAttributeKind ||
                         first.code == diag::kAttributeMissing || first.code == diag::kNotATensor ||
                         first.code == diag::kExtentOverflow;
    // The pages of these do not say that they take numbers.
    const bool is_unstated =
        first.message.ends_with("takes numbers as operand 0, found Bool") &&
        (op->is(OpId::kLinalgAbs) || op->is(OpId::kLinalgArgsort) || op->is(OpId::kLinalgTopK));
    CHECK(first.constraint.empty() == (general || is_unstated));
    CHECK((first.constraint.empty() || first.constraint.find(": docs/ops/") != std::string::npos));
    answer.constraint = first.constraint.substr(0, first.constraint.find(':'));
    answer.error = std::to_string(static_cast<int>(first.code)) + " " + first.message;
  }
  return answer;
}

/// "[2, 3]" or "Int64 [2, 3]" as a tensor type.
inline std::string type_text(const std::string& shape) {
  const auto space = shape.find(' ');
  const bool named = shape.front() != '[';
  const std::string dtype = named ? shape.substr(0, space) : "Float32";
  return "tensor<" + (named ? shape.substr(space + 1) : shape) + ", " + dtype + ", CPU>";
}

/// The inverse, several separated by "; ".
inline std::string shape_text(const std::vector<std::string>& types) {
  std::string text;
  for (const std::string& type : types) {
    if (!text.empty()) text += "; ";
    const auto open = type.find('['), close = type.rfind(']');
    const auto dtype = type.substr(close + 3, type.find(',', close + 3) - close - 3);
    if (dtype != "Float32") text += dtype + " ";
    text += type.substr(open, close - open + 1);
  }
  return text;
}

struct Case {
  const char* op;
  const char* attributes;  ///< "dim:1, keep_dim:true"
  std::vector<std::string> operands;
  std::string expected;  ///< shapes as shape_text gives them, or a code and the start of a message
  std::size_t results = 1;
};

/// The op of a case as text.
inline std::string line_of(const Case& test) {
  std::string line = "linalg.CPU." + std::string(test.op);
  const std::string attributes = test.attributes;
  line += attributes.empty() ? "(" : " [" + attributes + "] (";
  std::size_t number = 0;
  const auto append_value = [&](const std::string& shape) {
    if (line.back() != '(') line += ", ";
    line += "%" + std::to_string(number++) + ":" + type_text(shape);
  };
  for (const std::string& shape : test.operands) append_value(shape);
  line += ") -> (";
  for (std::size_t i = 0; i < test.results; ++i) append_value("[7]");
  line += ")";
  return line;
}

inline void check(const Case& test) {
  const std::string line = line_of(test);
  CAPTURE(line);
  const Inference answer = infer_line(line);
  CHECK(answer.errors <= 1);
  const std::string found = answer.error.empty() ? shape_text(answer.inferred) : answer.error;
  CHECK(found.substr(0, answer.error.empty() ? found.size() : test.expected.size()) ==
        test.expected);
}

inline void check_all(const std::vector<Case>& tests) {
  for (const Case& test : tests) check(test);
}

}  // namespace mir::testing
