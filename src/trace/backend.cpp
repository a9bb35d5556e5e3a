// Names, parameters and errors of the calls of a model.
#include "trace/backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/names.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/verification.hpp"
#include "support/file_io.hpp"
#include "weights/elements.hpp"

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

Var Backend::literal(const TensorType& type, double number, Place place) {
  if (const auto encoded = encode_element(*type.dtype(), number); !encoded) {
    error(place, encoded.error().code, encoded.error().message);
    return {};
  }
  Var var = made(nullptr, &type);
  var.literal_ = Literal{&type, number};
  return var;
}

const TensorType& Backend::tensor_type(Extents extents, DType dtype) const {
  std::vector<Dim> dims;
  for (const Extent& each : extents) dims.push_back(each.dim);
  return *context_.tensor(dims, dtype);
}

Dim Backend::symbol(std::string_view name, Place place) {
  const Dim dim = context_.dims().symbol(name);
  if (!dim.is_symbolic() || dim.is_pack()) {
    error(place, diag::kBadDimension,
          fmt::format("'{}' cannot name a symbolic extent, expected a word", name));
  }
  return dim;
}

std::string Backend::path_of(std::string_view name) const {
  std::string path;
  for (const std::string& each : path_) path += each + ".";
  return path + std::string(name);
}

bool Backend::declare(const Parameter& parameter, Place place) {
  // The rule of the op reports unknown extents.
  const auto is_number = [](Dim dim) { return !dim.is_symbolic() && !dim.is_negative(); };
  if (parameter.name.empty() || parameter.name.front() == '.') {
    error(place, diag::kMissingPath, "a layer or parameter needs a name");
    return false;
  }
  if (!std::ranges::all_of(parameter.type->dims(), is_number)) {
    error(place, diag::kResultUnknown,
          fmt::format("parameter '{}' is {}, expected numbers as extents", parameter.name,
                      parameter.type->spelling()));
    return false;
  }
  const auto [known, is_new] = parameters_.try_emplace(parameter.name, parameter.type);
  if (known->second == parameter.type) return true;
  error(place, diag::kDuplicateSymbol,
        fmt::format("parameter '{}' is {}, and was {} before", parameter.name,
                    parameter.type->spelling(), known->second->spelling()));
  return false;
}

bool Backend::can_declare(std::string_view kind, std::string_view name,
                          std::vector<std::string>& declared, Place place) {
  if (depth_ > 0) {
    error(place, diag::kMisplacedOp,
          fmt::format("{} '{}' is declared inside a graph, a branch or a loop", kind, name));
    return false;
  }
  if (std::ranges::find(declared, name) != declared.end()) {
    error(place, diag::kDuplicateSymbol, fmt::format("{} '{}' is declared twice", kind, name));
    return false;
  }
  declared.emplace_back(name);
  return true;
}

bool Backend::declare_input(std::string_view name, Place place) {
  return can_declare("input", name, inputs_, place);
}

bool Backend::declare_output(std::string_view name, Place place) {
  return can_declare("output", name, declared_outputs_, place);
}

bool Backend::are_own(std::span<const Var> operands, Place place) {
  const auto is_own = [&](const Var& var) { return var.is_empty() || var.backend_ == this; };
  if (std::ranges::all_of(operands, is_own)) return true;
  error(place, diag::kValueNotVisible, "a value of another model is used");
  return false;
}

bool Backend::are_returned(std::span<const Var> results, Place place) {
  if (std::ranges::none_of(results, &Var::is_empty)) return true;
  if (!has_failed_) error(place, diag::kRegionFlow, "the body returns an empty value");
  return false;
}

bool Backend::are_carried(std::span<const Var> passed, std::span<const Var> carried, Place place) {
  if (std::ranges::equal(passed, carried, {}, &Var::type, &Var::type)) return true;
  if (has_failed_) return false;
  error(place, diag::kRegionFlow, "the body of a loop returns values of other types than it takes");
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
