// Names, parameters and errors of the calls of a model.
#include "trace/backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/names.hpp"
#include "mir/codes/verification.hpp"
#include "support/file_io.hpp"

namespace mir::trace {

Backend* Backend::of(std::span<const Var> operands) {
  const bool any_empty = std::ranges::any_of(operands, &Var::is_empty);
  return operands.empty() || any_empty ? nullptr : operands.front().backend_;
}

Var Backend::made(Value* value, const Type* type) {
  Var var;
  var.backend_ = this;
  var.type_ = dyn_cast<TensorType>(type);
  var.value_ = value;
  return var;
}

Var Backend::parameter(std::string_view name, const TensorType& type, Place place) {
  if (!declare({.name = std::string(name), .type = &type}, place)) return {};
  Var var = made(nullptr, &type);
  var.parameter_ = context_.intern(name);
  return var;
}

Var Backend::literal(const TensorType& type, double number) {
  Var var = made(nullptr, &type);
  var.literal_ = Literal{&type, number};
  return var;
}

const TensorType& Backend::tensor_type(Extents extents, DType dtype) const {
  std::vector<Dim> dims;
  for (const Extent& each : extents) dims.push_back(each.dim);
  return *context_.tensor(dims, dtype);
}

Dim Backend::symbol(std::string_view name) {
  const Dim dim = context_.dims().symbol(name);
  symbols_.emplace_back(dim, context_.intern(name));
  return dim;
}

std::string Backend::path_of(std::string_view name) const {
  std::string path;
  for (const std::string& each : path_) path += each + ".";
  return path + std::string(name);
}

bool Backend::declare(const Parameter& parameter, Place place) {
  const auto [known, is_new] = parameters_.try_emplace(parameter.name, parameter.type);
  if (known->second == parameter.type) return true;
  error(place, diag::kDuplicateSymbol,
        fmt::format("parameter '{}' is {}, and was {} before", parameter.name,
                    parameter.type->spelling(), known->second->spelling()));
  return false;
}

Span Backend::span_of(Place place) {
  constexpr std::uint64_t kLargest = std::uint64_t{16} << 20;
  const auto [found, is_new] = files_.try_emplace(place.file_name(), nullptr);
  if (is_new) {
    if (auto text = read_file(place.file_name(), kLargest)) {
      found->second = context_.sources().add(place.file_name(), *std::move(text));
    }
  }
  const SourceFile* file = found->second;
  if (file == nullptr) return {};
  const std::string_view text = file->text();
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < place.line() && begin < text.size(); ++line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  begin = std::min<std::size_t>(begin + std::max(place.column(), 1U) - 1, text.size());
  const auto at = file->base() + static_cast<SourcePos>(begin);
  return {at, at + (begin < text.size() ? 1U : 0U)};
}

bool Backend::has_value(std::string_view output, const Var& value, Place place) {
  if (value.is_empty() && !has_failed_) {
    error(place, diag::kUndefinedValue, fmt::format("output '{}' has no value", output));
  }
  return !value.is_empty();
}

void Backend::error(Place place, DiagCode code, std::string message) {
  has_failed_ = true;
  const Span at = span_of(place);
  if (!at.known()) {
    message = fmt::format("{}:{}: {}", place.file_name(), place.line(), message);
  }
  diagnostics_->error(code, at, std::move(message));
}

bool Backend::report(Diagnostics& found, Place place) {
  const bool is_good = !found.has_errors();
  for (Diagnostic& each : std::move(found).sorted()) {
    if (each.severity == Severity::kError) error(place, each.code, std::move(each.message));
  }
  found = Diagnostics();
  return is_good;
}

}  // namespace mir::trace
