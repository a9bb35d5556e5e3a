#include <fmt/format.h>

#include <limits>

#include "weights/formats/npy.hpp"
#include "weights/formats/npz.hpp"
#include "weights/formats/zip_directory.hpp"
#include "weights/formats/zip_writer.hpp"
#include "weights/tensor_writer.hpp"

namespace mir {
namespace {

Result<void> check(std::span<const TensorPlan> plans) {
  for (const auto& plan : plans) {
    if (plan.name.find_first_of("/\\") != std::string::npos)
      return Error{DiagCode::kTensorNameInvalid, "a tensor name contains a slash"};
  }
  return check_plans(plans, {.format = TensorFormat::kNpz,
                             .max_name = std::numeric_limits<std::uint16_t>::max() - 4,
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
    const auto local = archive.begin_member(
        plan.name + ".npy", header->size() + tensor->bytes().size(), crc, file->size());
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
