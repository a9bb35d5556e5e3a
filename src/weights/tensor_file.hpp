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

/// Description of one tensor in a file.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t bytes = 0;       ///< of data, as they are used
  std::string unread_type = {};  ///< the file's name of a type that is not read; else empty

  std::string type_name() const {
    return unread_type.empty() ? std::string(name_of(dtype)) : unread_type;
  }
};

/// An open tensor file of any format; the format is detected by content. Its own reader checks the
/// file before it is handed out. Copies share the mapping; reading from several threads is safe.
class TensorFile {
 public:
  /// Opens all files of a model if `path` is its safetensors index, `{"weight_map": ...}`: the
  /// files are in the folder of the index, or where `files` has them, and must not be links. A file
  /// of a model that is split into several GGUF files also opens all of them; links are followed.
  static Result<TensorFile> open(const std::string& path, const FileOpener& files = {});
  /// Returns the plain names of the files that open() opens for `path`: the files that an index
  /// names, or all files of a split GGUF model. Empty for a whole model.
  static Result<std::vector<std::string>> parts(const std::string& path);
  /// Like open(), for bytes in memory, without other files.
  static Result<TensorFile> parse(FileBytes file);

  TensorFormat format() const { return format_; }
  /// In the order of the file.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;
  /// Describes every tensor, in the order of the file. An NPZ archive is inflated for it.
  Result<std::vector<TensorInfo>> tensors() const;
  /// Pairs of texts that the file carries (safetensors; `model_name` of .mllm).
  const std::map<std::string, std::string>& metadata() const { return content_.metadata; }
  /// The metadata of a GGUF file; they borrow its bytes, which this object keeps.
  const std::vector<GgufMetadata>& gguf_metadata() const { return content_.gguf_metadata; }
  /// Returns the tensor of that name; no value if there is none.
  Result<std::optional<Tensor>> find(std::string_view name) const;
  /// The tensors of the mapped file that has this one, which are read without copies. Null if there
  /// is none, and for NPZ archives, whose members may have to be inflated.
  const MappedTensors* mapped(std::string_view name) const;

 private:
  TensorFile(TensorFormat format, ReadTensors content)
      : format_(format), content_(std::move(content)) {}

  TensorFormat format_;
  ReadTensors content_;
};

}  // namespace mir
