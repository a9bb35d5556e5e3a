// Where weights come from: files, a seed, a constant.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/files.hpp"
#include "mir/result.hpp"
#include "mir/tensor.hpp"

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

/// A tensor that fits its request, made or borrowed when it is asked for. It needs no source any
/// more; copies share what they borrow. Asking from several threads is safe.
class Weight {
 public:
  using Maker = std::function<Result<Tensor>()>;

  /// A tensor that is there.
  explicit Weight(Tensor tensor) : stored_(std::move(tensor)) {}
  /// One that `make` makes, the same bits each time; it reads nothing but `stored`, when defined.
  Weight(Maker make, Tensor stored) : stored_(std::move(stored)), make_(std::move(make)) {}

  /// Whether each call of tensor() makes bytes (invents, converts or decodes them).
  bool is_made() const { return make_ != nullptr; }
  /// What is there or read: bytes of a file, as a rule; none where a tensor is invented.
  const Tensor& stored() const { return stored_; }
  /// Fails when memory is short.
  Result<Tensor> tensor() const { return is_made() ? make_() : Result<Tensor>(stored_); }

 private:
  Tensor stored_;
  Maker make_;
};

/// One `--weights` argument: `FILE` (safetensors, GGUF, `.mllm` or NPZ, told apart by content),
/// `random:SEED` or `splat:V`. The last two have a tensor for every request. Copies share what is
/// open. Reading from several threads is safe.
class WeightSource {
 public:
  static Result<WeightSource> open(std::string_view spec, const FileOpener& files = {});

  const std::string& spec() const { return spec_; }
  /// True when the tensors are made up instead of read.
  bool invents() const;
  /// True for `random:SEED`.
  bool is_random() const;
  /// Names in the file; empty for a source that invents.
  std::vector<std::string> names() const;

  bool has(std::string_view name) const;

  /// The tensor in the requested type and shape; none when the source has no such name. A stored
  /// tensor must have the same number of elements (files without shapes store rank 1) and the same
  /// storage type, unless the request allows conversion.
  Result<std::optional<Tensor>> find(const WeightRequest& request) const;
  /// The same checks, and nothing is made yet.
  Result<std::optional<Weight>> prepare(const WeightRequest& request) const;

 private:
  struct Origin;

  WeightSource(std::string_view spec, std::shared_ptr<const Origin> origin)
      : spec_(spec), origin_(std::move(origin)) {}
  Result<Weight> weight_of(const WeightRequest& request) const;

  std::string spec_;
  std::shared_ptr<const Origin> origin_;
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
  Result<std::optional<Weight>> prepare(const WeightRequest& request) const;
  /// The source that find() takes this name from; null when none has it.
  const WeightSource* source_of(std::string_view name) const;

 private:
  std::vector<WeightSource> sources_;
};

}  // namespace mir
