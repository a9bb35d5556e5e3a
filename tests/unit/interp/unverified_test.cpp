// What --no-verify lets through: reading, showing and running end without a crash.
#include <doctest/doctest.h>

#include <charconv>
#include <random>
#include <string>
#include <vector>

#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "defects.hpp"
#include "interp/describe.hpp"
#include "interp/session_access.hpp"
#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/session.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "text/emit/emit.hpp"

namespace mir::test {

namespace {

using Form = GeneratorOptions::Form;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' ||
         c == '%' || c == '@';
}

struct Word {
  std::size_t at, size;
};

/// The words of a text but for large numbers, with which a run would only take long.
std::vector<Word> words_of(const std::string& text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    std::uint64_t number = 0;
    std::from_chars(text.data() + at, text.data() + end, number);
    if (end != at && number <= 64) words.push_back({at, end - at});
    at = std::max(end, at + 1);
  }
  return words;
}

/// Replaces words by others of the text and leaves lines out.
std::string mutate(std::string text, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (std::uint64_t n = 1 + engine() % 4; n != 0; --n) {
    const std::vector<Word> words = words_of(text);
    const Word to = words[engine() % words.size()], from = words[engine() % words.size()];
    if (engine() % 8 != 0) {
      text.replace(to.at, to.size, text.substr(from.at, from.size));
      continue;
    }
    const std::size_t begin = text.rfind('\n', to.at) + 1;
    text.erase(begin, text.find('\n', to.at) + 1 - begin);
  }
  return text;
}

/// Patch embeddings are generated as large as models have them: too large to run in a test.
double parameter_elements(Module& module) {
  double count = 0;
  walk<RegisterOp>(module, [&](RegisterOp op) {
    const auto* type = op.value() == nullptr ? nullptr : op.value()->tensor_type();
    if (type != nullptr) count += static_cast<double>(type->element_count().value_or(0));
  });
  return count;
}

/// Runs the module as it is; false where something in it is refused.
bool run_unverified(Module& module) {
  if (parameter_elements(module) > 1e6) return false;
  Diagnostics problems;
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  auto session = Session::create(module, {.entry = {}, .weights = &weights}, problems);
  if (!session) {
    CHECK(problems.has_errors());
    return false;
  }
  RunOptions options;
  options.memory_limit = 1 << 21;
  for (const char* symbol : {"A", "B", "N", "S", "T"}) {
    options.dims.bind(module.context().intern(symbol), 2);
  }
  options.dims.bind(module.context().intern("past"), 0);
  CHECK_FALSE(render(describe(SessionAccess::schedule(*session), options.dims)).empty());
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < SessionAccess::schedule(*session).inputs().size(); ++i) {
    arguments.push_back(std::to_string(i) + "=random:" + std::to_string(i));
  }
  const auto inputs = load_inputs(*session, arguments, options.dims);
  if (!inputs) return false;
  const bool ran = session->run(*inputs, problems, options).has_value();
  CHECK(ran != problems.has_errors());
  return ran;
}

struct Counts {
  std::size_t resolved = 0;  // texts that mean something to the reader
  std::size_t refused = 0;   // of these, what would not have been verified
  std::size_t ran = 0;       // of these again, what ran all the same
};

/// Whatever parses is shown in every form, and run where it has no error before verification.
void use_unverified(const std::string& text, Counts& counts) {
  CAPTURE(text);
  Reading reading(text);
  for (const auto emit : {emit_json, emit_stats, emit_quant, emit_quant_csv}) {
    (void)emit(reading.modules);
  }
  for (const auto emit : {emit_dot, emit_mermaid}) (void)emit(picture_of(reading.modules, {}));
  for (const Module* module : reading.modules) (void)print(*module);
  if (reading.diagnostics.has_errors()) return;
  ++counts.resolved;
  for (Module* module : reading.modules) {
    Diagnostics findings;
    const bool sound = verify(*module, findings);
    counts.refused += !sound;
    LossReport losses;
    Diagnostics lost;
    if (!module->is_portable() && !upgrade(*module, {}, losses, lost)) continue;
    counts.ran += run_unverified(*module) && !sound;
  }
}

}  // namespace

TEST_SUITE("unverified") {
  TEST_CASE("generated modules with planted defects are shown and run without verification") {
    Counts counts;
    for (const Defect& defect : defects()) {
      CAPTURE(defect.name);
      for (std::uint64_t seed = 1; seed <= (kIsSanitized ? 2 : 4); ++seed) {
        CAPTURE(seed);
        if (const auto planted = plant(defect, seed)) use_unverified(planted->text, counts);
      }
    }
    CHECK(counts.resolved > 60);
    CHECK(counts.refused > 50);
    CHECK(counts.ran > 0);
  }

  TEST_CASE("mutations of generated modules are shown and run without verification") {
    Counts counts;
    for (const Form form : {Form::kPortable, Form::kDump, Form::kProgram}) {
      for (std::uint64_t seed = 1; seed <= 80; ++seed) {
        CAPTURE(static_cast<int>(form));
        CAPTURE(seed);
        use_unverified(
            mutate(
                generate_module(
                    {.seed = seed, .form = form, .graphs = 1, .ops = 3, .symbolic = seed % 2 == 0}),
                seed),
            counts);
      }
    }
    CHECK(counts.resolved > 20);
    CHECK(counts.refused > 8);
  }
}

}  // namespace mir::test
