// Programs as text, loaded and run with weights made up on the spot.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../interp/module_text.hpp"
#include "interp/summary.hpp"
#include "mir/machine.hpp"
#include "mir/session.hpp"
#include "mir/upgrade.hpp"

namespace mir::test {

/// A program of these instructions and symbols.
inline std::string program(const std::string& code, const std::string& table = {}) {
  return "@main () -> () {\nprog.fragment @code <CPU> <code> {\n" + code +
         "}\nprog.fragment @table <CPU> <table> {\n" + table + "}\n}\n";
}

class Machine {
 public:
  explicit Machine(const std::string& text, UpgradeOptions assumed = {}) : text_(text) {
    REQUIRE(weights_.add("random:1"));
    Diagnostics problems;
    LossReport losses;
    take_operands(*text_.module, assumed, losses, problems);
    machine_ = ProgramMachine::load(
        *text_.module, {.weights = &weights_, .assumed = std::move(assumed)}, problems);
    load_errors_ = errors_of(problems);
  }

  ProgramMachine& machine() { return *machine_; }
  /// What load() reported.
  const std::vector<std::string>& load_errors() const { return load_errors_; }
  IRContext& context() { return text_.context; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const MachineRun& options = {}) {
    REQUIRE(machine_);
    Diagnostics problems;
    auto outputs = machine_->run(inputs, problems, options);
    for (const std::string& each : errors_of(problems)) MESSAGE(each);
    REQUIRE(outputs.has_value());
    return *std::move(outputs);
  }
  /// The only error of a run that fails.
  std::string error(const std::vector<Tensor>& inputs, const MachineRun& options = {}) {
    REQUIRE(machine_);
    Diagnostics problems;
    CHECK_FALSE(machine_->run(inputs, problems, options).has_value());
    const auto errors = errors_of(problems);
    REQUIRE(errors.size() == 1);
    return errors.front();
  }

 private:
  Text text_;
  WeightSet weights_;
  std::optional<ProgramMachine> machine_;
  std::vector<std::string> load_errors_;
};

/// What the same text gives, lifted to graphs.
inline std::vector<Tensor> lifted(const std::string& text, const std::vector<Tensor>& inputs,
                                  const UpgradeOptions& assumed = {}) {
  Text source(text);
  Diagnostics problems;
  LossReport losses;
  REQUIRE(upgrade(*source.module, assumed, losses, problems));
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  auto session = Session::create(*source.module, {.entry = {}, .weights = &weights}, problems);
  REQUIRE(session);
  auto outputs = session->run(inputs, problems);
  REQUIRE(outputs);
  return *std::move(outputs);
}

/// Why the text cannot be lifted.
inline std::vector<std::string> lift_errors(const std::string& text,
                                            const UpgradeOptions& assumed) {
  Text source(text);
  Diagnostics problems;
  LossReport losses;
  CHECK_FALSE(upgrade(*source.module, assumed, losses, problems));
  return errors_of(problems);
}

inline bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.dtype() == y.dtype() && x.shape() == y.shape() && hash_bytes(x) == hash_bytes(y);
  });
}

}  // namespace mir::test
