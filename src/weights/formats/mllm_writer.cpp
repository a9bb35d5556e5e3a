// Writes `.mllm` files of version 2.
#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "mir/codes/limits.hpp"
#include "mir/codes/weights.hpp"
#include "weights/checks.hpp"
#include "weights/formats/mllm.hpp"
#include "weights/packed_fields.hpp"
#include "weights/tensor_writer.hpp"

namespace mir {
namespace {

constexpr std::size_t kModelName = 512;  // one byte for a NUL here, too
constexpr std::uint64_t kHeader = 532;
constexpr std::uint64_t kDescriptor = 352;
constexpr std::size_t kMaxMllmRank = 16;
constexpr std::size_t kTensorName = 256;  // one byte for the NUL that upstream's C++ reader wants
constexpr std::uint64_t kMllmAlignment = 64;

/// `text`, which is not longer than `width`, filled up with zeros.
std::string padded(std::string_view text, std::size_t width) {
  std::string field(width, '\0');
  text.copy(field.data(), width);
  return field;
}

Result<std::string> descriptor(const TensorPlan& plan, std::uint32_t number,
                               std::uint64_t position) {
  std::string shape;
  for (const auto extent : plan.shape) {
    if (extent > std::numeric_limits<std::int32_t>::max())
      return Error{diag::kLimitExceeded,
                   fmt::format("tensor '{}' has extents {}, mllm v2 stores 31 bits of each",
                               plan.name, shape_text(plan.shape))};
    shape += pack(static_cast<std::uint32_t>(extent));
  }
  const DType stored = *stored_type(TensorFormat::kMllm2, plan.dtype);
  auto text = pack(number, *mllm_dtype_id(stored), data_bytes(plan), position,
                   std::uint64_t{plan.shape.size()});
  text += padded(shape, kMaxMllmRank * sizeof(std::uint32_t));
  text += padded(plan.name, kTensorName);
  return text;
}

/// The field of the header for the name of the model, empty when none is stated.
Result<std::string> model_name_field(const WriteOptions& options) {
  const auto texts = options.texts();
  const auto stated = texts.find(std::string(kMllmModelName));
  const std::string name = stated == texts.end() ? std::string() : stated->second;
  const auto problem = name.empty() ? std::nullopt : name_problem(name);
  if (problem) return Error{diag::kTensorNameInvalid, fmt::format("the model name {}", *problem)};
  if (name.size() >= kModelName)
    return Error{diag::kTensorNameInvalid,
                 fmt::format("the model name has {} bytes, mllm v2 holds at most {}", name.size(),
                             kModelName - 1)};
  return padded(name, kModelName);
}

}  // namespace

Result<void> write_mllm_plans(const std::string& path, std::span<const TensorPlan> plans,
                              const WriteOptions& options) {
  auto checked = check_plans(
      plans,
      {.format = TensorFormat::kMllm2, .max_name = kTensorName - 1, .max_rank = kMaxMllmRank});
  if (!checked) return checked;
  if (plans.size() > std::numeric_limits<std::uint32_t>::max())
    return Error{diag::kLimitExceeded, "mllm v2 numbers tensors with 32 bits"};
  const auto model_name = model_name_field(options);
  if (!model_name) return model_name.error();
  const auto count = static_cast<std::uint32_t>(plans.size());
  std::string table;
  std::vector<std::uint64_t> positions;
  std::uint64_t end = kHeader + count * kDescriptor;
  for (std::uint32_t i = 0; i < count; ++i) {
    positions.push_back(data_bytes(plans[i]) == 0 ? end : aligned(end, kMllmAlignment));
    end = positions.back() + data_bytes(plans[i]);
    auto text = descriptor(plans[i], i, positions.back());
    if (!text) return std::move(text).error();
    table += *text;
  }
  auto file = TensorWriter::create(path, plans, options);
  if (!file) return std::move(file).error();
  constexpr std::uint32_t kVersion = 2;
  auto header = pack(kMllmMagicV2, kVersion);
  header += *model_name;
  header += pack(count, std::uint64_t{kHeader});
  if (auto written = file->write(header + table); !written) return written;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto tensor = load_planned(plans[i]);
    if (!tensor) return tensor.error();
    if (auto filled = file->fill_to(positions[i]); !filled) return filled;
    if (auto written = file->write_data(*tensor); !written) return written;
  }
  return file->commit();
}

}  // namespace mir
