// Steps that all writers share: checking plans, loading tensors, padding and progress.
#include "weights/tensor_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/usage.hpp"
#include "mir/codes/weights.hpp"
#include "support/memory_size.hpp"
#include "support/platform/mapped_file.hpp"
#include "support/utf8.hpp"
#include "weights/checks.hpp"

namespace mir {

std::uint64_t data_bytes(const TensorPlan& plan) {
  const auto elements = element_count(plan.shape);
  return elements ? storage_bytes(plan.dtype, static_cast<std::uint64_t>(*elements)).value_or(0)
                  : 0;
}

std::optional<DType> stored_type(TensorFormat format, DType dtype) {
  const auto has = row_of(format).has_type;
  if (has(dtype)) return dtype;
  const DType plain = storage_type(dtype);
  if (has(plain)) return plain;
  return std::nullopt;
}

Result<void> check_plans(std::span<const TensorPlan> plans, const PlanRules& rules) {
  std::set<std::string_view> names;
  for (const auto& plan : plans) {
    if (const auto problem = name_problem(plan.name))
      return Error{diag::kTensorNameInvalid, fmt::format("a tensor name {}", *problem)};
    if (!names.insert(plan.name).second)
      return Error{diag::kTensorNameInvalid, fmt::format("two tensors named '{}'", plan.name)};
    if (plan.name.size() > rules.max_name)
      return Error{diag::kTensorNameInvalid,
                   fmt::format("the name '{}' has {} bytes, {} holds at most {}", plan.name,
                               plan.name.size(), name_of(rules.format), rules.max_name)};
    if (!stored_type(rules.format, plan.dtype))
      return Error{diag::kTensorDtypeUnsupported,
                   fmt::format("{} has no type for tensor '{}' of type {}", name_of(rules.format),
                               plan.name, name_of(plan.dtype))};
    if (plan.shape.size() > rules.max_rank)
      return Error{diag::kLimitExceeded,
                   fmt::format("tensor '{}' has rank {}, at most {} can be stored", plan.name,
                               plan.shape.size(), rules.max_rank)};
    const auto elements = element_count(plan.shape);
    const auto row = plan.shape.empty() ? 1 : plan.shape.back();
    if (!elements || row % info(plan.dtype).lanes != 0)
      return Error{diag::kTensorStorage,
                   fmt::format("tensor '{}' cannot have type {} and extents {}", plan.name,
                               name_of(plan.dtype), shape_text(plan.shape))};
  }
  return {};
}

void WriteOptions::add_metadata(const TensorFile& file) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < gguf_metadata.size(); ++i) places.emplace(gguf_metadata[i].key, i);
  for (const GgufMetadata& pair : file.gguf_metadata()) {
    metadata.erase(pair.key);
    const auto place = places.find(pair.key);
    if (place == places.end())
      gguf_metadata.push_back(pair);
    else
      gguf_metadata[place->second] = pair;
  }
  for (const auto& [key, text] : file.metadata()) metadata.insert_or_assign(key, text);
}

std::map<std::string, std::string> WriteOptions::texts() const {
  auto all = metadata;
  for (const GgufMetadata& pair : gguf_metadata) {
    const auto text = pair.string();
    if (text && is_utf8(*text)) all.try_emplace(pair.key, *text);
  }
  return all;
}

Result<Tensor> load_planned(const TensorPlan& plan) {
  auto tensor = plan.load();
  if (!tensor)
    return Error{tensor.error().code,
                 fmt::format("tensor '{}': {}", plan.name, tensor.error().message)};
  if (tensor->dtype() == plan.dtype && tensor->shape() == plan.shape) return tensor;
  return Error{
      diag::kTensorTypeConflict,
      fmt::format("tensor '{}' is {} {}, planned was {} {}", plan.name, name_of(tensor->dtype()),
                  shape_text(tensor->shape()), name_of(plan.dtype), shape_text(plan.shape))};
}

Result<TensorWriter> TensorWriter::create(const std::string& path,
                                          std::span<const TensorPlan> plans,
                                          const WriteOptions& options) {
  auto file = AtomicFile::create(path);
  if (!file) return std::move(file).error();
  TensorWriter writer(*std::move(file), options);
  for (const auto& plan : plans) writer.total_ += data_bytes(plan);
  return writer;
}

Result<void> TensorWriter::fill_to(std::uint64_t position) {
  return file_.write(std::string(memory_size(position - file_.size()), '\0'));
}

Result<void> TensorWriter::write_data(const Tensor& tensor) {
  auto written = file_.write(tensor.bytes());
  // A page that is gone makes the write fail, or reads as zeros.
  if (lies_in_shortened_file(tensor.bytes()))
    return Error{diag::kFileShortened, "the file that is read was shortened meanwhile"};
  if (!written) return written;
  done_ += tensor.bytes().size();
  if (options_->progress) options_->progress(done_, total_);
  return {};
}

std::vector<TensorPlan> plans_of(std::span<const NamedTensor> tensors) {
  std::vector<TensorPlan> plans;
  for (const auto& [name, tensor] : tensors)
    plans.push_back({name, tensor.dtype(), tensor.shape(),
                     [tensor = tensor] { return Result<Tensor>(tensor); }});
  return plans;
}

Result<void> write_tensors(const std::string& path, TensorFormat format,
                           std::span<const TensorPlan> plans, const WriteOptions& options) {
  const TensorFormatRow& row = row_of(format);
  if (row.write != nullptr) return row.write(path, plans, options);
  return Error{diag::kUsage, fmt::format("{} is read, not written", row.name)};
}

}  // namespace mir
