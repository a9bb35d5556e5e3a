// Writes safetensors files, wider element types first for alignment.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "mir/codes/limits.hpp"
#include "mir/codes/weights.hpp"
#include "support/memory_size.hpp"
#include "support/utf8.hpp"
#include "weights/checks.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/formats/safetensors_header.hpp"
#include "weights/tensor_writer.hpp"

namespace mir {
namespace {

constexpr std::uint64_t kSafetensorsAlignment = 64;

Result<void> check(std::span<const TensorPlan> plans,
                   const std::map<std::string, std::string>& metadata) {
  if (std::ranges::find(plans, "__metadata__", &TensorPlan::name) != plans.end())
    return Error{diag::kTensorNameInvalid, "no tensor can be named '__metadata__'"};
  for (const auto& pair : metadata) {
    if (!is_utf8(pair.first) || !is_utf8(pair.second))
      return Error{diag::kTensorNameInvalid, "the metadata are not UTF-8"};
  }
  return check_plans(plans, {.format = TensorFormat::kSafetensors,
                             .max_name = std::numeric_limits<std::size_t>::max(),
                             .max_rank = kMaxFileRank});
}

/// Wider types first, so that every tensor is aligned for its elements.
std::vector<const TensorPlan*> by_width(std::span<const TensorPlan> plans) {
  std::vector<const TensorPlan*> order;
  for (const auto& plan : plans) order.push_back(&plan);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const TensorPlan* plan) { return info(plan->dtype).unit_bytes; });
  return order;
}

std::string header_text(std::span<const TensorPlan* const> order,
                        const std::map<std::string, std::string>& metadata) {
  const auto quoted_json = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string text = "{";
  const auto comma = [&] { return text.size() == 1 ? "" : ","; };
  if (!metadata.empty())
    text += fmt::format("\"__metadata__\":{}", nlohmann::json(metadata).dump());
  std::uint64_t position = 0;
  for (const auto* plan : order) {
    const auto end = position + data_bytes(*plan);
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", comma(),
                        quoted_json(plan->name), *safetensors_name(storage_type(plan->dtype)),
                        shape_text(plan->shape), position, end);
    position = end;
  }
  text += '}';
  const auto used = (text.size() + sizeof(std::uint64_t)) % kSafetensorsAlignment;
  if (used != 0) text.append(memory_size(kSafetensorsAlignment - used), ' ');
  return text;
}

}  // namespace

Result<void> write_safetensors_plans(const std::string& path, std::span<const TensorPlan> plans,
                                     const WriteOptions& options) {
  const auto metadata = options.texts();
  if (auto checked = check(plans, metadata); !checked) return checked;
  const auto order = by_width(plans);
  const auto header = header_text(order, metadata);
  if (header.size() > kMaxSafetensorsHeader)
    return Error{diag::kLimitExceeded,
                 fmt::format("the header needs {} bytes, at most {} are allowed", header.size(),
                             kMaxSafetensorsHeader)};
  auto file = TensorWriter::create(path, plans, options);
  if (!file) return std::move(file).error();
  const auto length = std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
  if (auto written = file->write({length.data(), length.size()}); !written) return written;
  if (auto written = file->write(header); !written) return written;
  for (const auto* plan : order) {
    const auto tensor = load_planned(*plan);
    if (!tensor) return tensor.error();
    if (auto written = file->write_data(*tensor); !written) return written;
  }
  return file->commit();
}

Result<void> write_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                               const std::map<std::string, std::string>& metadata) {
  return write_safetensors_plans(path, plans_of(tensors),
                                 {.metadata = metadata, .gguf_metadata = {}, .progress = {}});
}

}  // namespace mir
