// Checks the data ranges of a file's tensors and serves tensors that borrow from its mapping.
#include "weights/mapped_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "mir/codes/tensors.hpp"
#include "support/memory_size.hpp"
#include "weights/blocks.hpp"
#include "weights/checks.hpp"
#include "weights/named_tensor.hpp"

namespace mir {
namespace {

/// Returns the error of one entry alone, or no value.
std::optional<std::string> problem_with(const StoredTensor& tensor, const DataRules& rules,
                                        std::uint64_t file_size) {
  if (const auto problem = name_problem(tensor.name))
    return fmt::format("a tensor name {}", *problem);
  const auto refuse = [&](std::string_view text) {
    return fmt::format("tensor '{}' {}", tensor.name, text);
  };
  if (tensor.begin > tensor.end || tensor.begin < rules.data_begin || tensor.end > file_size)
    return refuse(fmt::format("has the range [{}, {}), its data must lie in [{}, {})", tensor.begin,
                              tensor.end, rules.data_begin, file_size));
  if (tensor.shape.size() > kMaxFileRank)
    return refuse(
        fmt::format("has rank {}, expected at most {}", tensor.shape.size(), kMaxFileRank));
  const auto elements = element_count(tensor.shape);
  if (!elements) return refuse(fmt::format("has impossible extents {}", shape_text(tensor.shape)));
  if (!tensor.unread_type.empty()) return std::nullopt;
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % row_lanes(tensor.dtype) != 0)
    return refuse(fmt::format("of type {} has rows of {} elements, expected a multiple of {}",
                              name_of(tensor.dtype), row, row_lanes(tensor.dtype)));
  const auto bytes = storage_bytes(tensor.dtype, static_cast<std::uint64_t>(*elements));
  if (!bytes || *bytes != tensor.end - tensor.begin)
    return refuse(fmt::format("of type {} and extents {} has {} bytes of data",
                              name_of(tensor.dtype), shape_text(tensor.shape),
                              tensor.end - tensor.begin));
  return std::nullopt;
}

/// Returns the error of the ranges' layout in the file, or no value.
std::optional<std::string> problem_with_ranges(std::span<const StoredTensor> tensors,
                                               const DataRules& rules, std::uint64_t file_size) {
  std::vector<const StoredTensor*> order;
  for (const auto& tensor : tensors) {
    if (tensor.begin != tensor.end) order.push_back(&tensor);
  }
  std::ranges::sort(order, {}, &StoredTensor::begin);
  std::uint64_t position = rules.data_begin;
  for (const auto* tensor : order) {
    if (tensor->begin < position)
      return fmt::format("tensor '{}' starts at byte {}, inside the tensor before it", tensor->name,
                         tensor->begin);
    position = tensor->end;
  }
  if (file_size - position > rules.padding)
    return fmt::format("{} bytes follow the last tensor", file_size - position);
  return std::nullopt;
}

}  // namespace

Result<MappedTensors> MappedTensors::index(FileBytes file, std::vector<StoredTensor> tensors,
                                           const DataRules& rules) {
  const auto refuse = [&](std::string_view text) {
    return Error{rules.malformed, fmt::format("'{}': {}", file.origin, text)};
  };
  for (const auto& tensor : tensors) {
    if (const auto problem = problem_with(tensor, rules, file.bytes.size()))
      return refuse(*problem);
  }
  if (const auto problem = problem_with_ranges(tensors, rules, file.bytes.size()))
    return refuse(*problem);

  MappedTensors index;
  index.entries_ = std::move(tensors);
  const auto name_of_index = [&](std::uint32_t i) -> const std::string& {
    return index.entries_[i].name;
  };
  index.by_name_.resize(index.entries_.size());
  std::iota(index.by_name_.begin(), index.by_name_.end(), 0u);
  std::ranges::sort(index.by_name_, {}, name_of_index);
  const auto twice = std::ranges::adjacent_find(index.by_name_, {}, name_of_index);
  if (twice != index.by_name_.end())
    return refuse(fmt::format("the name '{}' occurs twice", name_of_index(*twice)));
  index.file_ = std::move(file);
  return index;
}

std::vector<std::string> MappedTensors::names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.name);
  return names;
}

const StoredTensor* MappedTensors::entry(std::string_view name) const {
  const auto name_of_index = [&](std::uint32_t i) -> std::string_view { return entries_[i].name; };
  const auto at = std::ranges::lower_bound(by_name_, name, {}, name_of_index);
  return at == by_name_.end() || name_of_index(*at) != name ? nullptr : &entries_[*at];
}

Result<std::optional<Tensor>> MappedTensors::find(std::string_view name) const {
  const auto* found = entry(name);
  if (found == nullptr) return std::optional<Tensor>();
  if (!found->unread_type.empty())
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("'{}': tensor '{}' has the type {}, which is not read", file_.origin,
                             name, found->unread_type)};
  const auto bytes =
      file_.bytes.subspan(memory_size(found->begin), memory_size(found->end - found->begin));
  auto tensor = intact(borrow_or_copy(found->dtype, found->shape, bytes, file_.owner), bytes);
  if (!tensor)
    return Error{tensor.error().code,
                 fmt::format("'{}': tensor '{}': {}", file_.origin, name, tensor.error().message)};
  return std::optional(*std::move(tensor));
}

Result<std::optional<Tensor>> MappedTensors::sample(std::string_view name,
                                                    std::int64_t most) const {
  constexpr std::int64_t kRun = 1024;
  const auto* found = entry(name);
  const auto count = found == nullptr ? Result<std::int64_t>(0) : element_count(found->shape);
  const std::int64_t elements = count ? *count : 0;
  if (found == nullptr || elements <= most || !found->unread_type.empty()) return find(name);
  const std::int64_t lanes = row_lanes(found->dtype);
  const std::int64_t run = (kRun + lanes - 1) / lanes * lanes;
  const std::int64_t runs = elements / run,
                     wanted = std::min(runs, std::max<std::int64_t>(1, most / run));
  const auto run_bytes = storage_bytes(found->dtype, static_cast<std::uint64_t>(run));
  auto tensor = Tensor::allocate(found->dtype, {run * wanted});
  if (!tensor || !run_bytes) return tensor.error();
  const auto bytes =
      file_.bytes.subspan(memory_size(found->begin), memory_size(found->end - found->begin));
  for (std::int64_t i = 0; i < wanted; ++i) {
    const auto from = memory_size(*run_bytes) * static_cast<std::size_t>(i * runs / wanted);
    std::memcpy(tensor->mutable_bytes() + memory_size(*run_bytes) * static_cast<std::size_t>(i),
                bytes.data() + from, memory_size(*run_bytes));
  }
  auto whole = intact(*std::move(tensor), bytes);
  if (!whole) return std::move(whole).error();
  return std::optional(*std::move(whole));
}

}  // namespace mir
