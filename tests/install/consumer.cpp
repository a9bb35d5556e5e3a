// A program outside the project: reads the bundled decoder, verifies and prints it, runs it, and
// compares the logits with those of the float64 evaluation.
//
//   consumer EXAMPLES_FOLDER
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/print.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "mir/weights.hpp"

namespace {

int fail(const std::string& message) {
  std::cerr << message << '\n';
  return 1;
}

int run(const mir::Module& module, const std::string& folder, mir::Diagnostics& diagnostics) {
  mir::WeightSet weights;
  if (auto added = weights.add(folder + "model.safetensors"); !added) {
    return fail(added.error().message);
  }
  auto session = mir::Session::create(module, {.entry = "", .weights = &weights}, diagnostics);
  if (!session) return 1;
  const std::vector<std::string> specs = {"ids=" + folder + "ids.npy",
                                          "positions=" + folder + "positions.npy"};
  const auto inputs = mir::load_inputs(*session, specs, {});
  if (!inputs) return fail(inputs.error().message);
  const auto outputs = session->run(*inputs, diagnostics);
  if (!outputs) return 1;
  const std::vector<std::string> expected = {folder + "expected_logits.npy"};
  const auto expectations = mir::parse_expectations(session->outputs(), expected);
  if (!expectations) return fail(expectations.error().message);
  const auto& expectation = expectations->front();
  const auto logits = mir::load_expected(session->outputs(), expectation, outputs->front());
  if (!logits) return fail(logits.error().message);
  const auto comparison = mir::compare_tensors(*logits, outputs->front(), {.abs = 1e-6, .rel = 0});
  if (!comparison) return fail(comparison.error().message);
  std::cout << comparison->elements << " logits "
            << (comparison->passed() ? "as expected" : "differ") << '\n';
  return comparison->passed() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: consumer EXAMPLES_FOLDER");
  const std::string folder = std::string(argv[1]) + "/qwen2_tiny/";
  std::ifstream stream(folder + "model.mir", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (!stream) return fail("'" + folder + "model.mir' cannot be read");

  mir::IRContext context;
  mir::register_builtin_dialects(context);
  mir::Diagnostics diagnostics;
  const mir::SourceFile* file = context.sources().add("model.mir", text);
  const auto modules = mir::read_modules(*file, context, diagnostics);
  int status = 1;
  if (!diagnostics.has_errors() && mir::verify(*modules.front(), diagnostics)) {
    const bool same = mir::print(*modules.front()) == text;
    std::cout << "prints " << (same ? "the text it read" : "another text") << '\n';
    status = same ? run(*modules.front(), folder, diagnostics) : 1;
  }
  std::cerr << mir::render(diagnostics, context.sources(), {});
  return status;
}
