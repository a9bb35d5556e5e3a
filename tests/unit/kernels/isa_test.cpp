#include "kernels/isa.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <utility>

using namespace mir;

namespace {

/// What the kernel says that the first processor has; empty where it says nothing.
[[maybe_unused]] std::set<std::string> processor_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

}  // namespace

TEST_CASE("every ISA level has a name that reads back, levels ascend") {
  CHECK(std::ranges::is_sorted(isa_levels()));
  CHECK(isa_levels().size() == 5);
  for (const IsaLevel level : isa_levels()) CHECK(isa_level_from_name(name_of(level)) == level);
  CHECK_FALSE(isa_level_from_name("AVX2"));
  CHECK_FALSE(isa_level_from_name(""));
}

#if defined(__x86_64__)

TEST_CASE("the detected ISA level is the highest one whose flags the operating system lists") {
  const std::set<std::string> flags = processor_flags();
  const std::pair<IsaLevel, std::set<std::string>> needed[] = {
      {IsaLevel::kAvx2, {"avx2", "fma", "bmi2", "f16c"}},
      {IsaLevel::kAvx512, {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}},
      {IsaLevel::kAvx512Vnni, {"avx512_vnni"}},
      {IsaLevel::kAvx512Bf16, {"avx512_bf16"}},
  };
  IsaLevel expected = IsaLevel::kScalar;
  for (const auto& [level, words] : needed) {
    if (!std::ranges::includes(flags, words)) break;
    expected = level;
  }
  CHECK(detected_isa_level() == expected);
}

#else

TEST_CASE("other processors have one level") {
  CHECK(detected_isa_level() == IsaLevel::kScalar);
}

#endif
