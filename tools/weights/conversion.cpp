// Plans and writes converted weight files: types, names, unpacking and formats.
#include "conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "mir/codes/tensors.hpp"
#include "report.hpp"
#include "text_table.hpp"
#include "weights/blocks.hpp"
#include "weights/elements.hpp"
#include "weights/statistics.hpp"

namespace mir::tools {
Result<ConvertedFloats> convert_values(const Tensor& tensor, DType to) {
  auto values = is_decodable_block(tensor.dtype()) ? dequantise(tensor) : Result<Tensor>(tensor);
  if (!values) return std::move(values).error();
  if (values->dtype() == to || is_float(to)) return convert_floats_with_overflow(*values, to);
  const auto singles = convert_floats(*values, DType::kFloat32);
  auto blocks = singles ? quantise(*singles, to) : singles;
  if (!blocks) return std::move(blocks).error();
  return ConvertedFloats{*std::move(blocks)};
}

std::vector<Choice<TensorFormat>> written_formats() {
  std::vector<Choice<TensorFormat>> formats;
  for (const TensorFormatRow& row : tensor_formats()) {
    if (row.write != nullptr) formats.push_back({row.ending, row.format});
  }
  return formats;
}

std::optional<TensorFormat> format_of_path(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (const auto& format : written_formats()) {
    if (format.word == path.substr(dot + 1)) return format.value;
  }
  return std::nullopt;
}

struct Conversion::Item {
  const TensorFile* file;
  std::string source;  ///< the name in the file
  TensorInfo before;
  const UnpackRule* rule;  ///< null: the tensor is used as it is
  TensorPlan plan;
  bool allows_overflow;
  std::optional<Accuracy> lost{};  ///< set when the tensor was converted
  std::int64_t overflows = 0;

  Result<Tensor> original() const {
    auto found = file->find(source);
    if (!found) return std::move(found).error();
    if (rule == nullptr) return **std::move(found);
    // Blocks that hold every number are made without the numbers between.
    const bool stays =
        plan.dtype == DType::kMirQ4A32 && kleidi_fits_blocks(rule->layout, rule->columns);
    auto unpacked = unpack_kleidi(rule->layout, rule->rows, rule->columns, (*found)->bytes(),
                                  stays ? plan.dtype : DType::kFloat32);
    if (!unpacked) return std::move(unpacked).error();
    return before.shape.size() == 1 ? unpacked->bias : unpacked->weight;
  }

  Result<Tensor> load() {
    const auto tensor = original();
    // Bytes that a format has a plain type for keep that type, as planned.
    if (!tensor || tensor->dtype() == plan.dtype) return tensor;
    auto converted = convert_values(*tensor, plan.dtype);
    if (!converted) return std::move(converted).error();
    const auto reals = as_reals(*tensor);
    if (!reals) return reals.error();
    overflows = converted->overflows;
    if (overflows > 0 && !allows_overflow) {
      return Error{diag::kElementOutOfRange,
                   overflow_text(*converted, **reals) +
                       "; --allow-overflow stores infinities, or the largest number"};
    }
    const auto back = as_reals(converted->tensor);
    if (!back) return back.error();
    lost = accuracy(**reals, **back);
    return std::move(converted->tensor);
  }
};

std::optional<UnpackRule> UnpackRule::parse(std::string_view text) {
  const auto equals = text.rfind('=');
  const auto colon = text.rfind(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals)
    return std::nullopt;
  const auto layout = kleidi_layout(text.substr(equals + 1, colon - equals - 1));
  if (!layout) return std::nullopt;
  UnpackRule rule{NamePattern(text.substr(0, equals)), *layout};
  const char* const end = text.data() + text.size();
  const auto rows = std::from_chars(text.data() + colon + 1, end, rule.rows);
  if (rows.ec != std::errc() || rows.ptr == end || *rows.ptr != 'x') return std::nullopt;
  const auto columns = std::from_chars(rows.ptr + 1, end, rule.columns);
  if (columns.ec != std::errc() || columns.ptr != end) return std::nullopt;
  return rule;
}

Result<Conversion> Conversion::plan(std::span<const TensorFile> files, ConversionRules rules) {
  Conversion conversion;
  conversion.files_.assign(files.begin(), files.end());
  conversion.rules_ = std::move(rules);
  for (const TensorFile& file : conversion.files_) {
    const auto tensors = file.tensors();
    if (!tensors) return tensors.error();
    for (const auto& tensor : *tensors) {
      if (!conversion.is_wanted(file, tensor.name)) continue;
      if (auto added = conversion.add(file, tensor); !added) return std::move(added).error();
    }
    conversion.options_.add_metadata(file);
  }
  for (const auto& [key, text] : conversion.rules_.metadata)
    conversion.options_.metadata.insert_or_assign(key, text);
  return conversion;
}

bool Conversion::is_wanted(const TensorFile& file, const std::string& name) const {
  const auto holder = std::find_if(files_.rbegin(), files_.rend(),
                                   [&](const TensorFile& each) { return each.contains(name); });
  const auto matches = [&](const NamePattern& pattern) { return pattern.matches(name); };
  return &*holder == &file && (rules_.only.empty() || std::ranges::any_of(rules_.only, matches));
}

ChosenType Conversion::chosen_type(const TensorInfo& tensor) const {
  std::vector<TypeRule> rules;
  const auto parameter = rules_.parameters.find(new_name(tensor.name));
  if (parameter != rules_.parameters.end()) rules.push_back({NamePattern("*"), parameter->second});
  rules.insert(rules.end(), rules_.types.begin(), rules_.types.end());
  return mir::chosen_type(rules, tensor.name, tensor.dtype, tensor.shape);
}

std::string Conversion::new_name(const std::string& name) const {
  for (const auto& renaming : rules_.renamings) {
    if (auto renamed = renaming.apply(name)) return *std::move(renamed);
  }
  return name;
}

void Conversion::add_item(const TensorFile& file, std::string source, const TensorInfo& tensor,
                          const UnpackRule* rule) {
  auto item = std::make_shared<Item>(
      Item{&file, std::move(source), tensor, rule, {}, rules_.allows_overflow});
  const ChosenType chosen = chosen_type(tensor);
  if (!chosen.obstacle.empty()) kept_.add(new_name(tensor.name), chosen.obstacle);
  item->plan = {new_name(tensor.name), chosen.dtype, tensor.shape,
                [raw = item.get()] { return raw->load(); }};
  items_.push_back(std::move(item));
}

Result<void> Conversion::add(const TensorFile& file, const TensorInfo& tensor) {
  if (!tensor.unread_type.empty()) {
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("tensor '{}' has the type {}, which is not read; choose others with "
                             "--only",
                             tensor.name, tensor.unread_type)};
  }
  for (const UnpackRule& rule : rules_.unpacked) {
    if (rule.pattern.matches(tensor.name)) return add_unpacked(file, tensor, rule);
  }
  add_item(file, tensor.name, tensor, nullptr);
  return {};
}

Result<void> Conversion::add_unpacked(const TensorFile& file, const TensorInfo& tensor,
                                      const UnpackRule& rule) {
  const auto packed = file.find(tensor.name);
  if (!packed) return packed.error();
  const auto unpacked = unpack_kleidi(rule.layout, rule.rows, rule.columns, (*packed)->bytes());
  if (!unpacked)
    return Error{unpacked.error().code,
                 fmt::format("tensor '{}': {}", tensor.name, unpacked.error().message)};
  add_item(file, tensor.name,
           {tensor.name, DType::kFloat32, unpacked->weight.shape(), tensor.bytes}, &rule);
  constexpr std::string_view kWeight = ".weight";
  std::string bias = tensor.name;
  if (bias.ends_with(kWeight)) bias.resize(bias.size() - kWeight.size());
  bias += ".bias";
  const auto is_zero = [](float value) { return value == 0; };
  const auto has_bias = [&](const TensorFile& each) { return each.contains(bias); };
  if (std::ranges::all_of(unpacked->bias.as<float>(), is_zero) ||
      std::ranges::any_of(files_, has_bias))
    return {};
  add_item(file, tensor.name, {bias, DType::kFloat32, unpacked->bias.shape(), 0}, &rule);
  return {};
}

std::vector<std::string> Conversion::tensor_names() const {
  std::vector<std::string> names;
  for (const TensorFile& file : files_) {
    for (std::string& name : file.names()) names.push_back(std::move(name));
  }
  for (const auto& item : items_) names.push_back(item->before.name);
  return names;
}

Result<void> Conversion::run(const std::string& path,
                             const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  std::vector<TensorPlan> plans;
  for (const auto& item : items_) plans.push_back(item->plan);
  options_.progress = progress;
  return write_tensors(path, rules_.format, plans, options_);
}

std::string Conversion::report() const {
  TextTable table("lllrrrr");
  table.add({"name", "from", "to", "bytes", "max error", "RMS error", "relative"});
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::size_t converted = 0;
  std::string overflows;
  for (const auto& item : items_) {
    const auto elements = element_count(item->plan.shape);
    const auto bytes =
        storage_bytes(item->plan.dtype, static_cast<std::uint64_t>(*elements)).value_or(0);
    before += item->before.bytes;
    after += bytes;
    if (!item->lost) continue;
    ++converted;
    if (item->overflows > 0) {
      overflows +=
          fmt::format("tensor '{}': {} of {} elements were beyond the largest {}\n",
                      item->plan.name, item->overflows, *elements, name_of(item->plan.dtype));
    }
    table.add({item->plan.name, std::string(name_of(item->before.dtype)),
               std::string(name_of(item->plan.dtype)), fmt::format("{}", bytes),
               fmt::format("{:.3g}", item->lost->max_error),
               fmt::format("{:.3g}", item->lost->rms_error),
               fmt::format("{:.3g}", item->lost->relative)});
  }
  const std::string kept = kept_.is_empty() ? "" : kept_.text("tensor") + "\n";
  return (converted == 0 ? std::string() : table.render("")) + overflows + kept +
         fmt::format("{} tensors written as {}, {} of them converted; {} bytes of data became {}\n",
                     items_.size(), name_of(rules_.format), converted, before, after);
}

}  // namespace mir::tools
