// Generated modules that run, and what they give.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../unit/seeds.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/tensor.hpp"

namespace mir::test {

std::string text_of(const Diagnostics& diagnostics);

/// The one module of a text, in a context of its own.
class Subject {
 public:
  explicit Subject(const std::string& text);

  Module& module() { return *module_; }
  IRContext& context() { return context_; }
  bool is_read() const { return module_ != nullptr; }
  std::string problems() const { return text_of(problems_); }

 private:
  IRContext context_;
  Diagnostics problems_;
  Module* module_ = nullptr;
};

/// The findings of verification, but for what generated modules and inlined calls may have:
/// kernels of two operations with one name, and graphs that nothing calls.
std::string findings(const Module& module);

/// What a run gave, under the names of the outputs.
struct Outcome {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

/// "output 0: ... and ..."; empty: all bits are equal.
std::string difference(const Outcome& a, const Outcome& b);

/// Why a module does not run; empty: it did.
struct Attempt {
  std::string refusal;
  Outcome outcome;
};

using Inputs = std::map<std::string, Tensor, std::less<>>;

/// Runs a module on inputs by name, with random weights.
Attempt run_graphs(Module& module, const Inputs& given);
/// Runs a module on inputs by position, with random weights.
Attempt run_graphs(Module& module, const std::vector<Tensor>& given);

/// A module, what it takes, and what it gives.
struct Sample {
  std::string text{};
  Inputs inputs{};
  std::vector<Tensor> in_order{};  ///< the same
  Outcome outcome{};
};

/// The text with inputs that are drawn; none if it does not run. `extents` are those of symbols.
std::optional<Sample> sample_of(std::string text,
                                std::span<const std::pair<std::string, std::int64_t>> extents = {});

/// Makes another module of the one that was generated from the seed, and prints it.
using Change = std::string (*)(Module& module, std::uint64_t seed);

/// Tells if samples have ops that upstream's forms have no place for.
enum class OwnOps : bool { kNo, kYes };

/// The module that is generated from the seed and changed; none if it is large or does not run.
std::optional<Sample> sample(std::uint64_t seed, Change change, OwnOps own = OwnOps::kYes);

/// Seeds of a property in a long run.
inline constexpr std::uint64_t kAllSeeds = 400;

}  // namespace mir::test
