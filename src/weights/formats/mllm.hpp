// `.mllm`: the parameter files of MLLM, versions 1 and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "weights/mapped_tensors.hpp"

namespace mir {

/// First bytes of a file of each version, a little-endian 32-bit number.
inline constexpr std::uint32_t kMllmMagicV1 = 20012;
inline constexpr std::uint32_t kMllmMagicV2 = 0x519A;

/// The key of a model's name among the metadata of files.
inline constexpr std::string_view kMllmModelName = "model_name";

/// Converts between element types and their numbers, the same in both versions; no value if the
/// other side does not know one or it has no stated size.
std::optional<DType> dtype_from_mllm(std::uint32_t id);
std::optional<std::uint32_t> mllm_dtype_id(DType dtype);

/// A parameter file whose table was checked completely: see MappedTensors. Version 1 stores no
/// shapes, its tensors have rank 1. Data need not be aligned, and there may be unused bytes between
/// the table and the first tensor (a writer that streams reserves room) but none after the last.
class MllmFile {
 public:
  /// Maps the file. Violations of the format are refused with kMllmMalformed.
  static Result<MllmFile> open(const std::string& path);
  /// Like open(), for bytes in memory.
  static Result<MllmFile> parse(FileBytes file);

  /// In the order of the table.
  const MappedTensors& tensors() const { return tensors_; }
  int version() const { return version_; }
  /// Empty in version 1 and where the writer states none.
  const std::string& model_name() const { return model_name_; }

 private:
  MllmFile(int version, MappedTensors tensors) : version_(version), tensors_(std::move(tensors)) {}

  int version_;
  std::string model_name_;
  MappedTensors tensors_;
};

}  // namespace mir
