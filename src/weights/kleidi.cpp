// Parses names of KleidiAI layouts and unpacks weights and biases stored in them.
#include "weights/kleidi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "mir/codes/tensors.hpp"
#include "weights/elements.hpp"

namespace mir {
namespace {

using Kind = KleidiLayout::Kind;

constexpr std::int64_t kColumnBlock = 32;
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31;  // so that no product below overflows

template <class T>
T value_at(std::span<const std::byte> bytes, std::int64_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::int64_t blocks_of(std::int64_t columns) {
  return (columns + kColumnBlock - 1) / kColumnBlock;
}

/// Bytes of one block of every row of a group: 16 of codes each, and the scales.
std::int64_t block_bytes(const KleidiLayout& layout) {
  return layout.rows * (layout.kind == Kind::kQsi4c32p ? 16 + 2 : 16 + 8);
}

/// Bytes of a group of `layout.rows` rows.
std::int64_t group_bytes(const KleidiLayout& layout, std::int64_t columns) {
  const std::int64_t rows = layout.rows;
  switch (layout.kind) {
    case Kind::kQsi4c32p:  // then sums and biases
      return blocks_of(columns) * block_bytes(layout) + rows * 8;
    case Kind::kQai4c32p:  // then biases
      return blocks_of(columns) * block_bytes(layout) + rows * 4;
    case Kind::kFp16p:  // biases, then values
      return rows * 2 * (columns + 1);
  }
  return 0;
}

/// A code of 4 bits in two's complement. A block interleaves runs of its rows; a byte has a
/// value of the first 16 columns in its low bits and the one 16 columns further in its high bits.
int code_at(const KleidiLayout& layout, std::span<const std::byte> block, std::int64_t row,
            std::int64_t column) {
  const std::int64_t in_half = column % 16;
  const std::int64_t at =
      (in_half / layout.run * layout.rows + row) * layout.run + in_half % layout.run;
  const int byte = std::to_integer<int>(block[static_cast<std::size_t>(at)]);
  const int code = column < 16 ? byte & 15 : byte >> 4;
  return code >= 8 ? code - 16 : code;
}

/// An element is code x factor x scale + term.
struct BlockParameters {
  float factor;
  float scale;
  float term;
};

BlockParameters parameters_at(const KleidiLayout& layout, std::span<const std::byte> block,
                              std::int64_t row) {
  const std::int64_t scales = layout.rows * 16;
  // A term of -0 changes no number, not even a zero.
  if (layout.kind == Kind::kQsi4c32p)
    return {1, static_cast<float>(bf16_to_double(value_at<std::uint16_t>(block, scales + row * 2))),
            -0.0f};
  return {16, value_at<float>(block, scales + layout.rows * 4 + row * 4),
          value_at<float>(block, scales + row * 4)};
}

/// Block number `number` of a group.
std::span<const std::byte> block_at(const KleidiLayout& layout, std::span<const std::byte> group,
                                    std::int64_t number) {
  return group.subspan(static_cast<std::size_t>(number * block_bytes(layout)));
}

/// The bias of a row, of a layout that has them after the blocks.
float last_bias(const KleidiLayout& layout, std::span<const std::byte> group, std::int64_t row) {
  return value_at<float>(group, static_cast<std::int64_t>(group.size()) - (layout.rows - row) * 4);
}

/// One row of a group into `weight`; its bias is returned.
float unpack_row(const KleidiLayout& layout, std::span<const std::byte> group, std::int64_t row,
                 std::span<float> weight) {
  const auto columns = static_cast<std::int64_t>(weight.size());
  const std::int64_t rows = layout.rows;
  const auto half = [&](std::int64_t index) {
    return static_cast<float>(f16_to_double(value_at<std::uint16_t>(group, index * 2)));
  };
  if (layout.kind == Kind::kFp16p) {
    for (std::int64_t k = 0; k < columns; ++k)
      weight[static_cast<std::size_t>(k)] = half((k + 1) * rows + row);
    return half(row);
  }
  for (std::int64_t k = 0; k < columns; ++k) {
    const auto block = block_at(layout, group, k / kColumnBlock);
    const auto [factor, scale, term] = parameters_at(layout, block, row);
    const auto code = static_cast<float>(code_at(layout, block, row, k % kColumnBlock));
    // code x factor is a small integer, so this is rounded once.
    weight[static_cast<std::size_t>(k)] = std::fma(code * factor, scale, term);
  }
  return last_bias(layout, group, row);
}

/// One row of a group as `blocks` of MIR_Q4_A32; the number of a block whose scale is too large.
std::optional<std::int64_t> repack_row(const KleidiLayout& layout, std::span<const std::byte> group,
                                       std::int64_t row, std::span<std::byte> blocks) {
  const std::int64_t unit = info(DType::kMirQ4A32).unit_bytes;
  std::byte* to = blocks.data();
  for (std::int64_t number = 0; number < static_cast<std::int64_t>(blocks.size()) / unit;
       ++number, to += unit) {
    const auto block = block_at(layout, group, number);
    const auto [factor, sixteenth, term] = parameters_at(layout, block, row);
    const float scale = factor * sixteenth;
    if (std::isinf(scale) && !std::isinf(sixteenth)) return number;
    std::memcpy(to, &scale, sizeof scale);
    std::memcpy(to + 4, &term, sizeof term);
    for (std::int64_t i = 0; i < 16; ++i) {
      const int low = code_at(layout, block, row, i) + 8;
      const int high = code_at(layout, block, row, i + 16) + 8;
      to[8 + i] = static_cast<std::byte>(low | high << 4);
    }
  }
  return std::nullopt;
}

std::optional<int> leading_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The `8x4` after the last `name` in the text, as a layout whose runs fill 16 columns.
std::optional<KleidiLayout> tiled(std::string_view text, std::string_view name, Kind kind) {
  const auto at = text.rfind(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  const auto rows = leading_number(text);
  if (!rows || !text.starts_with('x')) return std::nullopt;
  text.remove_prefix(1);
  const auto run = leading_number(text);
  const bool known = run && (*rows == 4 || *rows == 8) && (*run == 4 || *run == 8);
  if (!known || !(text.empty() || text.starts_with('_'))) return std::nullopt;
  return KleidiLayout{kind, *rows, *run};
}

}  // namespace

std::optional<KleidiLayout> kleidi_layout(std::string_view text) {
  if (const auto layout = tiled(text, "qsi4c32p", Kind::kQsi4c32p)) return layout;
  if (const auto layout = tiled(text, "qai4c32p", Kind::kQai4c32p)) return layout;
  if (text == "fp16p" || text == "KaiLinear_fp16_fp16_fp16p_mxk_kxn")
    return KleidiLayout{.kind = Kind::kFp16p, .rows = 16, .run = 1};
  return std::nullopt;
}

std::optional<std::uint64_t> kleidi_bytes(const KleidiLayout& layout, std::int64_t rows,
                                          std::int64_t columns) {
  if (rows < 1 || columns < 1 || rows > kMaxExtent || columns > kMaxExtent) return std::nullopt;
  if (layout.kind == Kind::kQai4c32p && columns % kColumnBlock != 0) return std::nullopt;
  const auto groups = static_cast<std::uint64_t>((rows + layout.rows - 1) / layout.rows);
  const auto bytes = static_cast<std::uint64_t>(group_bytes(layout, columns));
  if (groups > Tensor::kMaxBytes / bytes) return std::nullopt;
  return groups * bytes;
}

bool kleidi_fits_blocks(const KleidiLayout& layout, std::int64_t columns) {
  return layout.kind != Kind::kFp16p && columns % kColumnBlock == 0;
}

Result<UnpackedLinear> unpack_kleidi(const KleidiLayout& layout, std::int64_t rows,
                                     std::int64_t columns, std::span<const std::byte> packed,
                                     DType to) {
  const auto needed = kleidi_bytes(layout, rows, columns);
  if (!needed || *needed != packed.size())
    return Error{diag::kTensorStorage,
                 fmt::format("{} bytes are packed, a matrix of [{}, {}] in this layout has {}",
                             packed.size(), rows, columns,
                             needed ? fmt::format("{}", *needed) : "no packed form")};
  const bool as_blocks = to == DType::kMirQ4A32;
  if (as_blocks ? !kleidi_fits_blocks(layout, columns) : to != DType::kFloat32)
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("a matrix of {} columns in this layout cannot become {}", columns,
                             name_of(to))};
  auto weight = Tensor::allocate(to, {rows, columns});
  if (!weight) return std::move(weight).error();
  auto bias = Tensor::allocate(DType::kFloat32, {rows});
  if (!bias) return std::move(bias).error();
  const auto size = static_cast<std::size_t>(group_bytes(layout, columns));
  const auto width = weight->bytes().size() / static_cast<std::size_t>(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto index = static_cast<std::size_t>(row);
    const auto group = packed.subspan(static_cast<std::size_t>(row / layout.rows) * size, size);
    const std::int64_t in_group = row % layout.rows;
    if (!as_blocks) {
      bias->as_mutable<float>()[index] =
          unpack_row(layout, group, in_group,
                     weight->as_mutable<float>().subspan(index * width / 4, width / 4));
      continue;
    }
    const std::span<std::byte> into(weight->mutable_bytes() + index * width, width);
    if (const auto block = repack_row(layout, group, in_group, into))
      return Error{
          diag::kElementOutOfRange,
          fmt::format("the scale of row {}, block {}, is too large for Float32", row, *block)};
    bias->as_mutable<float>()[index] = last_bias(layout, group, in_group);
  }
  return UnpackedLinear{*std::move(weight), *std::move(bias)};
}

}  // namespace mir
