// libFuzzer target: any bytes as the header of a saved session, and as caches after a NUL byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check_session.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static mir::fuzz::SessionChecker checker;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(bytes.find('\0'), size);
  checker.check(bytes.substr(0, end), bytes.substr(std::min(end + 1, size)));
  return 0;
}
