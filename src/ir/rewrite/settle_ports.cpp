// States ports, and drops those that names of values say.
#include "ir/rewrite/settle_ports.hpp"

#include <vector>

#include "ir/context/language_versions.hpp"

namespace mir {

void forget_implied_ports(Rewriter& rewriter, Region& signature) {
  const RegionPorts& stated = signature.ports();
  if (stated.inputs.empty() && stated.outputs.empty()) return;
  std::vector<ValueName> inputs(stated.inputs.size()), outputs(stated.outputs.size());
  bool is_any_left = false;
  for (const SignaturePort& port : ports_of(signature)) {
    std::vector<ValueName>& list = port.is_output ? outputs : inputs;
    if (port.index >= list.size() || port.name == default_port(*port.value)) continue;
    list[port.index] = port.name;
    is_any_left = true;
  }
  rewriter.set_ports(signature, is_any_left ? RegionPorts{inputs, outputs} : RegionPorts());
}

void settle_ports(Module& module) {
  if (!module.is_portable()) return;
  Rewriter rewriter(module);
  for_each_signature(module.body(), [&](Region& each) { rewriter.state_ports(each); });
  if (module.version() < kPortsVersion && needs_ports(module)) rewriter.set_version(kPortsVersion);
}

}  // namespace mir
