// libFuzzer target: any bytes as a tokenizer.json, which then encodes and decodes a text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_tokenizer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mir::fuzz::check_tokenizer({reinterpret_cast<const char*>(data), size});
  return 0;
}
