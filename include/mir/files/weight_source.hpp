// Where weights come from: files, a seed, a constant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mir/files/tensor_file.hpp"
#include "mir/support/result.hpp"
#include "mir/support/tensor.hpp"

namespace mir {

/// What the user of a weight expects.
struct WeightRequest {
  std::string_view name;
  DType dtype = DType::kFloat32;
  Shape shape = {};
  /// Allow another float type in the file, and blocks, which are dequantised.
  bool convert_floats = false;
  /// Invented integers lie in [0, bound); without it they are 0.
  std::optional<std::int64_t> bound = {};
};

/// One `--weights` argument: `FILE` (any format of TensorFile), `random:SEED` or
/// `splat:V`. The last two have a tensor for every request. Reading from several threads is safe.
class WeightSource {
 public:
  static Result<WeightSource> open(std::string_view spec, const FileOpener& files = {});

  const std::string& spec() const { return spec_; }
  /// True when the tensors are made up instead of read.
  bool invents() const;
  /// True for `random:SEED`.
  bool is_random() const { return std::holds_alternative<Random>(origin_); }
  /// Names in the file; empty for a source that invents.
  std::vector<std::string> names() const;

  bool has(std::string_view name) const;

  /// The tensor in the requested type and shape; none when the source has no such name. A stored
  /// tensor must have the same number of elements (files without shapes store rank 1) and the same
  /// storage type, unless the request allows conversion.
  Result<std::optional<Tensor>> find(const WeightRequest& request) const;

 private:
  struct Random {
    std::uint64_t seed;
  };
  struct Splat {
    std::string value;
  };
  using Origin = std::variant<TensorFile, Random, Splat>;

  WeightSource(std::string_view spec, Origin origin) : spec_(spec), origin_(std::move(origin)) {}
  Result<Tensor> load(const WeightRequest& request) const;

  std::string spec_;
  Origin origin_;
};

/// Several sources; where two have the same name, the later one wins.
class WeightSet {
 public:
  /// Opens a source and puts it behind those added before.
  Result<void> add(std::string_view spec, const FileOpener& files = {});
  /// Every tensor that a file of the set has.
  std::vector<std::string> names() const;

  const std::vector<WeightSource>& sources() const { return sources_; }
  /// From the last source that has the name; none when no source has it.
  Result<std::optional<Tensor>> find(const WeightRequest& request) const;
  /// The source that find() takes this name from; null when none has it.
  const WeightSource* source_of(std::string_view name) const;

 private:
  std::vector<WeightSource> sources_;
};

}  // namespace mir
