// Rows of fast ops against the plans that follow from them.
#include "plan/fast_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "../interp/module_text.hpp"
#include "../interp/page_examples.hpp"
#include "../interp/type_variants.hpp"
#include "../seeds.hpp"
#include "eval/parameters.hpp"
#include "interp/session_run.hpp"
#include "kernels/fast/compare.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "kernels/fast/top_k.hpp"
#include "kernels/ref/movement.hpp"
#include "op_templates.hpp"

namespace mir::test::fast_ops_of {

namespace {

/// Portable modules of one op each: the examples of the rows, but those with weights of more than a
/// million elements.
std::vector<std::string> row_examples() {
  IRContext context;
  register_builtin_dialects(context);
  const OpTemplates templates(context);
  std::vector<std::string> texts;
  for (const OpPattern& pattern : templates.all()) {
    std::string registers, operands, inputs, results, attributes;
    std::int64_t elements = 0;
    for (const auto& [suffix, type] :
         templates.parameters(pattern).value_or(std::vector<Parameter>())) {
      elements += type->element_count().value_or(0);
      registers += fmt::format("tensor.CPU.register () -> (%p{0}:{1}[@p{0}])[symbol:p{0}]\n",
                               suffix, type->spelling());
    }
    if (elements > 1'000'000) continue;
    const auto join = [](std::string& list, const std::string& each) {
      list += (list.empty() ? "" : ", ") + each;
    };
    for (std::size_t i = 0; i < pattern.operands.size(); ++i) {
      const std::string value = fmt::format("%x{}:{}", i, pattern.operands[i]->spelling());
      join(operands, value + pattern.operand_attributes[i]);
      if (pattern.operand_attributes[i].empty()) join(inputs, value);
    }
    for (std::size_t i = 0; i < pattern.results.size(); ++i)
      join(results, fmt::format("%y{}:{}", i, pattern.results[i]->spelling()));
    for (const NamedAttr& each : pattern.attributes)
      join(attributes, fmt::format("{}:{}", context.text(each.key), each.value->spelling()));
    texts.push_back(with_init(fmt::format(
        "@main [mir_version:1] ({}) -> ({}) {{\n{}{} <name=\"p\"> [{}] ({}) -> ({})\n"
        "cf.ReturnOp ({}) -> ()\n}}\n",
        inputs, results, registers, pattern.spelling, attributes, operands, results, results)));
  }
  return texts;
}

/// The row's example draws numbers, which is the reference kernel's.
const char* const kFill = R"(
@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> (%y:tensor<[2, 3], Float32, CPU>) {
  linalg.CPU.FillOp [type:specific, value:0.5] (%x:tensor<[2, 3], Float32, CPU>) -> (%y:tensor<[2, 3], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[2, 3], Float32, CPU>) -> ()
}
)";

/// The examples of the pages, which have several ops each, and those of the rows.
std::vector<std::string> examples() {
  std::vector<std::string> texts = row_examples();
  texts.emplace_back(kFill);
  for (const PageExample& example : page_examples()) texts.push_back(example.text);
  return texts;
}

/// The parameters that an op owns, as their registrations declare them.
ParameterTable declared_parameters(const Op& op) {
  ParameterTable table;
  for (const OwnedParameter& owned : owned_parameters(op)) {
    const Value* declared = op.module().lookup_value(owned.symbol);
    const TensorType* type = declared == nullptr ? nullptr : declared->tensor_type();
    if (type == nullptr || !type->dtype() || !type->element_count()) continue;
    Shape shape;
    for (const Dim dim : type->dims()) shape.push_back(dim.constant());
    auto tensor = Tensor::allocate(*type->dtype(), std::move(shape));
    if (tensor) table.emplace(owned.symbol, *std::move(tensor));
  }
  return table;
}

/// Whether blocks of the weight fill the rows of a Linear.
bool fills_rows(const Op& op, const ParameterTable& parameters) {
  if (!op.is(OpId::kLinalgLinear)) return true;
  const std::int64_t depth = op.operand(0)->tensor_type()->dims().back().constant();
  for (const OwnedParameter& owned : owned_parameters(op)) {
    const auto found = parameters.find(owned.symbol);
    if (owned.suffix == ".weight" && found != parameters.end())
      return fast::is_packable(found->second.dtype(), depth);
  }
  return false;
}

/// Whether the row of a step's op admits it.
bool is_admitted(const Op& op) {
  const FastOp* row = find_fast_op(op);
  if (row == nullptr || !row->admits(op)) return false;
  const ParameterTable parameters = declared_parameters(op);
  return row->admits_parameters(op, parameters) && fills_rows(op, parameters);
}

/// Whether fast kernels can see a value: its extents are known before anything is computed.
bool is_plannable(const Schedule& schedule, ValueIndex index) {
  const TensorType* type = schedule.values()[index].value->tensor_type();
  return type != nullptr && type->dtype() && std::ranges::none_of(type->dims(), &Dim::is_unknown);
}

struct Tally {
  std::size_t fast = 0, reference = 0, skipped = 0;
};

/// Compares the nodes of a module's plan with the rows of its steps, op by op.
void compare(const std::string& text, Tally& tally) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("test.mir", text);
  Diagnostics problems;
  const auto modules = read_modules(*file, context, problems);
  if (problems.has_errors() || modules.size() != 1 || !verify(*modules[0], problems)) return;
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  SessionOptions options;
  options.kernels = KernelSet::kFast;
  options.fuses = false;
  options.weights = &weights;
  auto session = Session::create(*modules[0], options, problems);
  if (!session) return;
  const QuantisationTable& codes = SessionAccess::state(*session).quantisations;
  const Schedule& schedule = SessionAccess::schedule(*session);
  std::map<std::string, int> expected, found;
  for (std::size_t number = 0; number < schedule.steps().size(); ++number) {
    const Step& step = schedule.steps()[number];
    const Op& op = *step.op;
    if (schedule.control(number) != nullptr) continue;  // its regions have plans of their own
    const bool moves = op.has(Trait::kMoves) && keeps_codes(op, codes);
    std::vector<ValueIndex> values(schedule.operands(step).begin(), schedule.operands(step).end());
    for (std::uint32_t i = 0; i < op.result_count(); ++i) values.push_back(step.first_result + i);
    const bool is_seen = std::ranges::all_of(
        values, [&](ValueIndex index) { return is_plannable(schedule, index); });
    if ((touches_codes(op, codes) && !moves) || !is_seen) {
      ++tally.skipped;
      return;
    }
    const bool is_fast = is_admitted(op);
    ++(is_fast ? tally.fast : tally.reference);
    if (!is_fast) ++expected[fmt::format("{} (ref)", op.info().mnemonic)];
  }
  for (const std::string& name : SessionAccess::plan(*session).node_names()) {
    if (name.ends_with(" (ref)")) ++found[name];
  }
  INFO(text);
  CHECK(found == expected);
}

/// One op with an element type in places, and the types in these places that its kernel takes.
struct TypedOp {
  std::string_view line;  ///< `?` is the type
  bool (*takes)(DType);
};
const TypedOp kTypedOps[] = {
    {"linalg.CPU.NegOp (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[2], ?, CPU>)",
     [](DType type) { return type == DType::kFloat32; }},
    {"linalg.CPU.ConcatOp [dim:0] (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[2], ?, CPU>)",
     [](DType type) { return info(type).lanes == 1; }},
    {"linalg.CPU.ViewOp [to_shape:[2]] (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[2], ?, CPU>)",
     [](DType) { return true; }},
    {"linalg.CPU.ExtentOp [dim:0] (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[1], Int64, CPU>)",
     [](DType) { return true; }},
    {"linalg.CPU.MatchShapeOp [shape:[2]] (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[2], ?, CPU>)",
     [](DType) { return true; }},
    {"linalg.CPU.TopKOp [k:1] (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[1], ?, CPU>, "
     "%i:tensor<[1], Int32, CPU>)",
     fast::has_top_k},
    {"linalg.CPU.TopKOp [k:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[1], Float32, CPU>, "
     "%i:tensor<[1], ?, CPU>)",
     [](DType type) { return type == DType::kInt32; }},
    {"linalg.CPU.EqualOp (%x:tensor<[2], ?, CPU>, %x:tensor<[2], ?, CPU>) -> "
     "(%y:tensor<[2], Bool, CPU>)",
     fast::is_comparable},
    {"linalg.CPU.EqualOp (%x:tensor<[2], ?, CPU>, %z:tensor<[2], Float32, CPU>) -> "
     "(%y:tensor<[2], Bool, CPU>)",
     [](DType type) { return type == DType::kFloat32; }},
    {"linalg.CPU.LessOp (%x:tensor<[2], ?, CPU>, %x:tensor<[2], ?, CPU>) -> "
     "(%y:tensor<[2], Bool, CPU>)",
     fast::is_comparable},
    {"linalg.CPU.AndOp (%x:tensor<[2], ?, CPU>, %x:tensor<[2], ?, CPU>) -> "
     "(%y:tensor<[2], Bool, CPU>)",
     [](DType type) { return type == DType::kBool; }},
    {"linalg.CPU.MaximumOp (%x:tensor<[2], ?, CPU>, %x:tensor<[2], ?, CPU>) -> "
     "(%y:tensor<[2], ?, CPU>)",
     [](DType type) { return type == DType::kFloat32; }},
    {"linalg.CPU.CumSumOp [dim:0] (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[2], ?, CPU>)",
     [](DType type) { return type == DType::kFloat32; }},
    {"linalg.CPU.IotaOp [shape:[2], dtype:?, dim:0] () -> (%y:tensor<[2], ?, CPU>)",
     [](DType type) {
       return type != DType::kBool && ref::element_cast(DType::kFloat64, type).ok();
     }},
    {"linalg.CPU.CastTypeOp [dtype:?] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], ?, CPU>)",
     [](DType type) { return ref::element_cast(DType::kFloat32, type).ok(); }},
    {"linalg.CPU.WhereOp (%c:tensor<[2], ?, CPU>, %x:tensor<[2], Float32, CPU>, "
     "%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>)",
     [](DType type) {
       return type == DType::kBool || type == DType::kUInt8 || type == DType::kInt8;
     }},
    {"linalg.CPU.GatherOp [dim:0] (%x:tensor<[2], Float32, CPU>, %i:tensor<[2], ?, CPU>) -> "
     "(%y:tensor<[2], Float32, CPU>)",
     [](DType type) { return type == DType::kInt32 || type == DType::kInt64; }},
    {"linalg.CPU.GatherOp [dim:0] (%x:tensor<[2], ?, CPU>, %i:tensor<[2], Int64, CPU>) -> "
     "(%y:tensor<[2], ?, CPU>)",
     [](DType type) { return info(type).lanes == 1; }},
    {"linalg.CPU.FillOp [type:zeros] (%x:tensor<[2], ?, CPU>) -> (%y:tensor<[2], ?, CPU>)",
     [](DType type) {
       return info(type).lanes == 1 && info(type).type_class != DTypeClass::kQuantised;
     }},
};

}  // namespace

TEST_CASE("a step has a fast node exactly where the row of its op admits the element types") {
  Tally tally;
  std::size_t cases = 0;
  for (const std::string& example : examples()) {
    compare(example, tally);
    for (const std::string& text : variants(example)) {
      if (cases++ % test::kCaseStride == 0) compare(text, tally);
    }
  }
  MESSAGE(tally.fast << " fast, " << tally.reference << " by reference kernels, " << tally.skipped
                     << " skipped");
  CHECK(tally.fast > 400 / test::kCaseStride);
  CHECK(tally.reference > 400 / test::kCaseStride);
}

TEST_CASE("rows admit the element types that their kernels take, and no others") {
  for (const TypedOp& typed : kTypedOps) {
    for (const DTypeInfo& type : dtype_table()) {
      std::string line(typed.line);
      for (auto at = line.find('?'); at != line.npos; at = line.find('?'))
        line.replace(at, 1, type.name);
      CAPTURE(line);
      OneOp one(line);
      const FastOp* row = find_fast_op(one.op());
      REQUIRE(row != nullptr);
      CHECK(row->admits(one.op()) == typed.takes(type.dtype));
    }
  }
}

TEST_CASE("every op with a row has an example that its row admits") {
  std::map<OpId, bool> admitted;
  for (const std::string& example : examples()) {
    IRContext context;
    register_builtin_dialects(context);
    const SourceFile* file = context.sources().add("test.mir", example);
    Diagnostics problems;
    for (const Module* module : read_modules(*file, context, problems)) {
      const auto schedule = Schedule::build(*module, {}, problems);
      if (!schedule) continue;
      for (const Step& step : schedule->steps()) {
        bool& is_known = admitted[step.op->op_id()];
        is_known = is_known || is_admitted(*step.op);
      }
    }
  }
  for (const FastOp& row : fast_ops()) CHECK_MESSAGE(admitted[row.op], name_of(row.op));
}

}  // namespace mir::test::fast_ops_of
