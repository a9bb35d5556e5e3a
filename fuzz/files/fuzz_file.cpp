// One libFuzzer target for each format: MIR_FUZZ_FORMAT is its name.
#include <cstddef>
#include <cstdint>
#include <span>

#include "check_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Both outcomes are fine: what must hold of them is checked inside.
  static_cast<void>(mir::fuzz::check_file(MIR_FUZZ_FORMAT, std::as_bytes(std::span(data, size))));
  return 0;
}
