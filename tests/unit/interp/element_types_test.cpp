// Every op of the pages' examples over every element type: fast kernels compute what reference
// kernels compute, and refuse what they refuse.
#include <fmt/format.h>

#include "../seeds.hpp"
#include "interp/summary.hpp"
#include "interp/tolerance.hpp"
#include "module_text.hpp"
#include "page_examples.hpp"
#include "type_variants.hpp"

namespace mir::test {

namespace {

/// What a run gives; none where the module or the run is refused.
std::optional<std::vector<Tensor>> outcome(const std::string& text, KernelSet kernels) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("test.mir", text);
  Diagnostics problems;
  const auto modules = read_modules(*file, context, problems);
  if (problems.has_errors() || modules.size() != 1 || !verify(*modules[0], problems))
    return std::nullopt;
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  SessionOptions options;
  options.kernels = kernels;
  options.weights = &weights;
  auto session = Session::create(*modules[0], options, problems);
  if (!session) return std::nullopt;
  RunOptions run;
  run.most_iterations = 1000;  // codes may never reach the end of a loop
  for (const char* symbol : {"S", "T", "N"}) run.dims.bind(context.intern(symbol), 4);
  run.dims.bind(context.intern("past"), 0);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < SessionAccess::schedule(*session).inputs().size(); ++i) {
    arguments.push_back(fmt::format("{}=random:{}", i, i));
  }
  const auto inputs = load_inputs(*session, arguments, run.dims);
  if (!inputs.ok()) return std::nullopt;
  return session->run(*inputs, problems, run);
}

struct Tally {
  std::size_t cases = 0, ran = 0, refused = 0;
};

void compare(const std::string& text, Tally& tally) {
  if (tally.cases++ % kCaseStride != 0) return;
  const auto expected = outcome(text, KernelSet::kRef), found = outcome(text, KernelSet::kFast);
  INFO(text);
  REQUIRE(expected.has_value() == found.has_value());
  ++(expected ? tally.ran : tally.refused);
  if (!expected) return;
  for (std::size_t i = 0; i < expected->size(); ++i) {
    Tolerance tolerance = TolerancePolicy().of((*expected)[i].dtype());
    // Fast products of codes round to the next code now and then.
    if (tolerance.exact && text.find("quant_scale") != text.npos) tolerance = {.abs = 1};
    const auto comparison = compare_tensors((*expected)[i], (*found)[i], tolerance);
    if (!comparison.ok()) {
      CHECK(hash_bytes((*expected)[i]) == hash_bytes((*found)[i]));
      continue;
    }
    CHECK_MESSAGE(comparison->passed(), render(*comparison));
  }
}

}  // namespace

TEST_CASE("every example of the pages in every element type: fast is as ref") {
  Tally tally;
  for (const PageExample& example : page_examples()) {
    for (const std::string& text : variants(example.text)) compare(text, tally);
  }
  MESSAGE(tally.ran << " ran, " << tally.refused << " were refused");
  CHECK(tally.ran > 200 / kCaseStride);
}

TEST_CASE("conversions between every two element types: fast is as ref") {
  Tally tally;
  for (const DTypeInfo& from : dtype_table()) {
    for (const DTypeInfo& to : dtype_table()) {
      compare(fmt::format("@main [mir_version:1] (%x:tensor<[2, 64], {0}, CPU>) -> "
                          "(%y:tensor<[2, 64], {1}, CPU>) {{\n"
                          "linalg.CPU.CastTypeOp [dtype:{1}] (%x:tensor<[2, 64], {0}, CPU>) -> "
                          "(%y:tensor<[2, 64], {1}, CPU>)\n"
                          "cf.ReturnOp (%y:tensor<[2, 64], {1}, CPU>) -> ()\n}}\n",
                          from.name, to.name),
              tally);
    }
  }
  CHECK(tally.ran > 200 / kCaseStride);
}

}  // namespace mir::test
