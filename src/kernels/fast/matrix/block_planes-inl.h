// Loads codes, scales and minima of packed blocks into registers.
//
// Included by block_products-inl.h, inside its namespace, after block_panel-inl.h.

/// Codes of a chunk in a panel: planes of kLow and kHigh bits. Operands are those of Dot<kBits>.
template <int kLow, int kHigh>
struct Planes {
  static constexpr bool kIsByte = kLow + kHigh > 4;
  static constexpr int kBits = kIsByte ? 8 : 4;
  static constexpr int kSteps = kStepsOfGroup<kIsByte>;
  /// Bytes of a group of all outputs of a panel.
  static constexpr std::int64_t kGroupBytes = kTileWidth * (kLow + kHigh) * 4 / 8;

  /// Added to each code. Then the offset is one for which RunSums has initial values.
  static std::int32_t bias_of(const BlockLayout& layout) {
    if (layout.offset == 0 || kHigh == 0) return 0;
    return (kIsByte ? kCodeBias : kOffset4) - layout.offset;
  }
  /// The bias in each byte, or in each word if operands are words.
  static IntVector biases(std::int32_t bias) {
    const std::uint32_t each = kSteps == 2 ? static_cast<std::uint16_t>(bias) * 0x10001U
                                           : static_cast<std::uint8_t>(bias) * 0x01010101U;
    return hn::Set(Ints(), static_cast<std::int32_t>(each));
  }

  /// Operands of group kGroup for one vector of outputs.
  template <int kGroup>
  static MIR_MICROKERNEL void load(const std::uint8_t* codes, int v, IntVector bias,
                                   IntVector (&operands)[kSteps]) {
    if constexpr (kLow == 8) {
      constexpr std::int64_t kBytes = kLanes * Dot<8>::kStep;
      HWY_UNROLL(2)
      for (int step = 0; step < kSteps; ++step) {
        operands[step] =
            Dot<8>::load(codes + ((kGroup * kSteps + step) * kTileVectors + v) * kBytes);
      }
    } else {
      QuadVector code = field<kLow, kGroup, 0>(codes, v);
      if constexpr (kHigh != 0) {
        code = hn::Or(code, field<kHigh, kGroup, kLow>(codes + kTileWidth * 4 * kLow, v));
      }
      const IntVector bytes = hn::BitCast(Ints(), code);
      const auto add = [&](IntVector of) HWY_ATTR {
        if constexpr (kHigh == 0) return of;
        return kSteps == 2 ? add_words(of, bias) : hn::Add(of, bias);
      };
      if constexpr (kSteps == 1) {
        operands[0] = add(bytes);
      } else {
        const IntVector low_bytes = hn::Set(Ints(), 0x00ff00ff);
        operands[0] = add(hn::And(bytes, low_bytes));
        operands[1] = add(hn::And(hn::BitCast(Ints(), hn::ShiftRight<8>(code)), low_bytes));
      }
    }
  }

 private:
  /// The kWidth bits of each code of a group in a plane, moved to the bits from kTo on of a byte.
  template <int kWidth, int kGroup, int kTo>
  static HWY_INLINE QuadVector field(const std::uint8_t* plane, int v) {
    constexpr int kFields = 8 / kWidth, kFrom = kGroup % kFields * kWidth;
    const QuadVector mask = hn::Set(Quads(), 0x01010101U * (((1U << kWidth) - 1) << kTo));
    const QuadVector row = load_quads(plane + (kGroup / kFields * kTileVectors + v) * kLanes * 4);
    if constexpr (kFrom > kTo) return hn::And(hn::ShiftRight<kFrom - kTo>(row), mask);
    if constexpr (kFrom < kTo) return hn::And(hn::ShiftLeft<kTo - kFrom>(row), mask);
    return hn::And(row, mask);
  }
};

/// Scale and minimum of a block or of a run, for one vector of outputs.
struct Parameters {
  FloatVector scale, minimum;
};

/// Bytes of a scale or minimum of a run, or of its factor.
template <RunParameters kParameters>
inline constexpr std::int64_t kParameterBytes = kParameters == RunParameters::kFloats   ? 4
                                                : kParameters == RunParameters::kHalves ? 2
                                                                                        : 1;

HWY_INLINE FloatVector load_halves(const std::uint8_t* at, int v) {
  return load_floats(reinterpret_cast<const hwy::float16_t*>(at) + v * kLanes);
}

/// Scale and negative minimum of a block, or zeros if its runs have no factors.
template <RunParameters kParameters>
MIR_MICROKERNEL Parameters block_parameters(const std::uint8_t* head, bool has_minimum, int v) {
  const FloatVector none = hn::Zero(Floats());
  if constexpr (kParameters == RunParameters::kBytes || kParameters == RunParameters::kNibbles) {
    return {load_halves(head, v),
            has_minimum ? hn::Neg(load_halves(head + 2 * kTileWidth, v)) : none};
  }
  return {none, none};
}

/// Scale and minimum of the run whose parameters are at `at`; the minima of all outputs follow
/// `minima` bytes later.
template <RunParameters kParameters>
MIR_MICROKERNEL Parameters run_parameters(const std::uint8_t* at, std::int64_t minima,
                                          bool has_minimum, const Parameters& block, int v) {
  const Floats d;
  const FloatVector none = hn::Zero(d);
  if constexpr (kParameters == RunParameters::kHalves) {
    return {load_halves(at, v), has_minimum ? load_halves(at + minima, v) : none};
  } else if constexpr (kParameters == RunParameters::kFloats) {
    const auto* const floats = reinterpret_cast<const float*>(at) + v * kLanes;
    return {load_floats(floats), has_minimum ? load_floats(floats + minima / 4) : none};
  } else if constexpr (kParameters == RunParameters::kBytes) {
    // Products of 11 with 8 bits are exact.
    const auto load = [&](const std::uint8_t* factors) HWY_ATTR {
      const hn::Rebind<std::int8_t, Ints> bytes;
      const auto* const from = reinterpret_cast<const std::int8_t*>(factors) + v * kLanes;
      return hn::ConvertTo(d, hn::PromoteTo(Ints(), hn::LoadU(bytes, from)));
    };
    return {hn::Mul(block.scale, load(at)),
            has_minimum ? hn::Mul(block.minimum, load(at + minima)) : none};
  } else {
    const hn::Rebind<std::uint8_t, Ints> bytes;
    const QuadVector both = hn::PromoteTo(Quads(), hn::LoadU(bytes, at + v * kLanes));
    const QuadVector low = hn::And(both, hn::Set(Quads(), 15)), high = hn::ShiftRight<4>(both);
    return {hn::Mul(block.scale, hn::ConvertTo(d, hn::BitCast(Ints(), low))),
            hn::Mul(block.minimum, hn::ConvertTo(d, hn::BitCast(Ints(), high)))};
  }
}
