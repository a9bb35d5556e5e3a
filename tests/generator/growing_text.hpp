// Texts that grow in one dimension, most of them as no exporter writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mir::test {

struct GrowingText {
  std::string_view name;
  std::string (*make)(std::size_t n);  ///< of a length in proportion to n
  std::size_t most = 1000;             ///< the largest n: where a limit is near, below it
};

/// Each dimension in which a text can grow.
std::vector<GrowingText> growing_texts();

}  // namespace mir::test
