// Collects the texts that grow, whatever grows in them.
#include "growing_text.hpp"

#include "growing_parts.hpp"

namespace mir::test {

std::vector<GrowingText> growing_texts() {
  std::vector<GrowingText> all;
  for (const auto& some :
       {growing_ops(), growing_flow(), growing_declarations(), growing_programs()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace mir::test
