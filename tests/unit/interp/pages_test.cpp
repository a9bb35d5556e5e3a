// The examples of docs/ops/*.md, run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "interp/summary.hpp"
#include "interp/tolerance.hpp"
#include "mir/session.hpp"
#include "module_text.hpp"
#include "page_examples.hpp"

namespace mir::test {

namespace {

/// Runs the module on random inputs with these extents for all symbols that pages use.
std::vector<Tensor> run_with_extents(const std::string& text, std::int64_t extent,
                                     const SessionOptions& kernels = {}) {
  Runner runner(text, kernels);
  RunOptions options;
  for (const char* symbol : {"S", "T", "N"}) {
    options.dims.bind(runner.context().intern(symbol), extent);
  }
  options.dims.bind(runner.context().intern("past"), 0);
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < runner.schedule().inputs().size(); ++i) {
    arguments.push_back(std::to_string(i) + "=random:" + std::to_string(i));
  }
  const auto inputs = load_inputs(runner.session(), arguments, options.dims);
  if (!inputs.ok()) MESSAGE(inputs.error().message);
  REQUIRE(inputs);
  return runner.run(*inputs, options);
}

}  // namespace

TEST_CASE("the examples of the pages run") {
  std::size_t ran = 0;
  for (const PageExample& example : page_examples()) {
    const std::string& text = example.text;
    CAPTURE(example.page);
    for (const std::int64_t extent : {4, 7}) {
      for (const Tensor& output : run_with_extents(text, extent)) CHECK(output.defined());
    }
    ++ran;
  }
  CHECK(ran >= 13);
}

TEST_CASE("the examples of the pages give the same bits at every instruction set") {
  for (const PageExample& example : page_examples()) {
    const std::string& text = example.text;
    CAPTURE(example.page);
    const auto wanted = run_with_extents(text, 4);
    for (const IsaLevel level : isa_levels()) {
      if (level > detected_isa_level()) break;
      SessionOptions options;
      options.isa = level;
      const auto found = run_with_extents(text, 4, options);
      REQUIRE(found.size() == wanted.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(hash_bytes(found[i]) == hash_bytes(wanted[i]));
      }
    }
  }
}

TEST_CASE("fast kernels agree with reference kernels on the examples of the pages") {
  SessionOptions fast;
  fast.kernels = KernelSet::kFast;
  for (const PageExample& example : page_examples()) {
    const std::string& text = example.text;
    for (const std::int64_t extent : {4, 7}) {
      CAPTURE(example.page);
      CAPTURE(extent);
      const auto expected = run_with_extents(text, extent);
      std::vector<Tensor> first;
      for (const unsigned threads : {1U, 3U}) {
        fast.threads = threads;
        const auto found = run_with_extents(text, extent, fast);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          TolerancePolicy tolerance;
          REQUIRE(tolerance.add("Float32:abs=2e-5,rel=1e-4"));
          const auto comparison =
              compare_tensors(expected[i], found[i], tolerance.of(found[i].dtype()));
          REQUIRE(comparison);
          CHECK_MESSAGE(comparison->passed(), render(*comparison));
          if (!first.empty()) CHECK(hash_bytes(first[i]) == hash_bytes(found[i]));
        }
        first = found;
      }
    }
  }
}

/// The first line of `table` that begins with `key`, empty for none.
std::string line_of(const std::string& table, const std::string& key) {
  const auto at = ("\n" + table).find("\n" + key + " ");
  return at == table.npos ? std::string() : table.substr(at, table.find('\n', at) - at);
}

TEST_CASE("the examples of the pages give the bits that are committed") {
  std::ostringstream committed;
  committed << std::ifstream(std::filesystem::path(MIR_SOURCE_ROOT) /
                             "testdata/examples/hashes.txt")
                   .rdbuf();
  std::vector<std::string> found;
  for (const auto& [page, number, text] : page_examples()) {
    for (const std::int64_t extent : {4, 7}) {
      const std::string key = fmt::format("{} {} {}", page, number, extent);
      std::string line = key;
      const std::vector<Tensor> outputs = run_with_extents(text, extent);
      if (outputs.empty()) continue;  // patterns
      for (const Tensor& output : outputs) {
        line += fmt::format(" {:016x}", hash_bytes(output));
      }
      CHECK(line == line_of(committed.str(), key));
      found.push_back(std::move(line));
    }
  }
  std::ranges::sort(found);
  INFO("testdata/examples/hashes.txt should be:\n", fmt::to_string(fmt::join(found, "\n")));
  CHECK(committed.str() == fmt::format("{}\n", fmt::join(found, "\n")));
}

}  // namespace mir::test
