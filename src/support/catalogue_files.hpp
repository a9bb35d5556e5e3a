// The files of testdata/diagnostics/ and the constraints of docs/, embedded by
// scripts/embed_catalogue.py.
#pragma once

#include <span>
#include <string_view>

namespace mir {

struct CatalogueFile {
  std::string_view name;  ///< `MIRnnnn.mir`, `.test`, `.err` or `.cpp`, `data/*.mir`
  std::string_view text;
};

/// A constraint as docs/verification.md or an op page states it.
struct CatalogueConstraint {
  int code;  ///< that reports it; one that several codes report is listed once for each
  std::string_view id;
  std::string_view text;
};

/// The place in the documents that explains a constraint.
struct ConstraintPage {
  std::string_view id;
  std::string_view page;  ///< below docs/, with the anchor of its section: "ops/linear.md#matmul"
};

/// In order of path.
std::span<const CatalogueFile> catalogue_files();
/// In order of page and text.
std::span<const CatalogueConstraint> catalogue_constraints();
/// In order of id, one row for each.
std::span<const ConstraintPage> constraint_pages();

}  // namespace mir
