// Results of runs as a folder of NPY files with an index; docs/running.md has its form.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

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

/// A dump that was written by DumpWriter or, in the same form, by another program. Only its index
/// is in memory.
class DumpFolder {
 public:
  static Result<DumpFolder> open(const std::string& folder);

  std::size_t size() const { return files_.size(); }
  /// Returns the tensor at this place; no value if the dump does not have it.
  Result<std::optional<Tensor>> find(std::size_t run, const ResultPlace& place) const;

 private:
  struct Entry {
    std::string file;
    DType dtype{};
    Shape shape;
  };
  std::string folder_;
  std::unordered_map<std::string, Entry> files_;  // by run and place
};

}  // namespace mir
