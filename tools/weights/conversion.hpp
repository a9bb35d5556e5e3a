// Weight files in other formats, types and under other names.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argument.hpp"
#include "mir/diagnostic.hpp"
#include "weights/elements.hpp"
#include "weights/kleidi.hpp"
#include "weights/type_rules.hpp"
#include "weights/write_tensors.hpp"

namespace mir::tools {

/// A tensor of numbers or blocks in another type, which must be a target of type rules. Numbers
/// beyond the largest one of a float type become infinities, in Float8E4M3 448, and are counted.
Result<ConvertedFloats> convert_values(const Tensor& tensor, DType to);

/// The formats that are written, by the endings of file names.
std::vector<Choice<TensorFormat>> written_formats();
/// The format that the name of a file asks for by its end.
std::optional<TensorFormat> format_of_path(std::string_view path);

/// Packed weights of a linear layer, and the extents that they do not state themselves.
struct UnpackRule {
  NamePattern pattern;
  KleidiLayout layout;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  /// Parses `PATTERN=LAYOUT:ROWSxCOLUMNS`; no value for anything else.
  static std::optional<UnpackRule> parse(std::string_view text);
};

struct ConversionRules {
  TensorFormat format = TensorFormat::kSafetensors;
  std::vector<Renaming> renamings;            ///< the first that matches counts
  std::map<std::string, DType> parameters{};  ///< types by new name, for tensors without a rule
  std::vector<TypeRule> types;                ///< the last that matches counts
  std::vector<NamePattern> only;              ///< empty: every tensor
  std::vector<UnpackRule> unpacked;
  std::map<std::string, std::string> metadata;  ///< replaces that of the files
  bool allows_overflow = false;                 ///< otherwise convert_floats() decides
};

/// One conversion, planned and then run.
class Conversion {
 public:
  /// Tensors in the order of the files; of equal names and equal keys of metadata the
  /// last file's counts. Types are those of chosen_type(), with a parameter
  /// being a rule before all others. Packed weights
  /// become Float32 values `x.weight`, and `x.bias` where one of its values is not 0;
  /// the choice of MIR_Q4_A32 gives those of 4 bits as blocks with the same numbers.
  static Result<Conversion> plan(std::span<const TensorFile> files, ConversionRules rules);

  /// All tensors of the files, and those that are made of packed ones, under their old names.
  std::vector<std::string> tensor_names() const;
  /// Writes the file. Tensors are read, converted and written one after the other.
  Result<void> run(const std::string& path,
                   const std::function<void(std::uint64_t, std::uint64_t)>& progress);
  /// After run(): a line for each tensor whose type changed, with its errors, why others keep their
  /// types although a rule matches, and sums.
  std::string report() const;

 private:
  struct Item;
  Conversion() = default;
  Result<void> add(const TensorFile& file, const TensorInfo& tensor);
  Result<void> add_unpacked(const TensorFile& file, const TensorInfo& tensor,
                            const UnpackRule& rule);
  /// `tensor` as it will be used: found in `file` under `source`, unpacked by `rule`, if any.
  void add_item(const TensorFile& file, std::string source, const TensorInfo& tensor,
                const UnpackRule* rule);
  bool is_wanted(const TensorFile& file, const std::string& name) const;
  ChosenType chosen_type(const TensorInfo& tensor) const;
  std::string new_name(const std::string& name) const;

  ConversionRules rules_;
  std::vector<std::shared_ptr<Item>> items_;
  KeptTypes kept_;
  WriteOptions options_;
  std::vector<TensorFile> files_;  // what items and metadata point into
};

}  // namespace mir::tools
