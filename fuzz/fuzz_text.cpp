// libFuzzer entry point that checks invariants of parsing and printing for any text.
#include <cstddef>
#include <cstdint>

#include "check_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mir::fuzz::check_text(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
