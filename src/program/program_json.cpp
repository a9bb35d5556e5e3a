// Writes a module of the prog dialect as the JSON document of an executable program.
#include "program/program_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "mir/codes/weights.hpp"
#include "mir/ops.hpp"
#include "program/program_code.hpp"

namespace mir {
namespace {

using Json = nlohmann::json;

/// Device that upstream writes for instructions without one.
constexpr const char* kNoDevice = "DeviceTypes_Start";

/// One fragment; the first thing that has no form in a document ends the work.
class JsonWriter {
 public:
  explicit JsonWriter(const ProgramCode& code) : code_(code), context_(code.module().context()) {}

  std::string problem;
  const Op* current = nullptr;  ///< the instruction at hand

  Json fragment(const prog::Fragment& fragment) {
    Json instructions = Json::array();
    for (const prog::Instruction& each : fragment.instructions) {
      current = each.op;
      instructions.push_back(instruction(each));
      if (!problem.empty()) break;
    }
    return {{"dialect", "program"},
            {"op", "fragment"},
            {"symbol", std::string(context_.text(fragment.op->symbol()))},
            {"instructions", std::move(instructions)}};
  }

 private:
  void expect(bool holds, std::string_view what) {
    if (!holds && problem.empty()) problem = what;
  }

  Json instruction(const prog::Instruction& at) {
    const Op& op = *at.op;
    Json object = {{"dialect", "program"}, {"device", kNoDevice}};
    const auto address = op.dump_facts().address;
    expect(address.has_value(), fmt::format("{} has no address", op.name()));
    object["program_id"] = address.value_or(0);
    object["op"] =
        std::visit([&](const auto& action) { return add(object, op, action); }, at.action);
    return object;
  }

  // Each adds the fields of an instruction and gives its name.

  std::string_view add(Json& object, const Op&, const prog::Label& label) {
    add_symbol(object, label.name);
    return "label";
  }
  std::string_view add(Json& object, const Op& op, const prog::Jump& jump) {
    expect(jump.distance.has_value(),
           fmt::format("{} has no attribute '{}'", op.name(), key::kOffset.text));
    object["target"] = std::string(context_.text(jump.label));
    object[std::string(key::kOffset)] = jump.distance.value_or(0);
    return "jump";
  }
  std::string_view add(Json& object, const Op& op, const prog::Launch& launch) {
    object["inputs"] = inputs(op);
    object["outputs"] = outputs(op);
    add_kernel(object, op, launch.spec);
    if (!launch.name.empty()) object[std::string(key::kSymbolName)] = launch.name;
    return "kernel_launch";
  }
  std::string_view add(Json& object, const Op& op, const prog::KernelSymbol& kernel) {
    add_symbol(object, kernel.name);
    add_kernel(object, op, kernel.spec);
    return "kernel_symbol";
  }
  std::string_view add(Json& object, const Op& op, const prog::ValueSymbol& value) {
    add_symbol(object, value.name);
    object["outputs"] = outputs(op);
    if (op.result_count() != 0) add_value(object, *op.result());
    return "value_symbol";
  }
  std::string_view add(Json& object, const Op& op, const prog::Free&) {
    object["inputs"] = inputs(op);
    object["outputs"] = Json::array();
    return "free";
  }
  std::string_view add(Json& object, const Op&, const prog::Bind& bind) {
    object["type"] = bind.direction == prog::Direction::kOutput ? "output" : "input";
    object[std::string(key::kProgramUuid)] = bind.slot->number();
    object[std::string(key::kInputPos)] = *bind.position;
    return "bind";
  }
  std::string_view add(Json& object, const Op&, const prog::ModeConfig& mode) {
    object[std::string(key::kFlag)] = *mode.flag;
    return "mode_config";
  }
  std::string_view add(Json&, const Op&, const prog::Exit&) { return "exit"; }
  std::string_view add(Json&, const Op&, const prog::Return&) { return "ret"; }
  std::string_view add(Json&, const Op& op, const prog::Alloc&) { return refuse(op); }
  std::string_view add(Json&, const Op& op, const prog::Other&) { return refuse(op); }

  std::string_view refuse(const Op& op) {
    expect(false, fmt::format("{} is no instruction of a program", op.name()));
    return "";
  }

  // -- fields -------------------------------------------------------------------------------------

  void add_symbol(Json& object, const std::optional<Symbol>& name) {
    object[std::string(key::kSymbol)] = std::string(name ? context_.text(*name) : "");
  }

  std::uint32_t id(const Value& value) {
    expect(value.name().is_number(), "a value has a name where a program has a number");
    return value.name().is_number() ? value.name().number() : 0;
  }
  Json inputs(const Op& op) {
    Json ids = Json::array();
    for (const Use& use : op.operand_uses()) ids.push_back(id(*use.value()));
    return ids;
  }
  Json outputs(const Op& op) {
    Json ids = Json::array();
    for (const Value& result : op.results()) ids.push_back(id(result));
    return ids;
  }

  std::string device_of(const Value& value) const {
    const TensorType* type = value.tensor_type();
    return type == nullptr ? "CPU" : std::string(context_.text(type->device()));
  }

  void add_kernel(Json& object, const Op& op, const prog::KernelSpec& spec) {
    object[std::string(key::kOpType)] = spec.type_name();
    object["device"] = op.result_count() != 0 ? device_of(*op.result()) : "CPU";
    Json options = Json::parse(spec.options->spelling(), nullptr, false);
    expect(!options.is_discarded(),
           fmt::format("'{}' of {} are no JSON", key::kOpOptions.text, op.name()));
    object[std::string(key::kOpOptions)] = std::move(options);
  }

  void add_value(Json& object, const Value& value) {
    object["device"] = device_of(value);
    if (!code_.is_constant(value)) return;
    const Attr& constant = *value.attribute(context_.intern("constant"));
    const TensorType* type = value.tensor_type();
    const bool fine =
        constant.kind() == AttrKind::kArray && type != nullptr && type->has_static_shape();
    expect(fine, "a constant has no values or no constant extents");
    if (!fine) return;
    object["constant"] = Json::array();
    object["shape"] = Json::array();
    for (const Attr* element : constant.elements()) object["constant"].push_back(element->number());
    for (const Dim dim : type->dims()) object["shape"].push_back(dim.constant());
  }

  const ProgramCode& code_;
  IRContext& context_;
};

}  // namespace

std::optional<std::string> program_json(const Module& module, Diagnostics& diagnostics) {
  const auto refuse = [&](const Op& op, std::string text) {
    diagnostics.error(diag::kProgramMalformed, op.span(), std::move(text));
    return std::nullopt;
  };
  for (const Block* block : module.body().blocks()) {
    for (const Op* op : block->ops()) {
      if (isa<FragmentOp>(op)) continue;
      return refuse(
          *op, fmt::format("{} is no fragment: lower the module to a program first", op->name()));
    }
  }
  const ProgramCode code(module);
  if (!code.defects().empty()) {
    return refuse(*code.defects().front().op, prog::describe(code.defects().front()));
  }
  JsonWriter writer(code);
  Json fragments = Json::array();
  std::size_t count = 0;
  for (const prog::Fragment& fragment : code.fragments()) {
    fragments.push_back(writer.fragment(fragment));
    if (!writer.problem.empty()) return refuse(*writer.current, writer.problem);
    if (fragment.kind == prog::FragmentKind::kCode) count = fragment.instructions.size();
  }
  const Json document = {
      {"code", {{"module", std::move(fragments)}}}, {"little_endian", true}, {"op_counts", count}};
  return document.dump(-1, ' ', true) + "\n";
}

}  // namespace mir
