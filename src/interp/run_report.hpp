// Outputs of runs and their comparison, as JSON for other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/divergence.hpp"
#include "interp/probe.hpp"
#include "interp/summary.hpp"
#include "mir/weights.hpp"

namespace mir {

struct RunReport {
  struct Output {
    std::string name;  ///< without `%`
    TensorSummary summary;
  };
  struct Fed {
    std::string name;
    TensorSummary summary;
    std::vector<ElementNumber> values;  ///< of tensors of at most 16 numbers
  };
  struct Check {
    std::string output;
    std::string expected;  ///< as written
    Comparison comparison;
  };
  struct Probed {
    ResultPlace place;
    std::size_t step = 0;
    TensorSummary summary;
  };
  struct OneRun {
    std::string title;
    double seconds = 0;  ///< of the run alone, without reading inputs and writing outputs
    std::vector<Fed> fed;
    std::vector<Output> outputs;
    std::vector<Check> checks;
    std::vector<Probed> probes;
  };

  std::string file;
  std::vector<OneRun> runs;
  bool searched = false;  ///< true if the next three have a meaning
  AgreementCounts agreement;
  std::optional<ComparedResult> divergence;
  std::vector<ComparedResult> compared;
  bool passed = true;  ///< no error at all
};

/// Runs in a second of all runs together; 0 if their time is too short to measure.
double runs_per_second(const RunReport& report);

/// One JSON object with `"schema": 1`; see docs/report-json.md.
std::string to_json(const RunReport& report);

}  // namespace mir
