// Steps of two schedules that do the same work.
#include "interp/step_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "module_text.hpp"

namespace mir::test::step_pairs {

namespace {

/// One op for each letter: n, a and e.
std::string chain(std::string_view ops) {
  std::string text =
      "@main [mir_version:1] (%v0:tensor<[2], Float32, CPU>) -> (%r:tensor<[2], Float32, CPU>) {\n";
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string_view name = ops[i] == 'n' ? "Neg" : ops[i] == 'a' ? "Abs" : "Exp";
    text += fmt::format(
        "linalg.CPU.{0}Op(%v{1}:tensor<[2], Float32, CPU>) -> (%v{2}:tensor<[2], Float32, CPU>)\n",
        name, i, i + 1);
  }
  return text + fmt::format("cf.ReturnOp (%v{}:tensor<[2], Float32, CPU>) -> ()\n}}\n", ops.size());
}

/// The pairs of two chains, "0-1 2-2".
std::string pairs(std::string_view one, std::string_view other) {
  const auto module_of = [](std::string_view ops) {
    std::string text = chain(ops);
    const std::string result = fmt::format("%v{}", ops.size());
    text.replace(text.find("%r"), 2, result);
    return text;
  };
  const Text first(module_of(one)), second(module_of(other));
  Diagnostics problems;
  const auto a = Schedule::build(*first.module, "", problems);
  const auto b = Schedule::build(*second.module, "", problems);
  REQUIRE(a);
  REQUIRE(b);
  const auto found = pair_steps(*a, *b);
  REQUIRE(found);
  std::string text;
  for (std::size_t i = 0; i < found->size(); ++i) {
    if ((*found)[i] == kNoStep) continue;
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", i, (*found)[i]);
  }
  return text;
}

std::size_t longest_common(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return 0;
  if (a[0] == b[0]) return 1 + longest_common(a.substr(1), b.substr(1));
  return std::max(longest_common(a.substr(1), b), longest_common(a, b.substr(1)));
}

}  // namespace

TEST_CASE("steps are paired in order: all of as many, or the longest common sequence") {
  CHECK(pairs("nae", "ean") == "0-0 1-1 2-2");
  CHECK(pairs("nae", "naee") == "0-0 1-1 2-2");
  CHECK(pairs("nae", "nnae") == "0-0 1-2 2-3");
  CHECK(pairs("nae", "ne") == "0-0 2-1");
  CHECK(pairs("ne", "nae") == "0-0 1-2");
  CHECK(pairs("nn", "nnn") == "0-0 1-1");
  CHECK(pairs("naan", "neean") == "0-0 2-3 3-4");
  CHECK(pairs("aen", "naenaen") == "0-4 1-5 2-6");
  CHECK(pairs("n", "aa") == "");
  CHECK(pairs("nana", "anane") == "1-0 2-1 3-2");
}

TEST_CASE("pairs of random steps are as many as can be, and agree") {
  std::mt19937 random(3);
  for (int i = 0; i < 150; ++i) {
    const auto draw = [&](std::size_t least) {
      std::string ops;
      for (std::size_t left = least + random() % 7; left-- > 0;) ops += "nae"[random() % 3];
      return ops;
    };
    const std::string one = draw(1), other = draw(1);
    if (one.size() == other.size()) continue;
    CAPTURE(one);
    CAPTURE(other);
    const std::string found = pairs(one, other);
    const auto count = static_cast<std::size_t>(std::ranges::count(found, '-'));
    CHECK(count == longest_common(one, other));
    int last = -1;
    for (std::size_t at = 0; at < found.size(); at += 4) {
      const int to = found[at + 2] - '0';
      CHECK(one[static_cast<std::size_t>(found[at] - '0')] == other[static_cast<std::size_t>(to)]);
      CHECK(to > last);
      last = to;
    }
  }
}

}  // namespace mir::test::step_pairs
