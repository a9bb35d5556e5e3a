#include "conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <ranges>
#include <utility>

#include "mir/files/blocks.hpp"
#include "mir/files/elements.hpp"
#include "reals.hpp"
#include "report.hpp"
#include "text_table.hpp"

namespace mir::tools {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool is_target(DType dtype) {
  return is_float(dtype) || is_encodable_block(dtype);
}

Result<Tensor> to_type(const Tensor& tensor, DType to) {
  auto values = is_decodable_block(tensor.dtype()) ? dequantise(tensor) : Result<Tensor>(tensor);
  if (!values || values->dtype() == to) return values;
  if (is_float(to)) return convert_floats(*values, to);
  auto singles = convert_floats(*values, DType::kFloat32);
  return singles ? quantise(*singles, to) : singles;
}

}  // namespace

std::optional<DType> target_type(std::string_view text) {
  static constexpr std::pair<std::string_view, DType> kShort[] = {
      {"f64", DType::kFloat64},   {"f32", DType::kFloat32},   {"f16", DType::kFloat16},
      {"bf16", DType::kBFloat16}, {"q8_0", DType::kGgufQ8_0}, {"q4_0", DType::kGgufQ4_0}};
  for (const auto& [name, dtype] : kShort) {
    if (lower(text) == name) return dtype;
  }
  const auto dtype = dtype_from_name(text);
  return dtype && is_target(*dtype) ? dtype : std::nullopt;
}

std::optional<TensorFormat> target_format(std::string_view text) {
  if (text == "safetensors") return TensorFormat::kSafetensors;
  if (text == "npz") return TensorFormat::kNpz;
  if (text == "mllm") return TensorFormat::kMllm2;
  if (text == "gguf") return TensorFormat::kGguf;
  return std::nullopt;
}

std::optional<TensorFormat> format_of_path(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::nullopt : target_format(path.substr(dot + 1));
}

struct Conversion::Item {
  const TensorFile* file;
  std::string source;  ///< the name in the file
  TensorInfo before;
  TensorPlan plan;
  std::optional<Accuracy> lost;  ///< set when the tensor was converted

  Result<Tensor> load() {
    auto found = file->find(source);
    if (!found) return std::move(found).error();
    const Tensor original = **std::move(found);
    // Bytes that a format has a plain type for keep that type, as planned.
    if (original.dtype() == plan.dtype) return original;
    auto converted = to_type(original, plan.dtype);
    if (!converted) return converted;
    const auto reals = as_reals(original);
    if (!reals) return reals.error();
    const auto back = as_reals(*converted);
    if (!back) return back.error();
    lost = accuracy(**reals, **back);
    return converted;
  }
};

Result<Conversion> Conversion::plan(std::span<const TensorFile> files, ConversionRules rules) {
  Conversion conversion;
  conversion.files_.assign(files.begin(), files.end());
  const auto chosen = [&](const TensorInfo& tensor) {
    const auto row = tensor.shape.empty() ? 1 : tensor.shape.back();
    DType to = tensor.dtype;
    for (const auto& choice : rules.types) {
      const bool takes_blocks = tensor.shape.size() > 1 && row % info(choice.dtype).lanes == 0;
      const bool fits = is_float(choice.dtype) || takes_blocks;
      if (choice.pattern.matches(tensor.name)) to = fits ? choice.dtype : tensor.dtype;
    }
    return is_float(tensor.dtype) || is_decodable_block(tensor.dtype) ? to : tensor.dtype;
  };
  const auto new_name = [&](const std::string& name) {
    for (const auto& renaming : rules.renamings) {
      if (auto renamed = renaming.apply(name)) return *std::move(renamed);
    }
    return name;
  };
  for (const TensorFile& file : conversion.files_) {
    const auto tensors = file.tensors();
    if (!tensors) return tensors.error();
    for (const auto& tensor : *tensors) {
      const auto holder = std::ranges::find_if(
          std::views::reverse(conversion.files_),
          [&](const TensorFile& later) { return later.contains(tensor.name); });
      const bool superseded = &*holder != &file;
      const bool wanted =
          rules.only.empty() || std::ranges::any_of(rules.only, [&](const NamePattern& pattern) {
            return pattern.matches(tensor.name);
          });
      if (superseded || !wanted) continue;
      auto item = std::make_shared<Item>(Item{&file, tensor.name, tensor, {}, {}});
      item->plan = {new_name(tensor.name), chosen(tensor), tensor.shape,
                    [raw = item.get()] { return raw->load(); }};
      conversion.items_.push_back(std::move(item));
    }
    std::ranges::copy(file.gguf_metadata(), std::back_inserter(conversion.gguf_metadata_));
    for (const auto& [key, text] : file.metadata()) rules.metadata.try_emplace(key, text);
  }
  conversion.rules_ = std::move(rules);
  return conversion;
}

Result<void> Conversion::run(const std::string& path,
                             const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  std::vector<TensorPlan> plans;
  for (const auto& item : items_) plans.push_back(item->plan);
  return write_tensors(
      path, rules_.format, plans,
      {.metadata = rules_.metadata, .gguf_metadata = gguf_metadata_, .progress = progress});
}

std::string Conversion::report() const {
  TextTable table("lllrrrr");
  table.add({"name", "from", "to", "bytes", "max error", "RMS error", "relative"});
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::size_t converted = 0;
  for (const auto& item : items_) {
    const auto elements = element_count(item->plan.shape);
    const auto bytes =
        storage_bytes(item->plan.dtype, static_cast<std::uint64_t>(*elements)).value_or(0);
    before += item->before.bytes;
    after += bytes;
    if (!item->lost) continue;
    ++converted;
    table.add({item->plan.name, std::string(name_of(item->before.dtype)),
               std::string(name_of(item->plan.dtype)), fmt::format("{}", bytes),
               fmt::format("{:.3g}", item->lost->max_error),
               fmt::format("{:.3g}", item->lost->rms_error),
               fmt::format("{:.3g}", item->lost->relative)});
  }
  return (converted == 0 ? std::string() : table.render("")) +
         fmt::format("{} tensors written as {}, {} of them converted; {} bytes of data became {}\n",
                     items_.size(), name_of(rules_.format), converted, before, after);
}

}  // namespace mir::tools
