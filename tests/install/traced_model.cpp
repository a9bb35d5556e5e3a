// A program outside the project: a model written in C++, traced into a module, and computed at
// once.
//
//   traced_model TEXT
//
// Writes the module to the file TEXT.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/dialects.hpp"
#include "mir/print.hpp"
#include "mir/session.hpp"
#include "mir/trace.hpp"
#include "mir/weights.hpp"

using namespace mir::trace;

/// Scales x until its largest element is at most 1, then applies a small network.
void model(Tracer& tracer) {
  const Var x = tracer.input("x", {tracer.symbol("N"), 8});
  const Var small = while_loop(
      {x}, [](const Vars& of) { return reduce_max(of[0].view({-1}), 0) > 1.0; },
      [](const Vars& of) { return Vars{of[0] / 2.0}; })[0];
  const Var y = Graph("mlp")({small}, [](const Vars& in) {
    const Var normed = RMSNorm("norm")(in[0]);
    return Linear("down", 8)(silu(Linear("gate", 16)(normed)) * Linear("up", 16)(normed));
  });
  tracer.output("y", y + small);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mir::IRContext context;
  mir::register_builtin_dialects(context);
  mir::Diagnostics diagnostics;
  mir::WeightSet weights;
  auto x = mir::Tensor::allocate(mir::DType::kFloat32, {3, 8});
  if (!x || !weights.add("random:1")) return 1;
  std::ranges::fill(x->as_mutable<float>(), 5.0F);

  mir::Module* const module = trace_module(context, "main", model, diagnostics);
  if (module != nullptr) {
    std::ofstream(argv[1]) << mir::print(*module);
    auto session = mir::Session::create(*module, {.entry = "", .weights = &weights}, diagnostics);
    const auto traced = session ? session->run({&*x, 1}, diagnostics) : std::nullopt;
    EagerRun eager(context, weights);
    const auto at_once = eager.run(model, {{"x", *x}}, diagnostics);
    if (traced && at_once) {
      const bool is_equal = std::ranges::equal(traced->front().bytes(), at_once->at("y").bytes());
      std::cout << (is_equal ? "equal bits" : "other bits") << '\n';
    }
  }
  std::cerr << mir::render(diagnostics, context.sources(), {});
  return diagnostics.has_errors() ? 1 : 0;
}
