#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "checks.hpp"
#include "mir/files/elements.hpp"
#include "mir/files/safetensors.hpp"
#include "mir/support/atomic_file.hpp"
#include "safetensors_header.hpp"

namespace mir {
namespace {

constexpr std::uint64_t kDataAlignment = 64;

Result<void> check_entries(std::span<const NamedTensor> tensors) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    if (const auto problem = name_problem(name))
      return Error{DiagCode::kTensorNameInvalid, fmt::format("a tensor name {}", *problem)};
    if (name == "__metadata__" || !names.insert(name).second)
      return Error{DiagCode::kTensorNameInvalid,
                   fmt::format("two tensors, or a tensor and the metadata, are named '{}'", name)};
    if (!safetensors_name(storage_type(tensor.dtype())))
      return Error{DiagCode::kTensorDtypeUnsupported,
                   fmt::format("safetensors has no type for tensor '{}' of type {}", name,
                               name_of(tensor.dtype()))};
    if (tensor.shape().size() > kMaxFileRank)
      return Error{DiagCode::kLimitExceeded,
                   fmt::format("tensor '{}' has rank {}, at most {} can be stored", name,
                               tensor.rank(), kMaxFileRank)};
  }
  return {};
}

/// Wider types first, so that every tensor is aligned for its elements.
std::vector<const NamedTensor*> by_width(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> order;
  for (const auto& entry : tensors) order.push_back(&entry);
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const NamedTensor* entry) {
    return info(entry->tensor.dtype()).unit_bytes;
  });
  return order;
}

std::string header_text(std::span<const NamedTensor* const> order,
                        const std::map<std::string, std::string>& metadata) {
  const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
  std::string text = "{";
  const auto comma = [&] { return text.size() == 1 ? "" : ","; };
  if (!metadata.empty())
    text += fmt::format("\"__metadata__\":{}", nlohmann::json(metadata).dump());
  std::uint64_t position = 0;
  for (const auto* entry : order) {
    const auto& tensor = entry->tensor;
    const auto end = position + tensor.bytes().size();
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", comma(),
                        quoted(entry->name), *safetensors_name(storage_type(tensor.dtype())),
                        shape_text(tensor.shape()), position, end);
    position = end;
  }
  text += '}';
  const auto used = (text.size() + sizeof(std::uint64_t)) % kDataAlignment;
  if (used != 0) text.append(kDataAlignment - used, ' ');
  return text;
}

}  // namespace

Result<void> write_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                               const std::map<std::string, std::string>& metadata) {
  if (auto checked = check_entries(tensors); !checked) return checked;
  for (const auto& pair : metadata) {
    if (!is_utf8(pair.first) || !is_utf8(pair.second))
      return Error{DiagCode::kTensorNameInvalid, "the metadata are not UTF-8"};
  }
  const auto order = by_width(tensors);
  const auto header = header_text(order, metadata);
  if (header.size() > kMaxSafetensorsHeader)
    return Error{DiagCode::kLimitExceeded,
                 fmt::format("the header needs {} bytes, at most {} are allowed", header.size(),
                             kMaxSafetensorsHeader)};
  auto file = AtomicFile::create(path);
  if (!file) return std::move(file).error();
  const auto length = std::bit_cast<std::array<std::byte, 8>>(std::uint64_t{header.size()});
  if (auto written = file->write(length); !written) return written;
  if (auto written = file->write(header); !written) return written;
  for (const auto* entry : order) {
    if (auto written = file->write(entry->tensor.bytes()); !written) return written;
  }
  return file->commit();
}

}  // namespace mir
