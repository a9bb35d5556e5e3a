#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "fast_broadcast.hpp"
#include "fast_problem.hpp"
#include "kernels/fast/compare.hpp"
#include "kernels/fast/pick.hpp"
#include "kernels/fast/select.hpp"
#include "kernels/fast/top_k.hpp"
#include "kernels/ref/elementwise.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/sort.hpp"

namespace mir::fast::test {
namespace {

using ref::test::Array;
using Bytes = std::vector<std::byte>;

/// Exact results of any type: their bytes as numbers, and at the end 1 if the guards around them
/// are intact.
Problem byte_problem(std::string name, const Bytes& want,
                     std::function<void(std::byte* out, Context&)> run) {
  Problem problem{.name = std::move(name),
                  .out_size = want.size() + 1,
                  .places = all_places(want.size() + 1),
                  .slack = std::vector<double>(want.size() + 1, 0.0)};
  for (const std::byte each : want) problem.want.push_back(static_cast<double>(each));
  problem.want.push_back(1);
  problem.run = [run = std::move(run), size = want.size()](float* to, Context& context) {
    constexpr std::size_t kGuard = 64;
    constexpr std::byte kMark{0xa5};
    // Of 16-byte units, so that every type is aligned.
    struct alignas(16) Unit {
      std::byte bytes[16];
    };
    std::vector<Unit> memory((size + 2 * kGuard + 15) / 16);
    auto* const bytes = reinterpret_cast<std::byte*>(memory.data());
    std::fill_n(bytes, size + 2 * kGuard, kMark);
    run(bytes + kGuard, context);
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<float>(bytes[kGuard + i]);
    const auto intact = [&](const std::byte* guard) {
      return std::all_of(guard, guard + kGuard, [](std::byte each) { return each == kMark; });
    };
    to[size] = intact(bytes) && intact(bytes + kGuard + size) ? 1 : 0;
  };
  return problem;
}

Bytes bytes_of(const Array& array) {
  const auto* const data = static_cast<const std::byte*>(array.view().data);
  return {data, data + array.size() * info(array.dtype()).unit_bytes};
}

/// Extents of a result, and of operands that broadcast to it: same rank, extents equal or 1.
struct ChoiceShapes {
  ref::Dims out, condition, a, b;
};
const ChoiceShapes kChoiceShapes[] = {
    {{}, {}, {}, {}},
    {{0, 3}, {1, 3}, {0, 3}, {1, 1}},
    {{1}, {1}, {1}, {1}},
    {{7}, {7}, {7}, {1}},
    {{33}, {1}, {33}, {33}},
    {{5, 17}, {5, 1}, {5, 17}, {1, 17}},
    {{3, 4, 9}, {1, 4, 9}, {3, 4, 9}, {3, 4, 1}},
    {{2, 5, 1, 31}, {2, 1, 1, 31}, {2, 5, 1, 31}, {1, 1, 1, 31}},
    {{1, 20011}, {1, 20011}, {1, 20011}, {1, 1}},
    {{127, 65}, {127, 65}, {1, 65}, {127, 65}},
};

/// Small numbers with zeros of both signs, so that some are equal; of floats with NaN.
std::shared_ptr<Array> small_numbers(DType dtype, const ref::Dims& extents, unsigned seed) {
  auto array = std::make_shared<Array>(dtype, extents);
  std::mt19937 bits(seed);
  for (std::size_t i = 0; i < array->size(); ++i) {
    const auto choice = bits() % 5;
    if (choice == 4 && info(dtype).type_class == DTypeClass::kFloat) {
      array->set(i, std::nan(""));
    } else {
      array->set(i, choice == 3 ? -0.0 : static_cast<double>(choice));
    }
  }
  return array;
}

Problem select_problem(DType dtype, const ChoiceShapes& s) {
  const auto condition = small_numbers(DType::kUInt8, s.condition, 71);
  const auto a = small_numbers(dtype, s.a, 72), b = small_numbers(dtype, s.b, 73);
  Array out(dtype, s.out);
  require_ok(ref::where(*condition, *a, *b, out));
  return byte_problem(fmt::format("select of {} {}", out.size(), info(dtype).name), bytes_of(out),
                      [=, bytes = info(dtype).unit_bytes](std::byte* to, Context& context) {
                        select(bytes, broadcast(*condition, s.out), broadcast(*a, s.out),
                               broadcast(*b, s.out), result(to, s.out), context);
                      });
}

using Relation = Result<void> (*)(const ref::View&, const ref::View&, const ref::MutableView&);

constexpr std::pair<Comparison, Relation> kComparisons[] = {
    {Comparison::kEqual, ref::equal},     {Comparison::kNotEqual, ref::not_equal},
    {Comparison::kLess, ref::less},       {Comparison::kLessEqual, ref::less_equal},
    {Comparison::kGreater, ref::greater}, {Comparison::kGreaterEqual, ref::greater_equal}};

Problem comparison_problem(Comparison comparison, Relation reference, DType dtype,
                           const ChoiceShapes& s, bool swapped) {
  const auto a = small_numbers(dtype, swapped ? s.b : s.a, 74);
  const auto b = small_numbers(dtype, swapped ? s.a : s.b, 75);
  Array out(DType::kBool, s.out);
  require_ok(reference(*a, *b, out));
  return byte_problem(fmt::format("{} of {} {}", name_of(comparison), out.size(), info(dtype).name),
                      bytes_of(out), [=](std::byte* to, Context& context) {
                        compare(comparison, dtype, broadcast(*a, s.out), broadcast(*b, s.out),
                                result(to, s.out), context);
                      });
}

Result<void> ref_not(const ref::View& a, const ref::View&, const ref::MutableView& out) {
  return ref::logical_not(a, out);
}

constexpr std::pair<Logical, Relation> kLogic[] = {{Logical::kAnd, ref::logical_and},
                                                   {Logical::kOr, ref::logical_or},
                                                   {Logical::kXor, ref::logical_xor},
                                                   {Logical::kNot, ref_not}};

/// Bytes of any kind, half of them zero.
std::shared_ptr<Array> truths(const ref::Dims& extents, unsigned seed) {
  auto array = std::make_shared<Array>(DType::kBool, extents);
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(array->view().data));
  std::mt19937 bits(seed);
  for (std::size_t i = 0; i < array->size(); ++i) {
    bytes[i] = bits() % 2 == 0 ? std::byte{0} : static_cast<std::byte>(bits() >> 24);
  }
  return array;
}

Problem logical_problem(Logical function, Relation reference, const ChoiceShapes& s,
                        bool in_place) {
  const auto a = truths(in_place ? s.out : s.a, 79), b = truths(s.b, 80);
  Array out(DType::kBool, s.out);
  require_ok(reference(*a, *b, out));
  return byte_problem(
      fmt::format("{} of {}{}", name_of(function), out.size(), in_place ? " in place" : ""),
      bytes_of(out), [=](std::byte* to, Context& context) {
        BroadcastOperand left = broadcast(*a, s.out);
        if (in_place) {
          std::ranges::copy(bytes_of(*a), to);
          left.data = to;
        }
        logical(function, left, broadcast(*b, s.out), result(to, s.out), context);
      });
}

/// Every sort of number that the type has.
std::shared_ptr<Array> all_sorts(DType dtype, std::int64_t count) {
  auto array = std::make_shared<Array>(dtype, ref::Dims{count});
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(array->view().data));
  std::mt19937 bits(76);
  const auto size = static_cast<std::size_t>(count) * info(dtype).unit_bytes;
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(bits() >> 24);
  constexpr double kSpecial[] = {0.0,      -0.0,   HUGE_VAL, -HUGE_VAL, 0x1p-25,  0x1.0008p-14,
                                 -0x1p-24, 65519,  65520,    0x1.01p0,  0x1.03p0, 127.5,
                                 -1e-8,    3.3e38, 1e-40,    1.0};
  const bool is_float = info(dtype).type_class == DTypeClass::kFloat;
  for (std::size_t i = 0; is_float && i < array->size(); i += 2) {
    array->set(i, kSpecial[i / 2 % std::size(kSpecial)]);
  }
  if (dtype != DType::kBool) return array;
  for (std::size_t i = 0; i < size; ++i) bytes[i] = bytes[i] & std::byte{1};
  return array;
}

bool is_float_type(DType dtype) {
  return info(dtype).type_class == DTypeClass::kFloat;
}

/// NaN of any bits are one NaN.
Bytes without_payloads(Bytes bytes, DType dtype) {
  const std::size_t size = info(dtype).unit_bytes;
  for (std::size_t i = 0; is_float_type(dtype) && i < bytes.size(); i += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i, size);
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << (8 * size - 1));
    const std::uint64_t infinity = dtype == DType::kFloat32    ? 0x7f800000
                                   : dtype == DType::kBFloat16 ? 0x7f80
                                   : dtype == DType::kFloat16  ? 0x7c00
                                                               : 0x7ff0000000000000;
    if (magnitude > infinity)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(i), size, std::byte{0xff});
  }
  return bytes;
}

Problem cast_problem(DType from, DType to, std::int64_t count) {
  const auto x = all_sorts(from, count);
  Array out(to, {count});
  require_ok(ref::cast(*x, out));
  const std::size_t size = out.size() * info(to).unit_bytes;
  return byte_problem(fmt::format("cast of {} {} to {}", count, info(from).name, info(to).name),
                      without_payloads(bytes_of(out), to), [=](std::byte* bytes, Context& context) {
                        require_ok(cast(from, static_cast<const std::byte*>(x->view().data), to,
                                        bytes, count, context));
                        const Bytes plain = without_payloads({bytes, bytes + size}, to);
                        std::ranges::copy(plain, bytes);
                      });
}

Problem iota_problem(DType dtype, const ref::Dims& s, double start, double step) {
  std::vector<double> numbers(static_cast<std::size_t>(s[1]));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = start + static_cast<double>(i) * step;
  }
  const ref::Dims strides{0, 1, 0};
  Array out(dtype, s);
  require_ok(ref::cast({DType::kFloat64, numbers.data(), s, strides}, out));
  return byte_problem(
      fmt::format("positions of {} x {} x {} {}", s[0], s[1], s[2], info(dtype).name),
      bytes_of(out), [=](std::byte* to, Context& context) {
        const IotaResult result{
            .dtype = dtype, .data = to, .outer = s[0], .length = s[1], .inner = s[2]};
        require_ok(iota(result, {.start = start, .step = step}, context));
      });
}

/// Lists of places along each dimension of a table, and how many elements each crossing holds.
struct Lists {
  std::vector<std::int64_t> lengths;
  std::int64_t run;
};
const Lists kLists[] = {{{0}, 3},         {{1}, 1},      {{3, 0, 5}, 2},  {{17}, 1},
                        {{4, 5}, 1},      {{4, 5}, 33},  {{2, 3, 7}, 16}, {{31, 129}, 8},
                        {{20011}, 1},     {{1, 1}, 997}, {{1, 40001}, 3}, {{257, 1, 63}, 1},
                        {{2, 2, 2, 2}, 5}};

/// Against a loop over all crossings.
Problem pick_problem(const Lists& lists, std::size_t bytes) {
  std::mt19937 bits(77);
  const auto run_bytes = static_cast<std::size_t>(lists.run) * bytes;
  constexpr std::int64_t kFarthest = 4096;
  std::vector<std::vector<std::int64_t>> offsets;
  std::vector<std::int64_t> starts = {0};
  for (const std::int64_t length : lists.lengths) {
    auto& list = offsets.emplace_back();
    for (std::int64_t i = 0; i < length; ++i) list.push_back(bits() % kFarthest);
    std::vector<std::int64_t> next;
    for (const std::int64_t start : starts) {
      for (const std::int64_t offset : list) next.push_back(start + offset);
    }
    starts = std::move(next);
  }
  Bytes table(kFarthest * offsets.size() + run_bytes);
  for (std::byte& each : table) each = static_cast<std::byte>(bits() >> 24);
  Bytes want;
  for (const std::int64_t start : starts) {
    const auto first = table.begin() + start;
    want.insert(want.end(), first, first + static_cast<std::ptrdiff_t>(run_bytes));
  }
  std::string name = fmt::format("pick of {} runs of {} bytes", starts.size(), run_bytes);
  return byte_problem(std::move(name), want, [=](std::byte* to, Context& context) {
    std::vector<std::span<const std::int64_t>> spans(offsets.begin(), offsets.end());
    pick({.from = table.data(), .to = to, .run_bytes = run_bytes, .offsets = spans}, context);
  });
}

/// The dimension of a shape whose largest or smallest elements are looked for.
struct TopKShape {
  std::int64_t outer, length, inner, k;
};
constexpr TopKShape kTopKShapes[] = {{1, 1, 1, 1},   {3, 5, 1, 0},     {0, 5, 2, 3},
                                     {4, 7, 1, 7},   {2, 31, 3, 8},    {33, 8, 1, 2},
                                     {5, 128, 1, 8}, {1, 5000, 1, 17}, {2, 257, 31, 3}};

/// The indices, then the elements with all their bits.
Problem top_k_problem(DType dtype, const TopKShape& s, bool largest, bool sorted) {
  const auto x = s.length % 2 == 0 ? small_numbers(dtype, {s.outer, s.length, s.inner}, 78)
                                   : all_sorts(dtype, s.outer * s.length * s.inner);
  const std::int64_t extents[] = {s.outer, s.length, s.inner};
  const std::int64_t strides[] = {s.length * s.inner, s.inner, 1};
  const ref::View view{dtype, x->view().data, extents, strides};
  Array values(dtype, {s.outer, s.k, s.inner}), indices(DType::kInt32, {s.outer, s.k, s.inner});
  require_ok(ref::top_k(view, 1, {.largest = largest, .sorted = sorted}, values, indices));
  Bytes want = bytes_of(indices);
  const auto index_bytes = static_cast<std::ptrdiff_t>(want.size());
  const Bytes elements = bytes_of(values);
  want.insert(want.end(), elements.begin(), elements.end());
  std::string name =
      fmt::format("top {} of {} x {} x {} {}{}{}", s.k, s.outer, s.length, s.inner,
                  info(dtype).name, largest ? ", largest" : ", smallest", sorted ? ", sorted" : "");
  return byte_problem(std::move(name), want, [=](std::byte* to, Context& context) {
    top_k({.x = static_cast<const std::byte*>(x->view().data),
           .dtype = dtype,
           .outer = s.outer,
           .length = s.length,
           .inner = s.inner,
           .k = s.k,
           .largest = largest,
           .sorted = sorted,
           .values = to + index_bytes,
           .indices = reinterpret_cast<std::int32_t*>(to)},
          context);
  });
}

}  // namespace

Problems select_problems() {
  Problems problems;
  for (const TopKShape& shape : kTopKShapes) {
    for (const DType dtype :
         {DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kInt8, DType::kInt16,
          DType::kInt32, DType::kUInt8, DType::kUInt16, DType::kUInt32}) {
      for (const bool largest : {false, true}) {
        problems.push_back(top_k_problem(dtype, shape, largest, true));
        problems.push_back(top_k_problem(dtype, shape, largest, false));
      }
    }
  }
  for (const Lists& lists : kLists) {
    for (const std::size_t bytes : {1, 2, 4, 8}) problems.push_back(pick_problem(lists, bytes));
  }
  for (const ChoiceShapes& shapes : kChoiceShapes) {
    for (const DType dtype : {DType::kFloat32, DType::kInt8, DType::kFloat16, DType::kInt64}) {
      problems.push_back(select_problem(dtype, shapes));
    }
    for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64}) {
      for (const auto& [comparison, reference] : kComparisons) {
        problems.push_back(comparison_problem(comparison, reference, dtype, shapes, false));
        problems.push_back(comparison_problem(comparison, reference, dtype, shapes, true));
      }
    }
  }
  for (const ChoiceShapes& shapes : kChoiceShapes) {
    for (const auto& [function, reference] : kLogic) {
      // Not of an operand that broadcasts is no step of a plan.
      if (function != Logical::kNot) {
        problems.push_back(logical_problem(function, reference, shapes, false));
      }
      problems.push_back(logical_problem(function, reference, shapes, true));
    }
  }
  for (const ref::Dims& extents : {ref::Dims{1, 9, 1}, ref::Dims{2, 3, 5}, ref::Dims{3, 0, 2},
                                   ref::Dims{1, 20011, 1}, ref::Dims{3, 257, 65}}) {
    for (const DType dtype : {DType::kInt8, DType::kFloat16, DType::kFloat32, DType::kInt64}) {
      problems.push_back(iota_problem(dtype, extents, 0, 1));
      problems.push_back(iota_problem(dtype, extents, -2.75, 0.3));
    }
  }
  constexpr DType kTypes[] = {DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kFloat64,
                              DType::kInt8,    DType::kInt32,    DType::kInt64,   DType::kBool};
  for (const DType from : kTypes) {
    for (const DType to : kTypes) {
      for (const std::int64_t count : {0, 1, 7, 17, 8193}) {
        problems.push_back(cast_problem(from, to, count));
      }
    }
  }
  return problems;
}

}  // namespace mir::fast::test
