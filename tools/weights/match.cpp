// Compares parameters of a module with the tensors of weight files.
#include "match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "mir/codes/runs.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "parameters.hpp"
#include "report.hpp"
#include "support/suggest.hpp"
#include "weights/fit.hpp"
#include "weights/stored_view.hpp"

namespace mir::tools {
namespace {

/// True if a session takes the tensor, or the part of it that the view selects, for a parameter of
/// that type.
bool fits(const TensorInfo& tensor, const TensorType& wanted, const StoredView& view) {
  if (!tensor.unread_type.empty()) return false;
  if (wanted.dtype() && !fits_type(tensor.dtype, *wanted.dtype())) return false;
  if (!wanted.has_static_shape()) return true;
  Shape expected;
  for (const Dim dim : wanted.dims()) expected.push_back(dim.constant());
  return fits_shape(viewed_shape(tensor.shape, tensor.dtype, view, expected), expected);
}

}  // namespace

MatchCounts match_weights(Module& module, std::span<const TensorFile> files,
                          Diagnostics& diagnostics) {
  std::map<std::string, TensorInfo> stored;
  for (const TensorFile& file : files) {
    auto tensors = file.tensors();
    if (!tensors) {
      diagnostics.error(tensors.error().code, {}, tensors.error().message);
      return {};
    }
    for (TensorInfo& tensor : *tensors) stored[tensor.name] = tensor;
  }
  const auto parameters = parameters_of(module);
  MatchCounts counts{.parameters = parameters.size()};
  std::set<std::string_view> used;
  for (const auto& [name, parameter] : parameters) {
    const std::string_view stored_name =
        parameter.stored.tensor.empty() ? std::string_view(name) : parameter.stored.tensor;
    const auto at = stored.find(std::string(stored_name));
    used.insert(stored_name);
    if (at == stored.end()) {
      ++counts.missing;
      NearestName nearest(stored_name);
      for (const auto& each : stored) {
        if (!parameters.contains(each.first)) nearest.offer(each.first);
      }
      const std::string_view type = parameter.type == nullptr ? "" : parameter.type->spelling();
      suggest(diagnostics.error(diag::kParameterMissing, parameter.place,
                                stored_name == name
                                    ? fmt::format("no file has parameter '@{}' ({})", name, type)
                                    : fmt::format("no file has tensor '{}' of parameter '@{}' ({})",
                                                  stored_name, name, type)),
              nearest.best());
      continue;
    }
    const TensorInfo& tensor = at->second;
    const TensorType* type = parameter.type;
    const bool fine = type != nullptr && fits(tensor, *type, parameter.stored);
    ++(fine ? counts.found : counts.different);
    if (!fine)
      diagnostics.error(
          diag::kTensorTypeConflict, parameter.place,
          fmt::format("parameter '@{}' is {} {} in the file, expected {}", name, tensor.type_name(),
                      extents_text(tensor.shape), type == nullptr ? "a tensor" : type->spelling()));
  }
  for (const auto& [name, tensor] : stored) {
    if (used.contains(name)) continue;
    ++counts.unused;
    diagnostics.error(diag::kTensorUnused, {},
                      fmt::format("tensor '{}' ({} {}) is no parameter of the module", name,
                                  tensor.type_name(), extents_text(tensor.shape)));
  }
  return counts;
}

}  // namespace mir::tools
