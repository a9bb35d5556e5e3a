#include <fmt/format.h>

#include <algorithm>

#include "mir/plan/execution_plan.hpp"
#include "mir/support/mapping_guard.hpp"

namespace mir {

namespace {

/// Small matrices share blocks, so that each needs no large page of its own.
constexpr std::size_t kBlockBytes = std::size_t{64} << 20;

}  // namespace

Result<std::span<std::byte>> PackedWeights::allocate(std::size_t bytes) {
  if (blocks_.empty() || blocks_.back().size() - used_ < bytes) {
    // What is not written takes no memory; but a system may refuse to promise that much.
    fast::LargePages block(std::max({bytes, kBlockBytes, expected_ - std::min(expected_, bytes_)}));
    if (block.size() < bytes) block = fast::LargePages(bytes);
    if (block.size() < bytes) {
      return Error{DiagCode::kLimitExceeded,
                   fmt::format("no memory for weights of {} bytes", bytes)};
    }
    blocks_.push_back(std::move(block));
    used_ = 0;
  }
  const std::span<std::byte> part(blocks_.back().data() + used_, bytes);
  used_ += bytes;
  bytes_ += bytes;
  return part;
}

void PackedWeights::expect(std::size_t bytes) {
  expected_ = bytes;
}

const fast::PackedMatrix* PackedWeights::find(Symbol parameter) const {
  const auto found = matrices_.find(parameter);
  return found == matrices_.end() ? nullptr : found->second.get();
}

Result<const fast::PackedMatrix*> PackedWeights::pack(Symbol parameter, const Tensor& tensor,
                                                      std::int64_t outputs, std::int64_t depth,
                                                      fast::Context& context,
                                                      fast::Activations activations) {
  const auto [found, is_new] = matrices_.try_emplace(parameter);
  if (!is_new) {
    if (found->second->outputs == outputs && found->second->depth == depth &&
        found->second->activations == activations) {
      return const_cast<const fast::PackedMatrix*>(found->second.get());
    }
    return Error{DiagCode::kParameterSize, "a weight is used in two ways"};
  }
  std::int64_t elements = 0;
  const bool fits = !__builtin_mul_overflow(outputs, depth, &elements) && outputs >= 0 &&
                    depth >= 0 && elements == tensor.elements();
  auto memory =
      fits
          ? allocate(fast::packed_bytes(tensor.dtype(), outputs, depth, context.isa(), activations))
          : Result<std::span<std::byte>>(Error{
                DiagCode::kParameterSize, fmt::format("a weight of {} elements is used as [{}, {}]",
                                                      tensor.elements(), outputs, depth)});
  if (!memory) {
    matrices_.erase(found);
    return std::move(memory).error();
  }
  found->second = std::make_unique<fast::PackedMatrix>(fast::pack(
      tensor.bytes().data(), tensor.dtype(), outputs, depth, *memory, context, activations));
  // The packed form is what runs read; of a file that is mapped nothing need stay in memory.
  forget_pages(tensor.bytes());
  return const_cast<const fast::PackedMatrix*>(found->second.get());
}

}  // namespace mir
