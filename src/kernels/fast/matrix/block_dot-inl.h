// Sums of products of 8-bit integers in 32-bit lanes.
//
// Included by block_steps-inl.h, inside its namespace. A Dot<kBits> sums products of codes of a
// weight, which have kBits, with codes of activations, which lie within -127 and 127. Each lane
// takes kStep successive elements of its output at once; `x` has those of the activations, as
// bytes or, where kStep is 2, as 16-bit words.
//   sum = start_of(first) in each lane; sum = add(sum, factor, x) for all elements of a run;
//   finish(sum) is first plus the products.

using Ints = hn::RebindToSigned<Floats>;
using IntVector = hn::Vec<Ints>;
using Quads = hn::RebindToUnsigned<Floats>;
using QuadVector = hn::Vec<Quads>;

HWY_INLINE QuadVector load_quads(const std::uint8_t* from) {
  return hn::LoadU(Quads(), reinterpret_cast<const std::uint32_t*>(from));
}

/// `v`, which has to be in a register when control comes here.
HWY_INLINE IntVector in_register(IntVector v) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  auto raw = v.raw;
  asm volatile("" : "+v"(raw));
  return IntVector{raw};
#else
  return v;
#endif
}

/// Sums of 16-bit lanes.
HWY_INLINE IntVector add_words(IntVector a, IntVector b) {
#if HWY_TARGET == HWY_AVX2
  return IntVector{_mm256_add_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX3
  return IntVector{_mm512_add_epi16(a.raw, b.raw)};
#else
  const IntVector low = hn::Set(Ints(), 0xffff);
  const IntVector high = hn::Add(hn::AndNot(low, a), hn::AndNot(low, b));
  return hn::Or(hn::And(low, hn::Add(a, b)), high);
#endif
}

#if MIR_DOT

/// Codes are not negative; those of 8 bits are stored with a bias of 128.
inline constexpr int kCodeBias = 128;

template <int kBits>
struct Dot {
  static constexpr std::int64_t kStep = 4;
  static HWY_INLINE IntVector load(const std::uint8_t* from) {
    return hn::BitCast(Ints(), load_quads(from));
  }
  static HWY_INLINE std::int32_t start_of(std::int32_t first) { return first; }
  static HWY_INLINE IntVector add(IntVector sum, IntVector codes, IntVector x) {
    return IntVector{_mm512_dpbusd_epi32(sum.raw, codes.raw, x.raw)};
  }
  static HWY_INLINE IntVector finish(IntVector sum) { return sum; }
};

#else

inline constexpr int kCodeBias = 0;

template <int kBits>
struct Dot;

#if HWY_TARGET == HWY_AVX2

/// Products of unsigned a and signed b, added in pairs.
HWY_INLINE IntVector multiply_bytes(IntVector a, IntVector b) {
  return IntVector{_mm256_maddubs_epi16(a.raw, b.raw)};
}
/// Products of 16-bit lanes, added in pairs.
HWY_INLINE IntVector multiply_words(IntVector a, IntVector b) {
  return IntVector{_mm256_madd_epi16(a.raw, b.raw)};
}
HWY_INLINE IntVector load_words(const std::uint8_t* from) {
  return IntVector{_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))};
}

#elif HWY_TARGET == HWY_AVX3

HWY_INLINE IntVector multiply_bytes(IntVector a, IntVector b) {
  return IntVector{_mm512_maddubs_epi16(a.raw, b.raw)};
}
HWY_INLINE IntVector multiply_words(IntVector a, IntVector b) {
  return IntVector{_mm512_madd_epi16(a.raw, b.raw)};
}
HWY_INLINE IntVector load_words(const std::uint8_t* from) {
  return IntVector{
      _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
}

#else

/// The low (0) or high (1) 16 bits of each lane with their sign.
template <int kWord>
HWY_INLINE IntVector word_of(IntVector v) {
  return hn::ShiftRight<16>(hn::ShiftLeft<16 - 16 * kWord>(v));
}
HWY_INLINE IntVector multiply_words(IntVector a, IntVector b) {
  return hn::Add(hn::Mul(word_of<0>(a), word_of<0>(b)), hn::Mul(word_of<1>(a), word_of<1>(b)));
}
HWY_INLINE IntVector load_words(const std::uint8_t* from) {
  HWY_ALIGN std::int16_t words[2 * kLanes];
  for (std::int64_t i = 0; i < 2 * kLanes; ++i) words[i] = static_cast<std::int8_t>(from[i]);
  HWY_ALIGN std::int32_t lanes[kLanes];
  std::memcpy(lanes, words, sizeof lanes);
  return hn::Load(Ints(), lanes);
}
/// Byte kByte of each lane with its sign.
template <int kByte>
HWY_INLINE IntVector byte_of(IntVector v) {
  return hn::ShiftRight<24>(hn::ShiftLeft<24 - 8 * kByte>(v));
}

#endif

template <>
struct Dot<8> {
  static constexpr std::int64_t kStep = 2;
  static HWY_INLINE IntVector load(const std::uint8_t* from) { return load_words(from); }
  static HWY_INLINE std::int32_t start_of(std::int32_t first) { return first; }
  static HWY_INLINE IntVector add(IntVector sum, IntVector codes, IntVector x) {
    return hn::Add(sum, multiply_words(codes, x));
  }
  static HWY_INLINE IntVector finish(IntVector sum) { return sum; }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

/// Codes of 0 to 15: eight pairs are at most 16 15 127 < 2^15, so they are added in 16 bits.
/// `first`, which is -8 times the sum s of the run, starts both words of a lane with its half, -4
/// s. Modulo 2^16 that is exact. With P the positive and N the negative part of a word's 16
/// elements of x, P + N <= 2032, s is at least P - N - 2032, and the word ends at most at 15 P - 4
/// (P - N - 2032) = 11 P + 4 N + 8128 < 2^15; likewise at the other end.
template <>
struct Dot<4> {
  static constexpr std::int64_t kStep = 4;
  static HWY_INLINE std::int32_t start_of(std::int32_t first) {
    const auto half = static_cast<std::uint16_t>(first / 2);
    return static_cast<std::int32_t>(half * 0x10001U);
  }
  static HWY_INLINE IntVector add(IntVector sum, IntVector codes, IntVector x) {
    return add_words(sum, multiply_bytes(codes, x));
  }
  static HWY_INLINE IntVector finish(IntVector sum) {
    return multiply_words(sum, hn::Set(Ints(), 0x00010001));
  }
};

#else

template <>
struct Dot<4> {
  static constexpr std::int64_t kStep = 4;
  static HWY_INLINE std::int32_t start_of(std::int32_t first) { return first; }
  static HWY_INLINE IntVector add(IntVector sum, IntVector codes, IntVector x) {
    const IntVector low = hn::Add(hn::Mul(byte_of<0>(codes), byte_of<0>(x)),
                                  hn::Mul(byte_of<1>(codes), byte_of<1>(x)));
    const IntVector high = hn::Add(hn::Mul(byte_of<2>(codes), byte_of<2>(x)),
                                   hn::Mul(byte_of<3>(codes), byte_of<3>(x)));
    return hn::Add(sum, hn::Add(low, high));
  }
  static HWY_INLINE IntVector finish(IntVector sum) { return sum; }
};

#endif

#endif
