// The header of an NPY file: a Python dictionary literal of three known keys.
#pragma once

#include <optional>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

Error malformed_npy(std::string_view text);

struct NpyHeader {
  DType dtype = DType::kFloat32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
};

/// Accepts `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }` with the keys in any
/// order, then blanks and a newline; nothing is evaluated. Errors are kNpyMalformed or, for an
/// element type that is well-formed but not known, kTensorDtypeUnsupported.
Result<NpyHeader> parse_npy_header(std::string_view text);

/// Returns the `descr` of a little-endian type, such as `<f4`; no value if NPY has no name for the
/// type.
std::optional<std::string> npy_name(DType dtype);

}  // namespace mir
