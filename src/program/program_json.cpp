#include "program/program_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "mir/ops.hpp"

namespace mir {
namespace {

using Json = nlohmann::json;

/// What upstream writes for instructions to which it gives no device.
constexpr const char* kNoDevice = "DeviceTypes_Start";
constexpr const char* kProgramPrefix = "prog.";

/// One fragment; the first field that an instruction lacks ends the work.
class JsonWriter {
 public:
  explicit JsonWriter(IRContext& context) : context_(context) {}

  std::string problem;

  Json fragment(const FragmentOp& fragment) {
    Json instructions = Json::array();
    for (const Op* op : fragment.body()->ops()) {
      instructions.push_back(instruction(*op));
      if (!problem.empty()) break;
    }
    return {{"dialect", "program"},
            {"op", "fragment"},
            {"symbol", std::string(context_.text(fragment.op()->symbol()))},
            {"instructions", std::move(instructions)}};
  }

 private:
  const Attr* attribute(const Op& op, std::string_view key) {
    const Attr* found = op.attribute(key);
    if (found == nullptr && problem.empty())
      problem = fmt::format("{} has no attribute '{}'", op.name(), key);
    return found;
  }
  std::string text(const Op& op, std::string_view key) {
    const Attr* found = attribute(op, key);
    if (found == nullptr) return {};
    return std::string(found->kind() == AttrKind::kString ? found->text() : found->spelling());
  }
  std::int64_t integer(const Op& op, std::string_view key) {
    const Attr* found = attribute(op, key);
    if (found == nullptr || found->kind() == AttrKind::kInt) return found ? found->integer() : 0;
    if (problem.empty()) problem = fmt::format("'{}' of {} is no number", key, op.name());
    return 0;
  }

  std::uint32_t id(const Value& value) {
    if (value.name().is_number()) return value.name().number();
    if (problem.empty()) problem = "a value has a name where a program has a number";
    return 0;
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

  void add_kernel(Json& object, const Op& op) {
    object["op_type"] = text(op, "op_type");
    object["device"] = op.result_count() != 0 ? device_of(*op.result()) : "CPU";
    const Attr* options = attribute(op, "op_options");
    if (options == nullptr) return;
    object["op_options"] = Json::parse(options->spelling(), nullptr, false);
    if (object["op_options"].is_discarded() && problem.empty())
      problem = fmt::format("'op_options' of {} are no JSON", op.name());
  }

  void add_value(Json& object, const Op& op) {
    object["symbol"] = text(op, "symbol");
    object["outputs"] = outputs(op);
    if (op.result_count() == 0) return;
    object["device"] = device_of(*op.result());
    const Attr* constant = op.result()->attribute(context_.intern("constant"));
    const TensorType* type = op.result()->tensor_type();
    if (constant == nullptr) return;
    const bool fine =
        constant->kind() == AttrKind::kArray && type != nullptr && type->has_static_shape();
    if (!fine) {
      if (problem.empty()) problem = "a constant has no values or no constant extents";
      return;
    }
    object["constant"] = Json::array();
    object["shape"] = Json::array();
    for (const Attr* element : constant->elements())
      object["constant"].push_back(element->number());
    for (const Dim dim : type->dims()) object["shape"].push_back(dim.constant());
  }

  Json instruction(const Op& op) {
    const std::string_view name = op.name();
    const std::string kind(
        name.substr(std::min(name.size(), std::string_view(kProgramPrefix).size())));
    Json object = {{"dialect", "program"}, {"op", kind}, {"device", kNoDevice}};
    if (op.extra().has_address)
      object["program_id"] = op.extra().address;
    else if (problem.empty())
      problem = fmt::format("{} has no address", name);
    if (kind == "label") {
      object["symbol"] = text(op, "symbol");
    } else if (kind == "jump") {
      object["target"] = std::string(context_.text(op.extra().label));
      object["offset"] = integer(op, "offset");
    } else if (kind == "kernel_launch") {
      object["inputs"] = inputs(op);
      object["outputs"] = outputs(op);
      add_kernel(object, op);
      if (op.attribute("symbol_name") != nullptr) object["symbol_name"] = text(op, "symbol_name");
    } else if (kind == "kernel_symbol") {
      object["symbol"] = text(op, "symbol");
      add_kernel(object, op);
    } else if (kind == "value_symbol") {
      add_value(object, op);
    } else if (kind == "free") {
      object["inputs"] = inputs(op);
      object["outputs"] = Json::array();
    } else if (kind == "bind") {
      object["type"] = integer(op, "type") == 1 ? "output" : "input";
      object["program_uuid"] = integer(op, "program_uuid");
      object["input_pos"] = integer(op, "input_pos");
    } else if (kind == "mode_config") {
      object["flag"] = integer(op, "flag");
    } else if (kind != "exit" && kind != "ret" && problem.empty()) {
      problem = fmt::format("{} is no instruction of a program", name);
    }
    return object;
  }

  IRContext& context_;
};

}  // namespace

Result<std::string> program_json(const Module& module) {
  JsonWriter writer(module.context());
  Json fragments = Json::array();
  std::size_t code = 0;
  for (Op* op : module.body().ops()) {
    const auto fragment = dyn_cast<FragmentOp>(op);
    if (!fragment)
      return Error{
          DiagCode::kProgramMalformed,
          fmt::format("{} is no fragment: lower the module to a program first", op->name())};
    fragments.push_back(writer.fragment(fragment));
    if (!writer.problem.empty()) return Error{DiagCode::kProgramMalformed, writer.problem};
    if (fragment.kind() == "code") code = fragments.back()["instructions"].size();
  }
  const Json document = {
      {"code", {{"module", std::move(fragments)}}}, {"little_endian", true}, {"op_counts", code}};
  return document.dump() + "\n";
}

}  // namespace mir
