// A file of tensors in any format that is read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/tensor_formats.hpp"

namespace mir {

/// What a file says about one tensor.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t bytes = 0;  ///< of data, as they are used
};

/// Formats are told apart by content. A file is checked as its own reader says before it is handed
/// out; copies share the mapping; reading from several threads is safe.
class TensorFile {
 public:
  /// The index of a model in several safetensors files, `{"weight_map": ...}`, opens as all of
  /// them; they lie in its folder, or where `files` has them, and are no links. A file of a model
  /// that is split into several GGUF files opens as all of them, too; links are followed.
  static Result<TensorFile> open(const std::string& path, const FileOpener& files = {});
  /// Plain names of the files that open() opens for the one at `path`: those that an index names,
  /// all files of a split GGUF model, itself included. None for a whole model.
  static Result<std::vector<std::string>> parts(const std::string& path);
  /// The same for bytes in memory, without other files.
  static Result<TensorFile> parse(FileBytes file);

  TensorFormat format() const { return format_; }
  /// In the order of the file.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  /// What is known of every tensor, in the order of the file. An NPZ archive is inflated for it.
  Result<std::vector<TensorInfo>> tensors() const;
  /// Pairs of texts that the file carries (safetensors; `model_name` of .mllm).
  const std::map<std::string, std::string>& metadata() const { return content_.metadata; }
  /// The metadata of a GGUF file; they borrow its bytes, which this object keeps.
  const std::vector<GgufMetadata>& gguf_metadata() const { return content_.gguf_metadata; }
  /// The tensor of that name, none when there is none.
  Result<std::optional<Tensor>> find(std::string_view name) const;

 private:
  TensorFile(TensorFormat format, ReadTensors content)
      : format_(format), content_(std::move(content)) {}

  TensorFormat format_;
  ReadTensors content_;
};

}  // namespace mir
