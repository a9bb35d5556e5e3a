// Random modules that are right: every type, attribute, call and parameter fits.
#pragma once

#include <cstdint>
#include <string>

namespace mir::test {

struct GeneratorOptions {
  enum class Form { kPortable, kDump, kProgram };

  std::uint64_t seed = 0;
  Form form = Form::kPortable;
  int graphs = 3;             ///< subgraphs besides the module's own body
  int ops = 10;               ///< of each
  bool symbolic = true;       ///< extents like $A in places; false: none, as in a trace
  bool own_ops = true;        ///< ops that upstream does not have, which only kPortable can have
  bool recalls = true;        ///< some graphs are called twice, but for kProgram
  bool control_flow = false;  ///< conditions, loops and branches between blocks, for kPortable
  std::int64_t most_elements = 0;  ///< of a tensor, with 4 for each symbol; 0: any number
};

/// Text of one module in canonical layout, made from the examples of the op rows with other
/// extents, values wired at random where types allow it and declared as inputs where they do not.
/// Equal options give equal text.
/// - kPortable: a module that verifies without a finding.
/// - kDump: what upstream could have printed of such a module: storage ids used again, no version,
///   no parameters' types.
/// - kProgram: fragments of code and data that jump, bind, launch, allocate and return in balance.
std::string generate_module(const GeneratorOptions& options);

}  // namespace mir::test
