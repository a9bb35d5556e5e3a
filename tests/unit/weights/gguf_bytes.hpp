// GGUF files put together field by field, right or wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temporary.hpp"

namespace mir::test {

inline std::string gguf_string(const std::string& text) {
  return little(text.size(), 8) + text;
}

/// A key, the number of a type and the bytes of a value.
inline std::string gguf_pair(const std::string& key, std::uint64_t type, const std::string& value) {
  return gguf_string(key) + little(type, 4) + value;
}

struct GgufTensor {
  std::string name = "x";
  std::vector<std::uint64_t> dims = {2};  // fastest first, as they are stored
  std::uint64_t type = 24;                // Int8
  std::uint64_t offset = 0;

  std::string bytes() const {
    std::string text = gguf_string(name) + little(dims.size(), 4);
    for (const auto extent : dims) text += little(extent, 8);
    return text + little(type, 4) + little(offset, 8);
  }
};

struct GgufParts {
  std::uint64_t version = 3;
  std::vector<std::string> pairs = {};
  std::vector<GgufTensor> tensors = {};
  std::size_t data = 2;
  std::uint64_t alignment = 32;
  std::uint64_t more_pairs = 0;  // stated, over those that are there
  std::uint64_t more_tensors = 0;

  std::string bytes() const {
    std::string text = "GGUF" + little(version, 4) + little(tensors.size() + more_tensors, 8) +
                       little(pairs.size() + more_pairs, 8);
    for (const auto& pair : pairs) text += pair;
    for (const auto& tensor : tensors) text += tensor.bytes();
    text.resize((text.size() + alignment - 1) / alignment * alignment, '\0');
    return text + std::string(data, '\1');
  }
};

}  // namespace mir::test
