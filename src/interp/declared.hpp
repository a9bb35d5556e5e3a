// The tensor that a port declares.
#pragma once

#include "mir/ports.hpp"
#include "weights/tensor_spec.hpp"

namespace mir {

/// What is known of the tensor at a port whose type has a known element type.
DeclaredTensor declared(const Port& port, const DimTable& dims, const DimBindings& bindings);

/// Whether the spec takes its extents from the declared type.
bool needs_extents(const TensorSpec& spec);

/// The error with what it is about in front: "input '%ids': ...".
Error at_port(std::string_view what, const Port& port, const Error& error);

}  // namespace mir
