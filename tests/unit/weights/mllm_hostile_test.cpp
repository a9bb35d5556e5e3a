#include "hostile.hpp"
#include "mir/codes/weights.hpp"
#include "mllm_bytes.hpp"

using namespace mir;
using namespace mir::test;

namespace mllm_hostile_test {

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// What both versions can state wrongly.
template <class Make>
std::vector<Hostile> broken_tensors(Make make) {
  const auto two = [&](const Descriptor& second, std::size_t data) {
    return make({{.name = "a"}, second}, data);
  };
  return {
      {"data inside the header", make({{.begin = 4, .absolute = true}}, 0)},
      {"data inside the table", make({{.begin = 20, .absolute = true}}, 0)},
      {"data over the end", make({{.size = 3, .shape = {3}}}, 2)},
      {"data past the end", make({{.begin = 100}}, 2)},
      {"a range that wraps",
       make({{.begin = kAll - 1, .size = 4, .shape = {4}, .absolute = true}}, 2)},
      {"a size of 2^64 - 1", make({{.size = kAll}}, 2)},
      {"a size that is no multiple of the element",
       make({{.dtype = 0, .size = 6, .shape = {1}}}, 6)},
      {"a size that is no multiple of the block",
       make({{.dtype = 2, .size = 17, .shape = {32}}}, 17)},
      {"the unknown dtype 3", make({{.dtype = 3}}, 2)},
      {"the unknown dtype 25", make({{.dtype = 25}}, 2)},
      {"the unknown dtype 155", make({{.dtype = 155}}, 2)},
      {"the unknown dtype 2^32 - 1", make({{.dtype = 0xFFFFFFFF}}, 2)},
      {"a name twice", two({.name = "a", .begin = 2}, 4)},
      {"an empty name", make({{.name = ""}}, 2)},
      {"a control character in a name", make({{.name = "a\nb"}}, 2)},
      {"a name that is not UTF-8", make({{.name = "\xFF"}}, 2)},
      {"two tensors on the same bytes", two({.name = "b", .begin = 0}, 2)},
      {"tensors that overlap", two({.name = "b", .begin = 1}, 3)},
      {"bytes after the last tensor", make({{}}, 3)},
      {"a tensor inside another",
       make({{.name = "a", .size = 8, .shape = {8}}, {.name = "b", .begin = 2}}, 8)},
  };
}

Descriptor shaped(std::vector<std::int64_t> shape, std::uint64_t size = 2) {
  return {.size = size, .shape = std::move(shape)};
}

std::vector<Hostile> broken_shapes() {
  constexpr std::int64_t kMost = 0x7FFFFFFF;
  return {
      {"a size larger than the shape needs", mllm_v2({shaped({2}, 4)}, 4)},
      {"a size smaller than the shape needs", mllm_v2({shaped({4}, 2)}, 2)},
      {"no data for a scalar", mllm_v2({shaped({}, 0)}, 0)},
      {"a negative extent", mllm_v2({shaped({-2}, 2)}, 2)},
      {"two negative extents", mllm_v2({shaped({-1, -2}, 2)}, 2)},
      {"a product over 2^63", mllm_v2({shaped({kMost, kMost, kMost})}, 2)},
      {"a product that wraps to 0", mllm_v2({shaped({1 << 30, 1 << 30, 16}, 0)}, 0)},
      {"a rank of 17", mllm_v2({{.rank = 17}}, 2)},
      {"a rank of 2^64 - 1", mllm_v2({{.rank = kAll - 1}}, 2)},
      {"a row that is no multiple of the block",
       mllm_v2({{.dtype = 2, .size = 18, .shape = {32, 1}}}, 18)},
  };
}

std::vector<Hostile> broken_headers_v1() {
  const auto magic = little(20012, 4);
  const auto table = [&](const std::string& bytes) {
    return magic + little(bytes.size(), 8) + bytes;
  };
  return {
      {"the magic number alone", magic},
      {"half a header", magic + little(0, 7)},
      {"a table over the file", magic + little(1, 8)},
      {"a table of 2^64 - 1 bytes", magic + little(kAll, 8)},
      {"a table that wraps", magic + little(kAll - 11, 8)},
      {"a table of one byte", table("\1")},
      {"a name over the table", table(little(40, 4) + "x" + little(0, 20))},
      {"a name of 2^32 - 1 bytes", table(little(0xFFFFFFFF, 4) + "x" + little(0, 20))},
      {"a descriptor that crosses the end of the table", table(little(1, 4) + "x" + little(0, 19))},
      {"a NUL in a name", mllm_v1({{.name = std::string("a\0b", 3)}}, 2)},
      {"a name of 5000 bytes", mllm_v1({{.name = std::string(5000, 'n')}}, 2)},
      {"data without a table", table("") + "x"},
  };
}

std::vector<Hostile> broken_headers_v2() {
  const auto two_names = [](std::string first, std::string second) {
    return mllm_v2({{.name = first}, {.name = second, .begin = 2}}, 4);
  };
  const std::string long_name(256, 'n');
  return {
      {"the magic number alone", little(0x519A, 4)},
      {"half a header", mllm_v2_header(2, 0, 532).substr(0, 531)},
      {"version 1", mllm_v2_header(1, 0, 532)},
      {"version 3", mllm_v2_header(3, 0, 532)},
      {"version 2 with swapped bytes", mllm_v2_header(0x02000000, 0, 532)},
      {"a table inside the header", mllm_v2_header(2, 1, 500) + std::string(352, '\0')},
      {"a table past the end of the file", mllm_v2_header(2, 0, 600)},
      {"a table at 2^64 - 1", mllm_v2_header(2, 0, kAll)},
      {"a table that wraps", mllm_v2_header(2, 1, kAll - 351) + std::string(352, '\0')},
      {"2^32 - 1 descriptors", mllm_v2_header(2, 0xFFFFFFFF, 532) + std::string(352, '\0')},
      {"a descriptor over the file", mllm_v2_header(2, 1, 532) + std::string(351, '\0')},
      {"an interrupted write", mllm_v2_header(2, 0, 0) + std::string(352, '\0')},
      {"data without a table", mllm_v2_header(2, 0, 532) + "x"},
      {"a model name that is not UTF-8", mllm_v2_header(2, 0, 532, "\xFF")},
      {"two names that are equal after their cut", two_names(long_name, long_name + "x")},
  };
}

}  // namespace

TEST_CASE(".mllm headers that state the impossible are refused") {
  check_refused(broken_headers_v1(), diag::kMllmMalformed);
  check_refused(broken_headers_v2(), diag::kMllmMalformed);
}

TEST_CASE(".mllm tensors with wrong types, names or ranges are refused") {
  check_refused(broken_tensors(mllm_v1), diag::kMllmMalformed);
  check_refused(broken_tensors(mllm_v2), diag::kMllmMalformed);
}

TEST_CASE(".mllm shapes that do not fit their data are refused") {
  check_refused(broken_shapes(), diag::kMllmMalformed);
}

TEST_CASE("every cut and every flipped bit of an .mllm file is survived") {
  const std::vector<Descriptor> two = {{.name = "a"}, {.name = "b", .begin = 2}};
  check_cuts_and_flips(mllm_v1(two, 4));
  check_cuts_and_flips(mllm_v2(two, 4));
}

TEST_CASE(
    "a table with a hundred thousand descriptors is refused without a hundred thousand tensors") {
  const auto bytes = mllm_v2_header(2, 100'000, 532) + std::string(352 * 1000, '\0');
  check_refused({{"more descriptors than the file holds", bytes}}, diag::kMllmMalformed);
}

}  // namespace mllm_hostile_test
