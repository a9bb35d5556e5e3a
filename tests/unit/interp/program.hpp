// Programs as text, lifted and run with weights made up on the spot.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interp/summary.hpp"
#include "mir/session.hpp"
#include "mir/upgrade.hpp"
#include "module_text.hpp"

namespace mir::test {

/// A program of these instructions and symbols.
inline std::string program(const std::string& code, const std::string& table = {}) {
  return "@main () -> () {\nprog.fragment @code <CPU> <code> {\n" + code +
         "}\nprog.fragment @table <CPU> <table> {\n" + table + "}\n}\n";
}

class Program {
 public:
  explicit Program(const std::string& text, const UpgradeOptions& assumed = {}) : text_(text) {
    Diagnostics problems;
    const bool loads = verify(*text_.module, problems, {.report_findings = false}) &&
                       upgrade(*text_.module, assumed, losses_, problems) &&
                       verify(*text_.module, problems, {.report_findings = false});
    WeightSet weights;
    REQUIRE(weights.add("random:1"));
    if (loads)
      session_ = Session::create(*text_.module, {.entry = {}, .weights = &weights}, problems);
    load_errors_ = errors_of(problems);
  }

  Session& session() { return *session_; }
  const LossReport& losses() const { return losses_; }
  /// Why it does not run.
  const std::vector<std::string>& load_errors() const { return load_errors_; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    for (const std::string& each : load_errors_) MESSAGE(each);
    REQUIRE(session_);
    Diagnostics problems;
    auto outputs = session_->run(inputs, problems);
    for (const std::string& each : errors_of(problems)) MESSAGE(each);
    REQUIRE(outputs.has_value());
    return *std::move(outputs);
  }
  /// The only error, of loading or of a run.
  std::string error(const std::vector<Tensor>& inputs) {
    std::vector<std::string> errors = load_errors_;
    if (session_) {
      Diagnostics problems;
      CHECK_FALSE(session_->run(inputs, problems).has_value());
      errors = errors_of(problems);
    }
    REQUIRE(errors.size() == 1);
    return errors.front();
  }

 private:
  Text text_;
  LossReport losses_;
  std::optional<Session> session_;
  std::vector<std::string> load_errors_;
};

inline bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) {
    return x.dtype() == y.dtype() && x.shape() == y.shape() && hash_bytes(x) == hash_bytes(y);
  });
}

}  // namespace mir::test
