// Ports of a schedule, and the tensors that they declare.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mir/session.hpp"
#include "plan/schedule.hpp"
#include "weights/tensor_spec.hpp"

namespace mir {

/// Input `number`, which must exist.
Port input_port(const Schedule& schedule, std::size_t number);
std::vector<Port> input_ports(const Schedule& schedule);
std::vector<Port> output_ports(const Schedule& schedule);

/// Returns the known facts about the tensor at a port whose type has a known element type.
DeclaredTensor declared(const Port& port, const DimTable& dims, const DimBindings& bindings);

/// Explains why an extent of the port is unknown under the bindings: "$S in it needs a value".
std::string why_unknown(const Port& port, IRContext& context, const DimBindings& bindings);

/// True if the spec takes its extents from the declared type.
bool needs_extents(const TensorSpec& spec);

/// Returns the error with its subject in front: "input '%ids': ...".
Error at_port(std::string_view what, const Port& port, const Error& error);

}  // namespace mir
