// Meaning of each diagnostic code, with an example that is refused and one that is accepted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"

namespace mir {

/// One entry, from the file of its code in testdata/diagnostics/. docs/testing.md describes them.
struct CatalogueEntry {
  enum class Kind {
    kText,     ///< text of a module: `MIRnnnn.mir`
    kCommand,  ///< command lines: `MIRnnnn.test`
    kProgram,  ///< C++ that calls the library: `MIRnnnn.cpp`
  };
  Kind kind = Kind::kText;
  std::string cause;  ///< one paragraph, on one line
  std::string fix;    ///< likewise
  std::string refused;
  std::string diagnostics;  ///< expected output for `refused`; a program checks it itself
  std::string accepted;
};

/// Returns no value if the catalogue has no entry for `code`.
std::optional<CatalogueEntry> catalogue_entry(DiagCode code);

/// Returns the id of a constraint with the section that explains it,
/// "matmul_c1: docs/ops/linear.md#matmul"; only the id if no page does, as for dialects of others.
std::string cite_constraint(std::string_view id);

/// Returns the text that `--explain` prints about a code of diagnostic_codes().
std::string explain(DiagCode code);
/// Every code with its summary, one a line.
std::string list_diagnostics();
/// The page docs/diagnostics.md, which is built and installed with the tools.
std::string diagnostics_page();

}  // namespace mir
