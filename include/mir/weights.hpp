// Tensor files: which there are, reading, writing and comparing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

// The bytes of files, wherever they lie.

/// The bytes of a file.
struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps them alive
  std::string origin;                 ///< names them in messages
};

/// Gives the file that an argument names, such as a member of a pack. An empty one means the
/// file system.
using FileOpener = std::function<Result<FileBytes>(const std::string& name)>;

// Where weights come from: files, a seed, a constant.

/// Place of a weight in files if it is not a whole tensor of its own name.
struct StoredView {
  struct Rows {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  std::string_view tensor{};      ///< the name in files; empty: the name of the weight
  std::optional<Rows> rows = {};  ///< only these rows; a row is an entry of the first dimension
  /// Row i of the first half and row i of the second half of each of so many heads follow each
  /// other in the file. 0: rows are stored in their order.
  std::int64_t interleaved_heads = 0;

  bool is_whole() const { return !rows && interleaved_heads == 0; }
};

/// The tensor that the user of a weight expects.
struct WeightRequest {
  std::string_view name;
  DType dtype = DType::kFloat32;
  Shape shape = {};
  StoredView stored = {};
  /// Allow another float type in the file, and blocks, which are dequantised.
  bool convert_floats = false;
  /// Invented integers lie in [0, bound); without it they are 0.
  std::optional<std::int64_t> bound = {};

  /// The name of the tensor in files.
  std::string_view stored_name() const { return stored.tensor.empty() ? name : stored.tensor; }
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
  /// tensor must have the same extents, those of 1 apart (a file without shapes stores one
  /// dimension of as many elements), and the same storage type, unless the request allows
  /// conversion.
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
  /// Opens a source and puts it after those added before.
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

// How far a tensor is from the expected one.

/// Requirements on a tensor; every stated part must hold.
///
/// An element is within tolerance when |actual - expected| <= abs + rel * |expected|, or when it
/// lies at most `ulp` units in the last place of the actual element type (of integers: 1) from the
/// expected number. Two NaN are equal, two infinities of one sign too; any other pair with a NaN or
/// an infinity is over every tolerance, also if elements are not judged.
struct Tolerance {
  double abs = 0;
  double rel = 0;
  double ulp = 0;
  /// The same bits instead; of different element types the same numbers with the same sign.
  bool exact = false;
  /// False: single finite elements may be anything, only the figures below count.
  bool judges_elements = true;
  std::optional<double> min_correlation = {};
  std::optional<double> min_cosine = {};
  std::size_t top = 0;  ///< how many of the largest of each last row are looked at; 0: one
  std::optional<double> min_top_agreement = {};
};

/// The number that an element is: an integer (of UInt64 an unsigned one) or a double.
using ElementNumber = std::variant<double, std::int64_t, std::uint64_t>;

struct ElementDifference {
  std::int64_t index = 0;  ///< row-major; for complex types real and imaginary parts alternate
  ElementNumber expected{};
  ElementNumber actual{};
  double abs_error = 0;
};

/// A number that compares whole tensors.
struct Figure {
  double value = 1;
  /// Why the tensors do not define the number, as "zero norm". Empty if they do.
  std::string_view undefined{};

  bool is_defined() const { return undefined.empty(); }
  /// False if the number is not defined.
  bool is_at_least(double least) const { return is_defined() && value >= least; }
};

struct Comparison {
  static constexpr std::size_t kWorst = 5;

  Shape shape;  ///< complex types have a last axis of 2
  Tolerance tolerance;
  std::int64_t elements = 0;
  std::int64_t differing = 0;  ///< elements with another value; -0 is +0, NaN is NaN
  /// Where elements are not judged, only those with a NaN or an infinity on one side.
  std::int64_t over_tolerance = 0;
  std::int64_t nans_expected = 0;
  std::int64_t nans_found = 0;
  std::int64_t nan_mismatches = 0;       ///< NaN on one side only
  std::int64_t infinity_mismatches = 0;  ///< numbers that differ, at least one of them infinite
  double max_abs_error = 0;
  std::int64_t max_abs_index = 0;
  double max_rel_error = 0;  ///< |actual - expected| / |expected| where expected is not 0
  std::int64_t max_rel_index = 0;
  double max_ulp_error = 0;
  std::int64_t max_ulp_index = 0;
  // These figures are 1 if all values are equal.
  /// Of the elements that are finite on both sides. Not defined for fewer than two, or if one side
  /// is all zero.
  Figure cosine{};
  /// Pearson's, likewise; not defined if one side is constant.
  Figure correlation{};
  /// Mean over the last rows of the share of the `top_count` largest elements of the expected row
  /// that are among those of the actual row, ranked as top_elements() does. 0 for a row that is
  /// constant on one side only. Not defined for rows of at most `top_count` elements.
  Figure top_agreement{};
  std::size_t top_count = 1;
  /// Ratio of signal to noise in dB: the sum of squares of the expected elements over that of the
  /// differences, of the elements that are finite on both sides. Infinite if all are equal. Not
  /// defined if the expected side is all zero.
  Figure sqnr{std::numeric_limits<double>::infinity()};
  std::vector<ElementDifference>
      worst;  ///< differing elements farthest over tolerance, at most kWorst

  bool passed() const;
};

/// Both must have the same shape and real or complex elements; element types may differ.
/// 64-bit integers are subtracted exactly.
Result<Comparison> compare_tensors(const Tensor& expected, const Tensor& actual,
                                   const Tolerance& tolerance);

/// "abs 1e-06, rel 1e-05, correlation >= 0.99".
std::string render(const Tolerance& tolerance);
/// "0.99" or "not defined (zero norm)".
std::string render(const Figure& figure);
/// Several lines without a final newline: a verdict, the error figures, the worst elements.
std::string render(const Comparison& comparison);

}  // namespace mir
