// Ports: the names under which inputs and outputs of signatures are read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

/// The name as text, without `%`; empty if there is none.
std::string name_text(ValueName name, const IRContext& context);

/// An input or output of a signature whose value exists.
struct SignaturePort {
  Value* value = nullptr;
  ValueName name;  ///< none: the value has no name, and text gives it one
  bool is_output = false;
  std::size_t index = 0;
};

/// The inputs of the signature, then its outputs.
std::vector<SignaturePort> ports_of(const Region& signature);

/// Returns the first port that text cannot express by naming its value after it: the value is read
/// under another name, too, or has a symbol, or another value is read under this name. Returns no
/// value if names of values say all ports.
std::optional<SignaturePort> first_unnameable(const Region& signature);

/// True if text can say the name of the value, and reads it as the same name.
bool is_printable_name(ValueName name, const Type* type, const IRContext& context);

/// Calls `visit(Region&)` for the signature of the module's body and for those of its graphs.
template <class Visit>
void for_each_signature(Region& body, const Visit& visit) {
  visit(body);
  if (!body.may_have_graphs()) return;
  for_each_op(body, [&](Op& op) {
    if (op.is(OpId::kGraphSubGraph) && op.first_region() != nullptr) {
      for_each_signature(*op.first_region(), visit);
    }
  });
}

/// True if text can express ports of the portable module only by kPortsVersion.
bool needs_ports(const Module& module);

}  // namespace mir
