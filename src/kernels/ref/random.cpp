// The Philox generator, and uniform random numbers drawn with it.
#include "kernels/ref/random.hpp"

#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/operands.hpp"

namespace mir::ref {

namespace {

std::array<std::uint32_t, 2> words_of(std::uint64_t number) {
  return {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
}

bool is_state(const View& view) {
  return view.dtype == DType::kInt64 && view.rank() == 1 && view.extents[0] == 2;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const auto a = words_of(std::uint64_t{0xD2511F53} * counter[0]);
    const auto b = words_of(std::uint64_t{0xCD9E8D57} * counter[2]);
    counter = {b[1] ^ counter[1] ^ key[0], b[0], a[1] ^ counter[3] ^ key[1], a[0]};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

Result<void> random_uniform(const View& state, const MutableView& out, const MutableView& next) {
  if (auto ok = check_views("random_uniform", {state, out, next}); !ok) return ok;
  if (!is_state(state) || !is_state(next)) {
    return shape_error("random_uniform", "a state is not two Int64");
  }
  if (out.dtype != DType::kFloat32) return dtype_error("random_uniform", out.dtype);
  const auto* from = static_cast<const std::int64_t*>(state.data);
  const auto key = static_cast<std::uint64_t>(from[0]);
  auto counter = static_cast<std::uint64_t>(from[state.strides[0]]);
  std::array<std::uint32_t, 4> words = {};
  std::size_t used = words.size();
  auto* values = static_cast<float*>(out.data);
  for_each_offset<1>(out.extents, {out.strides}, [&](Offsets<1> at) {
    if (used == words.size()) {
      const auto number = words_of(counter++);
      words = philox({number[0], number[1], 0, 0}, words_of(key));
      used = 0;
    }
    values[at[0]] = static_cast<float>(words[used++] >> 8) * 0x1p-24F;
  });
  auto* to = static_cast<std::int64_t*>(next.data);
  to[0] = static_cast<std::int64_t>(key);
  to[next.strides[0]] = static_cast<std::int64_t>(counter);
  return {};
}

}  // namespace mir::ref
