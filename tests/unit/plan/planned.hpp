// What tests of planned runs share.
#pragma once

#include "../interp/module_text.hpp"
#include "../numeric.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"

namespace mir::test {

inline RunnerOptions fast(Fusion fusion = Fusion::kAll) {
  RunnerOptions options;
  options.kernels = KernelSet::kFast;
  options.fusion = fusion;
  options.fuses = fusion != Fusion::kOff;
  return options;
}

/// The text of a module after the passes of a pipeline.
inline std::string after_passes(const std::string& text, const std::string& pipeline) {
  const Text read(text);
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto passes = registry.read_pipeline(SourceFile("-p", pipeline, 1), problems);
  REQUIRE(passes);
  REQUIRE(run_pipeline(*read.module, *passes, {}, problems));
  return print(*read.module);
}

/// Numbers around zero that repeat seldom along any dimension.
inline Tensor pattern(const Shape& shape) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < *element_count(shape); ++i) {
    values.push_back(static_cast<double>((i + 3) * 7 % 11) * 0.125 - 0.5);
  }
  return floats(shape, values);
}

inline void check_close(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t number = 0; number < found.size(); ++number) {
    CHECK(not_close(1e-5, values_of(found[number]), values_of(expected[number])) == "");
  }
}

}  // namespace mir::test
