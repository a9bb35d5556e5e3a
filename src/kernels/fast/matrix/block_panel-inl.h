// The layout of weights in blocks that are packed, and packing.
//
// Included by block_products-inl.h, inside its namespace, after block_steps-inl.h.

/// Places in a panel, which contains the blocks of its outputs one after the other. A block is a
/// head and chunks of kRun elements. The head has the scales and minima of blocks whose runs have
/// factors. A chunk has the scales and minima of its runs, or their factors, and the planes of its
/// codes. All outputs lie side by side.
///
/// Codes of 8 bits lie as Dot<8>::load reads them. Otherwise, four successive elements are a group,
/// and an output has 4 bytes of a row, one for each element of a group. A plane of b bits is b
/// rows. Each byte has the bits of 8 / b successive groups, those of the first lowest.
struct PanelLayout {
  std::int64_t parameter;      ///< bytes of a scale or minimum, or of a factor
  std::int64_t head;           ///< bytes
  std::int64_t minima, codes;  ///< places in a chunk
  std::int64_t chunk, block;   ///< bytes
  std::int64_t chunks_of_block;

  explicit PanelLayout(const BlockLayout& layout) {
    const bool is_pair = layout.parameters == RunParameters::kNibbles;
    const std::int64_t halves = (layout.has_minimum ? 2 : 1) * kTileWidth * 2;
    parameter = layout.has_factors() ? 1 : layout.parameters == RunParameters::kHalves ? 2 : 4;
    head = layout.has_factors() ? halves : 0;
    minima = kRun / layout.run * kTileWidth * parameter;
    codes = layout.has_minimum && !is_pair ? 2 * minima : minima;
    chunk = codes + kTileWidth * kRun * (layout.low_bits + layout.high_bits) / 8;
    chunks_of_block = layout.lanes / kRun;
    block = head + chunks_of_block * chunk;
  }
};

std::int64_t panel_bytes(const BlockLayout& layout, std::int64_t depth) {
  return depth / layout.lanes * PanelLayout(layout).block;
}

/// Groups of 4 elements in a chunk, and steps of a product in a group.
inline constexpr int kGroups = static_cast<int>(kRun / 4);
template <bool kIsByte>
inline constexpr int kStepsOfGroup = static_cast<int>(4 / Dot<(kIsByte ? 8 : 4)>::kStep);

/// Groups of codes as numbers of 32 bits. If products take words, the inner bytes are exchanged:
/// the even bytes of a group are the words of the first step and the odd ones those of the second.
std::array<std::uint32_t, kGroups> groups_of(const std::uint8_t* codes, bool takes_words) {
  std::array<std::uint32_t, kGroups> groups;
  std::memcpy(groups.data(), codes, sizeof groups);
  if (!takes_words) return groups;
  for (std::uint32_t& group : groups) {
    group = (group & 0xff0000ff) | (group >> 8 & 0xff00) | (group & 0xff00) << 8;
  }
  return groups;
}

/// Stores the bits from `first` on of the codes of an output, whose place in the plane is `to`.
/// Returns its place in the next plane.
template <int kBits>
std::byte* put_plane(const std::array<std::uint32_t, kGroups>& groups, int first, std::byte* to) {
  constexpr std::uint32_t kMask = 0x01010101U * ((1U << kBits) - 1);
  constexpr std::size_t kFields = 8 / kBits;
  for (std::size_t row = 0; row < kBits; ++row, to += kTileWidth * 4) {
    std::uint32_t lane = 0;
    for (std::size_t i = 0; i < kFields; ++i) {
      lane |= (groups[row * kFields + i] >> first & kMask) << (i * kBits);
    }
    std::memcpy(to, &lane, sizeof lane);
  }
  return to;
}

/// Stores the codes of an output in a chunk, whose codes are at `to`.
void put_codes(const BlockLayout& layout, const std::uint8_t* codes, std::int64_t column,
               std::byte* to) {
  if (layout.is_signed()) {
    constexpr std::int64_t kStep = Dot<8>::kStep;
    std::array<std::uint8_t, kRun> biased;
    for (std::size_t i = 0; i < biased.size(); ++i) {
      biased[i] = static_cast<std::uint8_t>(codes[i] ^ kCodeBias);
    }
    for (std::int64_t k = 0; k < kRun; k += kStep) {
      std::memcpy(to + k * kTileWidth + column * kStep, biased.data() + k, kStep);
    }
    return;
  }
  const auto groups = groups_of(codes, kTakesWords && layout.is_byte());
  to += 4 * column;
  to = layout.low_bits == 4 ? put_plane<4>(groups, 0, to) : put_plane<2>(groups, 0, to);
  if (layout.high_bits == 1) put_plane<1>(groups, layout.low_bits, to);
  if (layout.high_bits == 2) put_plane<2>(groups, layout.low_bits, to);
}

/// Stores the block of an output in the block of a panel.
void put_block(const BlockLayout& layout, const PanelLayout& at, const BlockCodes& block,
               std::int64_t column, std::byte* to) {
  const auto put_bits = [&](std::uint32_t bits, std::int64_t bytes, std::byte* first) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (bytes == 2) std::memcpy(first + 2 * column, &half, sizeof half);
    if (bytes == 4) std::memcpy(first + 4 * column, &bits, sizeof bits);
  };
  const std::int64_t bytes = layout.has_factors() ? 2 : at.parameter;
  const std::int64_t minimum = layout.has_factors() ? kTileWidth * 2 : at.minima;
  put_bits(block.scale_bits, bytes, to);
  if (layout.has_minimum) put_bits(block.minimum_bits, bytes, to + minimum);
  to += at.head;
  const std::int64_t runs = kRun / layout.run;
  for (std::int64_t chunk = 0; chunk < at.chunks_of_block; ++chunk, to += at.chunk) {
    for (std::int64_t i = 0; layout.has_factors() && i < runs; ++i) {
      const auto run = static_cast<std::size_t>(chunk * runs + i);
      std::byte* const place = to + i * kTileWidth + column;
      *place = std::byte{block.scales[run]};
      if (at.codes > at.minima) place[at.minima] = std::byte{block.minima[run]};
    }
    put_codes(layout, block.codes.data() + chunk * kRun, column, to + at.codes);
  }
}

void pack_panel(const std::byte* weight, const PackedMatrix& matrix, const BlockLayout& layout,
                std::int64_t panel, std::byte* to) {
  const PanelLayout at(layout);
  const std::int64_t blocks = matrix.depth / layout.lanes;
  const auto block_bytes = static_cast<std::int64_t>(info(matrix.dtype).unit_bytes);
  std::byte* packed = to + panel * blocks * at.block;
  const std::int64_t first = panel * kTileWidth;
  const std::int64_t columns = std::min(kTileWidth, matrix.outputs - first);
  if (columns < kTileWidth) std::memset(packed, 0, static_cast<std::size_t>(blocks * at.block));
  const auto* const stored =
      reinterpret_cast<const std::uint8_t*>(weight) + first * blocks * block_bytes;
  BlockCodes codes{};
  for (std::int64_t block = 0; block < blocks; ++block, packed += at.block) {
    for (std::int64_t column = 0; column < columns; ++column) {
      layout.read(stored + (column * blocks + block) * block_bytes, codes);
      put_block(layout, at, codes, column, packed);
    }
  }
}
