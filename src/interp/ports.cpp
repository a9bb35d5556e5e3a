// Lists input and output ports, matches arguments to them and loads their tensors.
#include "ir/ports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "interp/schedule_ports.hpp"
#include "interp/session_access.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/usage.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "mir/session.hpp"
#include "plan/binder.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/npz.hpp"

namespace mir {

namespace {

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string list_of(std::span<const Port> ports) {
  std::string text;
  for (const Port& port : ports)
    text += fmt::format("{}'%{}'", text.empty() ? "" : ", ", port.name);
  return text.empty() ? "none" : text;
}

}  // namespace

DeclaredTensor declared(const Port& port, const DimTable& dims, const DimBindings& bindings) {
  DeclaredTensor result{.name = port.name, .dtype = *port.type->dtype()};
  Shape shape;
  bool is_evaluated = false;
  std::vector<std::string> extents;
  for (const Dim dim : port.type->dims()) {
    const auto extent = dims.evaluate(dim, bindings);
    shape.push_back(extent.value_or(kUnknownExtent));
    extents.push_back(extent ? fmt::to_string(*extent) : dims.print(dim));
    is_evaluated = is_evaluated || (extent && !dim.is_constant());
  }
  result.shape = std::move(shape);
  result.text = port.type->spelling();
  if (is_evaluated) result.text += fmt::format(" with extents [{}]", fmt::join(extents, ", "));
  return result;
}

std::string why_unknown(const Port& port, IRContext& context, const DimBindings& bindings) {
  for (const Dim dim : port.type->dims()) {
    if (dim.is_unknown()) return "'?' in it has no value";
    for (const Symbol symbol : context.dims().symbols(dim)) {
      if (!bindings.find(symbol))
        return fmt::format("${0} in it needs a value; give --bind={0}=N", context.text(symbol));
    }
  }
  return "an extent of it divides by 0 or does not fit 64 bits";
}

bool needs_extents(const TensorSpec& spec) {
  return spec.kind == TensorSpec::Kind::kRandom || spec.kind == TensorSpec::Kind::kZeros ||
         spec.kind == TensorSpec::Kind::kIota;
}

Error at_port(std::string_view what, const Port& port, const Error& error) {
  return {error.code, fmt::format("{} '%{}': {}", what, port.name, error.message)};
}

Port input_port(const Schedule& schedule, std::size_t number) {
  const Region& entry = schedule.entry();
  return {name_text(entry.input_port(number), schedule.module().context()),
          entry.entry_arguments()[number].held_type()};
}

std::vector<Port> input_ports(const Schedule& schedule) {
  std::vector<Port> ports;
  for (std::size_t i = 0; i < schedule.inputs().size(); ++i) {
    ports.push_back(input_port(schedule, i));
  }
  return ports;
}

std::vector<Port> output_ports(const Schedule& schedule) {
  std::vector<Port> ports;
  const Op* const last = first_return(schedule.entry());
  if (last == nullptr) return ports;
  for (const Use& use : last->operand_uses()) {
    ports.push_back(
        {name_text(schedule.entry().output_port(ports.size()), schedule.module().context()),
         use.value()->held_type()});
  }
  return ports;
}

Result<std::size_t> find_port(std::span<const Port> ports, std::string_view target,
                              std::string_view what) {
  if (target.empty()) {
    if (ports.size() == 1) return std::size_t{0};
    return Error{diag::kPortUnknown, fmt::format("there are {} {}s, say which is meant: {}",
                                                 ports.size(), what, list_of(ports))};
  }
  if (const auto position = number<std::size_t>(target)) {
    if (*position < ports.size()) return *position;
  } else {
    const std::string_view name = target.starts_with('%') ? target.substr(1) : target;
    const auto found = std::ranges::find(ports, name, &Port::name);
    if (found != ports.end()) return static_cast<std::size_t>(found - ports.begin());
  }
  return Error{diag::kPortUnknown,
               fmt::format("no {} is '{}'; there are: {}", what, target, list_of(ports))};
}

Result<void> add_binding(DimBindings& bindings, IRContext& context, std::string_view text) {
  const auto equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  if (name.starts_with('$')) name.remove_prefix(1);
  const auto value =
      equals == text.npos ? std::nullopt : number<std::int64_t>(text.substr(equals + 1));
  if (name.empty() || !value || *value < 0) {
    return Error{diag::kUsage,
                 fmt::format("'{}' binds no symbol, expected NAME=EXTENT such as S=16", text)};
  }
  const Symbol symbol = context.intern(name);
  const auto earlier = bindings.find(symbol);
  if (earlier && *earlier != *value) {
    return Error{diag::kUsage,
                 fmt::format("'${}' is bound to {} and to {}", name, *earlier, *value)};
  }
  if (!earlier) bindings.bind(symbol, *value);
  return {};
}

namespace {

/// The bound of random integers that nothing uses as indices: all codes that are not negative.
std::int64_t usual_bound(DType dtype) {
  if (info(dtype).type_class != DTypeClass::kQuantised) return 2;
  const bool is_signed = info(storage_type(dtype)).type_class == DTypeClass::kSignedInt;
  return std::int64_t{1} << (info(dtype).unit_bytes * 8 - (is_signed ? 1 : 0));
}

using Specs = std::vector<std::optional<TensorSpec>>;

/// Stands for each input that no other argument names.
constexpr std::string_view kAllOthers = "*";

/// The specs of the ports that arguments name; one that is given twice is an error.
Result<Specs> named_specs(std::span<const Port> ports, std::span<const std::string> arguments,
                          const FileOpener& files) {
  Specs specs(ports.size());
  std::optional<TensorSpec> of_others;
  for (const std::string& argument : arguments) {
    auto spec = parse_tensor_spec(argument, files);
    if (!spec) return std::move(spec).error();
    if (spec->target == kAllOthers) {
      if (of_others) {
        return Error{diag::kInputMissing,
                     fmt::format("'{}' is given twice: it is each input that no other argument "
                                 "names",
                                 kAllOthers)};
      }
      of_others = *std::move(spec);
      continue;
    }
    const auto port = find_port(ports, spec->target, "input");
    if (!port) {
      if (!spec->target.empty() || ports.empty()) return port.error();
      return Error{port.error().code, fmt::format("{}; '{}={}' is for all of them",
                                                  port.error().message, kAllOthers, argument)};
    }
    if (specs[*port]) {
      return Error{diag::kInputMissing,
                   fmt::format("input '%{}' is given twice", ports[*port].name)};
    }
    specs[*port] = *std::move(spec);
  }
  for (std::optional<TensorSpec>& each : specs) {
    if (!each) each = of_others;
  }
  return specs;
}

/// Returns one error for all inputs without a value, with the options to add.
Error missing_inputs(std::span<const Port> ports, const Specs& specs) {
  std::string names, options;
  std::size_t count = 0;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (specs[i]) continue;
    names += fmt::format("{}{} '%{}' ({})", count++ == 0 ? "" : ", ", i, ports[i].name,
                         ports[i].type == nullptr ? "?" : ports[i].type->spelling());
    options += fmt::format(" --input={}=FILE.npy", i);
  }
  return {diag::kInputMissing,
          fmt::format("{} {} no value; give{}, or random:1, zeros or a number for FILE.npy{}",
                      count == 1 ? "input" : "inputs", names + (count == 1 ? " has" : " have"),
                      options, count == 1 ? "" : "; '*=random:1' is for all of them")};
}

/// The spec of each port.
Result<std::vector<TensorSpec>> specs_of(std::span<const Port> ports,
                                         std::span<const std::string> arguments,
                                         const FileOpener& files, const InputDefaults& defaults) {
  auto specs = named_specs(ports, arguments, files);
  if (!specs) return std::move(specs).error();
  auto others = named_specs(ports, defaults.arguments, defaults.files);
  if (!others) return std::move(others).error();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!(*specs)[i]) (*specs)[i] = std::move((*others)[i]);
  }
  if (!std::ranges::all_of(*specs, [](const auto& spec) { return spec.has_value(); })) {
    return missing_inputs(ports, *specs);
  }
  std::vector<TensorSpec> all;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].type == nullptr || !ports[i].type->dtype()) {
      return Error{diag::kInputMismatch,
                   fmt::format("input '%{}' has no element type that is known", ports[i].name)};
    }
    all.push_back(*std::move((*specs)[i]));
  }
  return all;
}

}  // namespace

Result<std::vector<Tensor>> load_inputs(const Session& session,
                                        std::span<const std::string> arguments,
                                        const DimBindings& dims, const FileOpener& files,
                                        const InputDefaults& defaults) {
  const std::span<const Port> ports = session.inputs();
  const auto specs = specs_of(ports, arguments, files, defaults);
  if (!specs) return specs.error();
  const Schedule& schedule = SessionAccess::schedule(session);
  IRContext& context = schedule.module().context();
  Binder binder(context, dims);
  std::vector<Tensor> tensors(ports.size());
  // Tensors with extents of their own come first: they bind symbols that the others need.
  for (const bool generated : {false, true}) {
    const auto bounds = index_bounds(schedule, binder.bindings());
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (needs_extents((*specs)[i]) != generated) continue;
      DeclaredTensor wanted = declared(ports[i], context.dims(), binder.bindings());
      for (std::size_t dim = 0; generated && dim < wanted.shape->size(); ++dim) {
        const bool is_open = ports[i].type->dims()[dim].is_unknown();
        if (is_open && defaults.unknown_extent) (*wanted.shape)[dim] = defaults.unknown_extent();
      }
      if (generated && std::ranges::find(*wanted.shape, kUnknownExtent) != wanted.shape->end()) {
        return Error{diag::kSymbolUnbound,
                     fmt::format("input '%{}' is {}: {}", ports[i].name, ports[i].type->spelling(),
                                 why_unknown(ports[i], context, binder.bindings()))};
      }
      wanted.bound = bounds[schedule.inputs()[i]].value_or(usual_bound(wanted.dtype));
      auto tensor = load_tensor((*specs)[i], wanted);
      if (!tensor) return at_port("input", ports[i], tensor.error());
      tensors[i] = *std::move(tensor);
      for (std::size_t dim = 0; dim < tensors[i].shape().size(); ++dim) {
        binder.bind_if_it_fits(ports[i].type->dims()[dim], tensors[i].shape()[dim]);
      }
    }
  }
  return tensors;
}

Result<std::vector<Expectation>> parse_expectations(std::span<const Port> outputs,
                                                    std::span<const std::string> arguments,
                                                    const FileOpener& files) {
  std::vector<Expectation> expectations;
  for (const std::string& argument : arguments) {
    auto spec = parse_tensor_spec(argument, files);
    if (!spec) return std::move(spec).error();
    const auto port = find_port(outputs, spec->target, "output");
    if (!port) return port.error();
    expectations.push_back({*port, std::make_shared<const TensorSpec>(*std::move(spec))});
  }
  return expectations;
}

Result<Tensor> load_expected(std::span<const Port> outputs, const Expectation& expectation,
                             const Tensor& output) {
  const TensorSpec& spec = *expectation.spec;
  if (spec.has_type()) {
    auto file = load_file(spec);
    if (!file) return file;
    const auto decoded = from_codes(*file, output.dtype());
    return decoded ? *decoded : std::move(file);
  }
  const Port& port = outputs[expectation.port];
  auto tensor = load_tensor(
      spec, {.name = port.name, .dtype = output.dtype(), .shape = output.shape(), .bound = 2});
  return tensor ? std::move(tensor) : at_port("expected output", port, tensor.error());
}

std::optional<std::string_view> output_target(std::string_view argument) {
  const auto equals = argument.find('=');
  if (equals == argument.npos || argument.substr(0, equals).find('/') != argument.npos)
    return std::nullopt;
  return argument.substr(0, equals);
}

Result<std::vector<OutputFile>> parse_output_files(std::span<const Port> outputs,
                                                   std::span<const std::string> arguments) {
  std::vector<OutputFile> files;
  for (const std::string& argument : arguments) {
    const auto target = output_target(argument);
    OutputFile file{.path = target ? argument.substr(target->size() + 1) : argument, .port = {}};
    const bool archive = file.path.ends_with(".npz");
    if (!archive && !file.path.ends_with(".npy")) {
      return Error{
          diag::kTensorSpecInvalid,
          fmt::format("'{}' is no place for outputs, expected FILE.npy or FILE.npz", file.path)};
    }
    if (target || !archive) {
      const auto port = find_port(outputs, target.value_or(""), "output");
      if (!port) return port.error();
      file.port = *port;
    }
    files.push_back(std::move(file));
  }
  return files;
}

namespace {

/// `3`, and `3.1`, `3.2` for further outputs of that name.
std::string member_name(std::span<const NamedTensor> members, const std::string& name) {
  const auto is_taken = [&](const std::string& text) {
    return std::ranges::find(members, text, &NamedTensor::name) != members.end();
  };
  std::string free = name;
  for (int number = 1; is_taken(free); ++number) free = fmt::format("{}.{}", name, number);
  return free;
}

}  // namespace

Result<void> write_outputs(std::span<const Port> outputs, std::span<const OutputFile> files,
                           std::span<const Tensor> tensors) {
  for (const OutputFile& file : files) {
    std::vector<NamedTensor> members;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (file.port.value_or(i) != i) continue;
      members.push_back({member_name(members, outputs[i].name), tensors[i]});
    }
    const auto written = file.path.ends_with(".npz") ? write_npz(file.path, members)
                                                     : write_npy(file.path, members[0].tensor);
    if (!written) return written;
  }
  return {};
}

}  // namespace mir
