// Random edits of stored inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>

namespace mir::fuzz {

/// Returns the bytes after one to four edits: bytes deleted, doubled, swapped or replaced, or
/// `edit(bytes, at, random)`, an edit of the format at a place within the bytes.
template <class Edit>
std::string mutated(std::string bytes, std::mt19937& random, const Edit& edit) {
  const auto below = [&](std::size_t bound) { return random() % bound; };
  for (std::size_t edits = 1 + below(4); edits != 0 && !bytes.empty(); --edits) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = std::min<std::size_t>(1 + below(16), bytes.size() - at);
    switch (below(5)) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, bytes.substr(below(bytes.size()), length));
        break;
      case 2:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 3:
        std::swap(bytes[at], bytes[below(bytes.size())]);
        break;
      default:
        edit(bytes, at, random);
    }
  }
  return bytes;
}

}  // namespace mir::fuzz
