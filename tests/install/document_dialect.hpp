// The dialect of docs/ir.md, for the test of the document and for a program outside the project.
#pragma once

#include <string>

#include "mir/diagnostic.hpp"
#include "mir/dialects.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"

namespace document_dialect {

using namespace mir;

// example [rows]
constexpr AttrRow kScaleAttributes[] = {
    {.name = "factor", .type = AttrType::kFloat, .required = true, .summary = "multiplies x"},
};
inline bool infer_scale(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  op.result(x);
  return true;
}
constexpr OpRow kMyRows[] = {
    {.name = "ScaleOp",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kElementwise,
     .attributes = kScaleAttributes,
     .infer = infer_scale,
     .summary = "x times a factor.",
     .example = "my.ScaleOp () -> ()"},
};
constexpr Dialect kMyDialect{.name = "my", .rows = kMyRows, .summary = "What I need."};

class ScaleOp : public OpView {
 public:
  using OpView::OpView;
  static bool classof(const Op* op) { return op->name() == "my.ScaleOp"; }
  double factor() const { return op()->attribute("factor")->number(); }
};
// end

struct Outcome {
  bool is_registered = false;
  std::string problems;
  std::string result_type;
  double factor = 0;
};

inline Outcome run(IRContext& context) {
  // example [dialect]
  Result<void> registered = context.register_dialect(kMyDialect);
  const SourceFile* file =
      context.sources().add("my.mir",
                            "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\n"
                            "    my.ScaleOp (%x) -> (%y)[factor:0.5]\n"
                            "    cf.ReturnOp () -> ()\n"
                            "}\n");
  Diagnostics diagnostics;
  Module& module = *read_modules(*file, context, diagnostics).front();
  verify(module, diagnostics);
  Rewriter rewriter(module);
  walk<ScaleOp>(module, [&](ScaleOp scale) {
    if (scale.factor() == 1.0) rewriter.erase(*scale.op());
  });
  // end
  Op* scale = module.body().entry()->front();
  return {.is_registered = registered.ok(),
          .problems = render(diagnostics, context.sources(), {.format = DiagnosticFormat::kLine}),
          .result_type = std::string(scale->result()->type()->spelling()),
          .factor = ScaleOp(scale).factor()};
}

}  // namespace document_dialect
