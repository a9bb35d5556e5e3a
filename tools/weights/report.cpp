// Renders listings, statistics and differences of weight files.
#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "support/terminal_text.hpp"
#include "text_table.hpp"
#include "weights/statistics.hpp"

namespace mir::tools {
namespace {

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string metadata_text(const TensorFile& file) {
  TextTable table("ll");
  for (const auto& [key, value] : file.metadata()) table.add({key, fmt::format("\"{}\"", value)});
  for (const auto& pair : file.gguf_metadata()) table.add({pair.key, pair.text()});
  return table.render("  ");
}

/// Explains why two tensors of one name differ; empty if they do not.
Result<std::string> tensor_difference(const Tensor& before, const Tensor& after,
                                      const Tolerance& tolerance) {
  if (before.shape() != after.shape())
    return fmt::format("extents {} became {}", extents_text(before.shape()),
                       extents_text(after.shape()));
  if (before.dtype() == after.dtype() && std::ranges::equal(before.bytes(), after.bytes()))
    return std::string();
  const auto a = as_reals(before);
  if (!a) return a.error();
  const auto b = as_reals(after);
  if (!b) return b.error();
  std::string text;
  if (before.dtype() != after.dtype())
    text = fmt::format("{} became {}", name_of(before.dtype()), name_of(after.dtype()));
  const auto& comma = text.empty() ? "" : ", ";
  if (!*a || !*b) return text + (text.empty() ? "bytes differ" : "");
  const auto compared = compare_tensors(**a, **b, tolerance);
  if (!compared) return compared.error();
  if (compared->passed()) return text;
  return text + fmt::format("{}{} of {} elements differ, at most by {:.6g}", comma,
                            compared->over_tolerance, compared->elements, compared->max_abs_error);
}

/// Returns the tensors of types that are not read, with the names of the types.
Result<std::map<std::string, std::string>> unread_types(const TensorFile& file) {
  std::map<std::string, std::string> unread;
  auto tensors = file.tensors();
  if (!tensors) return std::move(tensors).error();
  for (TensorInfo& each : *tensors) {
    if (!each.unread_type.empty()) unread.emplace(each.name, std::move(each.unread_type));
  }
  return unread;
}

}  // namespace

std::string extents_text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<std::string> list_tensors(const std::string& path, const TensorFile& file, bool metadata) {
  const auto tensors = file.tensors();
  if (!tensors) return tensors.error();
  TextTable table("lllr");
  std::uint64_t bytes = 0;
  struct OfType {
    std::size_t tensors = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::string, OfType> types;
  for (const auto& tensor : *tensors) {
    table.add({tensor.name, tensor.type_name(), extents_text(tensor.shape),
               fmt::format("{}", tensor.bytes)});
    bytes += tensor.bytes;
    OfType& of_type = types[tensor.type_name()];
    ++of_type.tensors;
    of_type.bytes += tensor.bytes;
  }
  std::string counts;
  for (const auto& [type, each] : types) {
    counts += fmt::format(", {} {}", each.tensors, type);
    if (types.size() > 1) counts += fmt::format(" ({} bytes)", each.bytes);
  }
  return fmt::format("{}: {}, {}, {} bytes of data{}\n", visible(path), name_of(file.format()),
                     plural(tensors->size(), "tensor"), bytes, counts) +
         (metadata ? metadata_text(file) : "") + table.render();
}

Result<std::string> tensor_statistics(const std::string& path, const TensorFile& file,
                                      const Progress& progress) {
  TextTable table("llrrrrrrr");
  table.add({"name", "type", "elements", "min", "max", "mean", "deviation", "zeros", "not finite"});
  const auto number = [](double value) { return fmt::format("{:.6g}", value); };
  const auto unread = unread_types(file);
  if (!unread) return unread.error();
  const auto names = file.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (progress) progress(i + 1, names.size());
    if (const auto found = unread->find(name); found != unread->end()) {
      table.add({name, found->second});
      continue;
    }
    const auto tensor = file.find(name);
    if (!tensor) return tensor.error();
    const auto reals = as_reals(**tensor);
    if (!reals) return reals.error();
    const std::string type(mir::name_of((*tensor)->dtype()));
    if (!*reals) {
      table.add({name, type, fmt::format("{}", (*tensor)->elements())});
      continue;
    }
    const Statistics each = statistics(**reals);
    table.add({name, type, fmt::format("{}", each.elements), number(each.minimum),
               number(each.maximum), number(each.mean), number(each.deviation),
               fmt::format("{}", each.zeros), fmt::format("{}", each.nans + each.infinities)});
  }
  return fmt::format("{}:\n", visible(path)) + table.render();
}

Result<std::string> difference(const TensorFile& before, const TensorFile& after,
                               const Tolerance& tolerance, const Progress& progress) {
  std::string text;
  const auto unread_before = unread_types(before), unread_after = unread_types(after);
  if (!unread_before) return unread_before.error();
  if (!unread_after) return unread_after.error();
  const auto is_unread = [&](const std::string& name) {
    return unread_before->contains(name) || unread_after->contains(name);
  };
  const auto names = before.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (progress) progress(i + 1, names.size());
    if (is_unread(name)) {
      text += fmt::format("? {}  not compared: its type is not read\n", visible(name));
      continue;
    }
    const auto a = before.find(name);
    if (!a) return a.error();
    const auto b = after.find(name);
    if (!b) return b.error();
    if (!*b) {
      text += fmt::format("- {}  {} {}\n", visible(name), name_of((*a)->dtype()),
                          extents_text((*a)->shape()));
      continue;
    }
    const auto reason = tensor_difference(**a, **b, tolerance);
    if (!reason) return reason.error();
    if (!reason->empty()) text += fmt::format("~ {}  {}\n", visible(name), *reason);
  }
  for (const auto& name : after.names()) {
    if (before.contains(name) || is_unread(name)) {
      if (!before.contains(name))
        text += fmt::format("+ {}  of a type that is not read\n", visible(name));
      continue;
    }
    const auto b = after.find(name);
    if (!b) return b.error();
    text += fmt::format("+ {}  {} {}\n", visible(name), name_of((*b)->dtype()),
                        extents_text((*b)->shape()));
  }
  return text;
}

}  // namespace mir::tools
