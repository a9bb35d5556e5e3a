// Reads the attributes of registers that describe stored tensors.
#include "interp/stored_views.hpp"

#include "mir/op_attributes.hpp"
#include "mir/ops.hpp"

namespace mir {

StoredView stored_view(const Op& registration) {
  StoredView view;
  if (!isa<RegisterOp>(&registration)) return view;
  // Modules that were not verified have attributes of any kind.
  const auto stated = [&](AttrKey key, AttrType type) {
    const Attr* attribute = registration.attribute(key);
    return attribute != nullptr && admits(type, *attribute) ? attribute : nullptr;
  };
  const OpAttributes attributes(registration);
  if (const Attr* tensor = stated(key::kStored, AttrType::kString)) view.tensor = tensor->text();
  if (const Attr* heads = stated(key::kStoredHeads, AttrType::kInt)) {
    view.interleaved_heads = heads->integer();
  }
  if (stated(key::kStoredRows, AttrType::kInts) != nullptr) {
    const auto rows = attributes.integers(key::kStoredRows);
    if (rows.size() == 2) view.rows = StoredView::Rows{rows[0], rows[1]};
  }
  return view;
}

}  // namespace mir
