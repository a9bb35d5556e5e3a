// Writes GGUF files: metadata, tensor descriptors, then aligned data.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "mir/codes/weights.hpp"
#include "support/utf8.hpp"
#include "weights/checks.hpp"
#include "weights/formats/gguf_header.hpp"
#include "weights/packed_fields.hpp"
#include "weights/tensor_writer.hpp"

namespace mir {
namespace {

constexpr std::size_t kMaxName = 63;  // ggml keeps a NUL after it
constexpr std::size_t kMaxGgufRank = 4;
constexpr std::string_view kAlignmentKey = "general.alignment";
constexpr std::string_view kArchitectureKey = "general.architecture";

std::string string_field(std::string_view text) {
  return pack(std::uint64_t{text.size()}).append(text);
}

struct Metadata {
  std::uint64_t count = 0;
  std::string bytes;
};

/// Pairs of a file that is converted, then texts, which replace pairs of their keys.
Result<Metadata> encode_metadata(const WriteOptions& options) {
  auto texts = options.metadata;
  const auto has_architecture = std::ranges::any_of(
      options.gguf_metadata, [](const GgufMetadata& pair) { return pair.key == kArchitectureKey; });
  if (!has_architecture) texts.try_emplace(std::string(kArchitectureKey), "unknown");
  Metadata encoded;
  for (const auto& pair : options.gguf_metadata) {
    if (pair.key == kAlignmentKey || texts.contains(pair.key)) continue;
    encoded.bytes += string_field(pair.key) + pack(static_cast<std::uint32_t>(pair.type));
    encoded.bytes.append(reinterpret_cast<const char*>(pair.value.data()), pair.value.size());
    ++encoded.count;
  }
  for (const auto& [key, text] : texts) {
    if (key == kAlignmentKey || !is_gguf_key(key) || !is_utf8(text))
      return Error{diag::kTensorNameInvalid,
                   fmt::format("the metadata pair {}={} cannot be stored in a GGUF file",
                               quoted_text(key), quoted_text(text))};
    encoded.bytes += string_field(key) + pack(static_cast<std::uint32_t>(GgufValueType::kString)) +
                     string_field(text);
    ++encoded.count;
  }
  return encoded;
}

std::string tensor_info(const TensorPlan& plan, std::uint64_t offset) {
  std::string text = string_field(plan.name) + pack(static_cast<std::uint32_t>(plan.shape.size()));
  for (auto extent = plan.shape.rbegin(); extent != plan.shape.rend(); ++extent)
    text += pack(static_cast<std::uint64_t>(*extent));
  return text + pack(*gguf_dtype_id(*stored_type(TensorFormat::kGguf, plan.dtype)), offset);
}

}  // namespace

Result<void> write_gguf_plans(const std::string& path, std::span<const TensorPlan> plans,
                              const WriteOptions& options) {
  auto checked = check_plans(
      plans, {.format = TensorFormat::kGguf, .max_name = kMaxName, .max_rank = kMaxGgufRank});
  if (!checked) return checked;
  const auto metadata = encode_metadata(options);
  if (!metadata) return metadata.error();
  constexpr std::uint32_t kVersion = 3;
  std::string header = "GGUF" + pack(kVersion, std::uint64_t{plans.size()}, metadata->count);
  header += metadata->bytes;
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = 0;
  for (const auto& plan : plans) {
    offsets.push_back(aligned(end, kGgufDefaultAlignment));
    end = offsets.back() + data_bytes(plan);
    header += tensor_info(plan, offsets.back());
  }
  auto file = TensorWriter::create(path, plans, options);
  if (!file) return std::move(file).error();
  const auto data_begin = aligned(header.size(), kGgufDefaultAlignment);
  if (auto written = file->write(header); !written) return written;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto tensor = load_planned(plans[i]);
    if (!tensor) return tensor.error();
    if (auto filled = file->fill_to(data_begin + offsets[i]); !filled) return filled;
    if (auto written = file->write_data(*tensor); !written) return written;
  }
  // The last tensor is filled up, too, as ggml's own writer does.
  if (auto filled = file->fill_to(data_begin + aligned(end, kGgufDefaultAlignment)); !filled)
    return filled;
  return file->commit();
}

}  // namespace mir
