// The files of testdata/diagnostics/, embedded by scripts/embed_catalogue.py.
#pragma once

#include <span>
#include <string_view>

namespace mir {

struct CatalogueFile {
  std::string_view name;  ///< `MIRnnnn.mir`, `.test`, `.err` or `.cpp`, `data/*.mir`
  std::string_view text;
};

/// In order of path.
std::span<const CatalogueFile> catalogue_files();

}  // namespace mir
