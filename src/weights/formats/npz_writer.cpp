// Writes NPZ archives of stored, aligned NPY members.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "mir/codes/limits.hpp"
#include "mir/codes/weights.hpp"
#include "weights/checks.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/npz.hpp"
#include "weights/formats/zip_directory.hpp"
#include "weights/formats/zip_writer.hpp"
#include "weights/tensor_writer.hpp"

namespace mir {
namespace {

constexpr std::string_view kEnding = ".npy";

/// Refuses what the reader refuses: archives over its limits, names too long with their ending.
Result<void> check(std::span<const TensorPlan> plans) {
  constexpr std::uint64_t kHeaderRoom = std::uint64_t{1} << 16;
  const NpzLimits limits;
  std::uint64_t total = 0;
  for (const auto& plan : plans) {
    if (!name_problem(plan.name) && !is_member_name(plan.name))
      return Error{diag::kTensorNameInvalid,
                   fmt::format("the name '{}' is a path out of the archive", plan.name)};
    const std::uint64_t data = data_bytes(plan);
    if (data > limits.member_bytes - kHeaderRoom || data + kHeaderRoom > limits.total_bytes - total)
      return Error{
          diag::kLimitExceeded,
          fmt::format("tensor '{}' has {} bytes, an NPZ member holds {} and all of them {}",
                      plan.name, data, limits.member_bytes, limits.total_bytes)};
    total += data + kHeaderRoom;
  }
  return check_plans(plans, {.format = TensorFormat::kNpz,
                             .max_name = kMaxTensorName - kEnding.size(),
                             .max_rank = kMaxFileRank});
}

}  // namespace

Result<void> write_npz_plans(const std::string& path, std::span<const TensorPlan> plans,
                             const WriteOptions& options) {
  if (auto checked = check(plans); !checked) return checked;
  auto file = TensorWriter::create(path, plans, options);
  if (!file) return std::move(file).error();
  ZipWriter archive;
  for (const auto& plan : plans) {
    const auto tensor = load_planned(plan);
    if (!tensor) return tensor.error();
    const auto header = npy_header(*tensor);
    if (!header)
      return Error{header.error().code,
                   fmt::format("tensor '{}': {}", plan.name, header.error().message)};
    const auto crc = crc32_of(tensor->bytes(), crc32_of(std::as_bytes(std::span(*header))));
    const auto local =
        archive.begin_member(plan.name + std::string(kEnding),
                             header->size() + tensor->bytes().size(), crc, file->size());
    if (auto written = file->write(local + *header); !written) return written;
    if (auto written = file->write_data(*tensor); !written) return written;
  }
  if (auto written = file->write(archive.finish(file->size())); !written) return written;
  return file->commit();
}

Result<void> write_npz(const std::string& path, std::span<const NamedTensor> tensors) {
  return write_npz_plans(path, plans_of(tensors), {});
}

}  // namespace mir
