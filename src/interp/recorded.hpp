// Results that an earlier run, another framework or a device recorded; docs/running.md has the
// forms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/probe.hpp"
#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/tensor_file.hpp"

namespace mir {

/// Meaning of quantised codes: the number of a code is (code - zero_point) * scale. All codes have
/// one scale, or each index of an axis has its own.
struct CodeScales {
  std::vector<double> scales = {};       ///< empty: the elements are no codes
  std::vector<double> zero_points = {};  ///< as many, or none: all are 0
  std::size_t axis = 0;                  ///< of several scales

  bool is_given() const { return !scales.empty(); }
  double largest() const;
};

/// A recorded result.
struct RecordedResult {
  Tensor tensor;
  CodeScales codes = {};

  /// Returns the numbers as Float32 if the result has scales, otherwise the tensor.
  Result<Tensor> numbers() const;
};

/// An item of the index of a folder.
struct RecordedEntry {
  std::string file;
  DType dtype{};
  Shape shape;
  CodeScales codes = {};
};

/// A folder of NPY or raw files with an index, as DumpWriter and other programs write it, or a
/// tensor file whose names are those of layers. Only the index is in memory.
class RecordedResults {
 public:
  static Result<RecordedResults> open_folder(const std::string& folder);
  static Result<RecordedResults> open_file(const std::string& path);

  /// Returns the result at this place, otherwise that of the first of the layers which has one; no
  /// value if there is none. A tensor file has the names `LAYER`, and `LAYER#N` for run N.
  Result<std::optional<RecordedResult>> find(std::size_t run, const ResultPlace& place,
                                             std::span<const std::string> layers) const;

  /// Returns the results that no call of find() has returned so far, sorted.
  std::vector<std::string> unused() const;

 private:
  Result<std::optional<RecordedResult>> find(const std::string& key) const;
  Result<Tensor> read(const RecordedEntry& entry) const;

  std::string folder_;
  std::unordered_map<std::string, RecordedEntry> entries_;  // by run, and place or layer
  std::optional<TensorFile> file_;
  mutable std::set<std::string> used_;  // keys and names
};

}  // namespace mir
