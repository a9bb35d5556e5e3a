// Names ports after values that a pass has named.
#include "passes/names/rename_ports.hpp"

#include <algorithm>
#include <vector>

namespace mir {

void rename_ports(Rewriter& rewriter, Region& signature) {
  const RegionPorts stated = signature.ports();
  std::vector<ValueName> inputs(stated.inputs.begin(), stated.inputs.end());
  std::vector<ValueName> outputs(stated.outputs.begin(), stated.outputs.end());
  for (const SignaturePort& port : ports_of(signature)) {
    std::vector<ValueName>& list = port.is_output ? outputs : inputs;
    if (port.index < list.size() && port.name.is_number()) {
      list[port.index] = default_port(*port.value);
    }
  }
  const bool are_same =
      std::ranges::equal(inputs, stated.inputs) && std::ranges::equal(outputs, stated.outputs);
  if (!are_same) rewriter.set_ports(signature, {inputs, outputs});
}

}  // namespace mir
