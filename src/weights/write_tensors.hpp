// Writing tensors that need not be in memory together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/formats/gguf.hpp"
#include "weights/named_tensor.hpp"
#include "weights/tensor_file.hpp"

namespace mir {

/// A tensor of a file to be written. Its type and extents are needed at once, for the header; its
/// elements only when it is its turn.
struct TensorPlan {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::function<Result<Tensor>()> load;  ///< gives a tensor of this type and these extents
};

/// Plans that supply the tensors themselves.
std::vector<TensorPlan> plans_of(std::span<const NamedTensor> tensors);

struct WriteOptions {
  /// Pairs of texts, which replace pairs of `gguf_metadata` with their keys: `__metadata__` of
  /// safetensors, strings of GGUF. `.mllm` has `model_name` alone, NPZ nothing.
  std::map<std::string, std::string> metadata;
  /// Metadata of GGUF, written first, each key once; `general.alignment` is left out. Formats
  /// without types take the strings.
  std::vector<GgufMetadata> gguf_metadata;
  /// Called after each tensor with the bytes of data written and of all data.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;

  /// Adds the metadata of `file`. Entries with the same key are replaced in place; new ones borrow
  /// from the file.
  void add_metadata(const TensorFile& file);
  /// `metadata` and the strings of GGUF that are UTF-8.
  std::map<std::string, std::string> texts() const;
};

/// Writes a file of this format atomically: nothing is left of it when a tensor cannot be had. Data
/// lie at multiples of 64 bytes (GGUF: 32), in the order given (safetensors: wider types first).
/// Quantised and opaque types are written as their storage type where a format lacks them; a type
/// that it has no other name for, a name that it cannot hold, and `.mllm` of version 1, which
/// nothing writes any more, are refused. GGUF always has `general.architecture`, "unknown" if it is
/// not stated.
Result<void> write_tensors(const std::string& path, TensorFormat format,
                           std::span<const TensorPlan> plans, const WriteOptions& options = {});

/// Returns the type as which `format` stores a tensor of this type; no value if it cannot.
std::optional<DType> stored_type(TensorFormat format, DType dtype);

}  // namespace mir
