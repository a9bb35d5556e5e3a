// libFuzzer target: any bytes as a chat template, which then writes the text of a conversation.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_template.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mir::fuzz::check_template({reinterpret_cast<const char*>(data), size});
  return 0;
}
