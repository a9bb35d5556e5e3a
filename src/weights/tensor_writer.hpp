// The part that the writers of all formats share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "support/platform/atomic_file.hpp"
#include "weights/write_tensors.hpp"

namespace mir {

/// Bytes of data that the plan states.
std::uint64_t data_bytes(const TensorPlan& plan);

inline std::uint64_t aligned(std::uint64_t position, std::uint64_t alignment) {
  return (position + alignment - 1) / alignment * alignment;
}

/// Limits of a format: names that are invalid, occur twice or are longer than `max_name` bytes,
/// types without a number or name, ranks over `max_rank`, and extents that do not fill whole blocks
/// are refused.
struct PlanRules {
  TensorFormat format;
  std::size_t max_name;
  std::size_t max_rank;
};
Result<void> check_plans(std::span<const TensorPlan> plans, const PlanRules& rules);

/// The elements of a plan, of the type and extents that it states.
Result<Tensor> load_planned(const TensorPlan& plan);

/// A file that is written from front to back.
class TensorWriter {
 public:
  /// `plans` and `options` outlive the writer.
  static Result<TensorWriter> create(const std::string& path, std::span<const TensorPlan> plans,
                                     const WriteOptions& options);

  Result<void> write(std::string_view text) { return file_.write(text); }
  /// Zeros up to this byte of the file.
  Result<void> fill_to(std::uint64_t position);
  /// The data of `tensor` and a report of progress.
  Result<void> write_data(const Tensor& tensor);
  std::uint64_t size() const { return file_.size(); }
  Result<void> commit() { return file_.commit(); }

 private:
  TensorWriter(AtomicFile file, const WriteOptions& options)
      : file_(std::move(file)), options_(&options) {}

  AtomicFile file_;
  const WriteOptions* options_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

Result<void> write_safetensors_plans(const std::string& path, std::span<const TensorPlan> plans,
                                     const WriteOptions& options);
Result<void> write_npz_plans(const std::string& path, std::span<const TensorPlan> plans,
                             const WriteOptions& options);
Result<void> write_mllm_plans(const std::string& path, std::span<const TensorPlan> plans,
                              const WriteOptions& options);
Result<void> write_gguf_plans(const std::string& path, std::span<const TensorPlan> plans,
                              const WriteOptions& options);

}  // namespace mir
