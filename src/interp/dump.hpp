// Results of runs as a folder of NPY files with an index; docs/running.md has its form.
#pragma once

#include <memory>
#include <string>

#include "interp/probe.hpp"
#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// Writes a dump. The index is written last, so a dump that was not finished is none.
class DumpWriter {
 public:
  /// Makes the folder where it is not there and removes the index of an earlier dump.
  static Result<DumpWriter> create(const std::string& folder);
  DumpWriter(DumpWriter&&) noexcept;
  DumpWriter& operator=(DumpWriter&&) noexcept;
  ~DumpWriter();

  Result<void> add(std::size_t run, const ResultPlace& place, const Tensor& tensor);
  Result<void> finish();

 private:
  struct State;
  explicit DumpWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mir
