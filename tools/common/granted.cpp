#include "granted.hpp"

#include <fmt/format.h>

#include "support/file_io.hpp"

namespace mir::tools {

Result<UpgradeOptions> read_grants(const Arguments& arguments) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;  // of a file of facts
  UpgradeOptions options;
  for (const std::string& path : arguments.values("sidecar")) {
    const auto text = read_file(path, kLargest);
    if (!text) return text.error();
    if (const auto granted = grant_sidecar(options, *text); !granted) {
      return Error{granted.error().code, fmt::format("'{}': {}", path, granted.error().message)};
    }
  }
  for (const std::string& fact : arguments.values("assume")) {
    if (const auto granted = grant(options, fact); !granted) return granted.error();
  }
  for (const std::string& text : arguments.values("symbolic-dim")) {
    auto wanted = parse_symbolic_dim(text);
    if (!wanted) return wanted.error();
    options.symbolic_dims.push_back(*std::move(wanted));
  }
  return options;
}

}  // namespace mir::tools
