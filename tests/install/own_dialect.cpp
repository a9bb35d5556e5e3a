// A program outside the project that makes a dialect at run time: two ops with a type of their own,
// an op with a region of blocks and successors, one that folds and one whose region runs once. The
// library names none of them. It also runs the example of docs/ir.md.
#include <iostream>
#include <string>
#include <vector>

#include "document_dialect.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/dialects.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"

namespace {

using namespace mir;

constexpr const char* kText =
    "@main [mir_version:1] (%n:!builtin.index) -> (%total:!ring.buffer<8, newest>) {\n"
    "    ring.MakeOp(%n:!builtin.index) -> (%ring:!ring.buffer<8, newest>)[capacity:8, "
    "order:newest]\n"
    "    ring.LoopOp(%ring:!ring.buffer<8, newest>) -> (%total:!ring.buffer<8, newest>) {\n"
    "    ^head(%at:!ring.buffer<8, newest>):\n"
    "        ring.NextOp(%at:!ring.buffer<8, newest>) -> () [^head(%at:!ring.buffer<8, newest>), "
    "^done]\n"
    "    ^done:\n"
    "        ring.LeaveOp(%at:!ring.buffer<8, newest>) -> ()\n"
    "    }\n"
    "    cf.ReturnOp (%total:!ring.buffer<8, newest>) -> ()\n"
    "}\n";

bool is_buffer(const Type* type) {
  const auto* buffer = dyn_cast<DialectType>(type);
  return buffer != nullptr && buffer->is_structured() && buffer->kind().name == "ring.buffer";
}

/// The dialect. Everything that it is made of is gone when the function returns.
Result<const Dialect*> add_ring(IRContext& context) {
  const std::vector<std::string> words = {"oldest", "newest"};
  const std::vector<std::string_view> orders(words.begin(), words.end());
  const std::vector<AttrRow> shape = {
      {.name = "capacity", .type = AttrType::kInt, .required = true, .range = {.low = 1}},
      {.name = "order", .type = AttrType::kString, .default_text = "oldest", .choices = orders}};

  const OpRowSpec make{.row = {.name = "MakeOp",
                               .operands = exactly(1),
                               .results = exactly(1),
                               .traits = Trait::kPure,
                               .summary = "An empty buffer."},
                       .attributes = shape,
                       .infer = [type = std::string("ring.buffer")](InferContext& op) {
                         const Attr* order = op.attribute("order");
                         std::vector<const Attr*> parameters = {op.attribute("capacity")};
                         if (order != nullptr) parameters.push_back(order);
                         const auto made = op.context().dialect_type(type, parameters);
                         if (!made) return op.fail(made.error().code, made.error().message);
                         op.result(*made);
                         return true;
                       }};
  const OpRowSpec loop{.row = {.name = "LoopOp",
                               .operands = exactly(1),
                               .results = exactly(1),
                               .regions = exactly(1),
                               .summary = "Runs its region."},
                       .infer =
                           [](InferContext& op) {
                             if (!is_buffer(op.operand_type(0))) {
                               return op.fail(diag::kDTypeMismatch, "a loop takes a buffer");
                             }
                             op.result(op.operand_type(0));
                             return true;
                           },
                       .verify =
                           [](VerifyContext& check) {
                             const Block* entry = check.op().region()->entry();
                             if (entry != nullptr && entry->arguments().size() == 1) return true;
                             return check.fail(diag::kSignatureMismatch,
                                               "the region of '" + std::string(check.row().name) +
                                                   "' needs one argument");
                           }};
  const OpRowSpec next{.row = {.name = "NextOp",
                               .operands = exactly(1),
                               .successors = exactly(2),
                               .traits = Trait::kTerminator,
                               .summary = "Goes on with the loop or ends it."}};
  const OpRowSpec leave{.row = {.name = "LeaveOp",
                                .operands = exactly(1),
                                .traits = Trait::kTerminator,
                                .summary = "Ends the loop with a value."}};
  const OpRowSpec reverse{.row = {.name = "ReverseOp",
                                  .operands = exactly(1),
                                  .results = exactly(1),
                                  .traits = Trait::kPure | Trait::kSameShape,
                                  .summary = "The elements in the other order."},
                          .fold = [](const Op& op) -> std::vector<FoldedResult> {
                            const Op* before = op.operand(0)->defining_op();
                            if (before == nullptr || before->kind() != op.kind()) return {};
                            return {{.value = before->operand(0)}};
                          }};
  const OpRowSpec scope{.row = {.name = "ScopeOp",
                                .operands = at_least(0),
                                .results = at_least(0),
                                .regions = exactly(1),
                                .traits = Trait::kPure,
                                .summary = "Runs its region once."},
                        .region_flow = [](const Op& op) -> std::vector<RegionEdge> {
                          return {{.to = 0, .operand_count = op.operand_count()},
                                  {.from = 0, .operand_count = op.result_count()}};
                        }};
  const TypeRowSpec buffer{.row = {.name = "buffer", .summary = "The last elements of a stream."},
                           .parameters = shape};
  return context.add_dialect({.name = "ring",
                              .ops = {make, loop, next, leave, reverse, scope},
                              .types = {buffer},
                              .summary = "Ring buffers."});
}

/// The text after passes of the library, or what they reported.
std::string after(IRContext& context, const std::string& text, std::string_view pipeline_text) {
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics diagnostics;
  const SourceFile* file = context.sources().add("ring.mir", text);
  const auto modules = read_modules(*file, context, diagnostics);
  const auto pipeline = registry.read_pipeline(
      *context.sources().add("pipeline", std::string(pipeline_text)), diagnostics);
  const bool good =
      pipeline && run_pipeline(*modules.front(), *pipeline,
                               {.verify = [](Module& module,
                                             Diagnostics& found) { return verify(module, found); }},
                               diagnostics);
  return good ? print(*modules.front()) : render(diagnostics, context.sources(), {});
}

/// What reading and verifying a text reports, a message a line.
std::string problems_of(IRContext& context, const std::string& text) {
  Diagnostics diagnostics;
  const SourceFile* file = context.sources().add("ring.mir", text);
  const auto modules = read_modules(*file, context, diagnostics);
  if (!diagnostics.has_errors()) verify(*modules.front(), diagnostics);
  return render(diagnostics, context.sources(), {.format = DiagnosticFormat::kLine});
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

int check(bool holds, const std::string& what) {
  if (!holds) std::cerr << "not so: " << what << '\n';
  return holds ? 0 : 1;
}

}  // namespace

int main() {
  IRContext context;
  register_builtin_dialects(context);
  const auto ring = add_ring(context);
  if (!ring) {
    std::cerr << ring.error().message << '\n';
    return 1;
  }

  Diagnostics diagnostics;
  const SourceFile* file = context.sources().add("ring.mir", kText);
  const auto modules = read_modules(*file, context, diagnostics);
  int wrong = check(!diagnostics.has_errors() && verify(*modules.front(), diagnostics),
                    "the text verifies");
  const std::string printed = print(*modules.front());
  wrong += check(printed == kText, "the module prints the text: " + printed);
  const Op* make = modules.front()->body().entry()->front();
  wrong += check(make->row() == &(*ring)->rows[0], "the op has its row");
  const auto* type = dyn_cast<DialectType>(make->result()->type());
  wrong += check(type != nullptr && type->parameter("capacity")->integer() == 8 &&
                     type->parameter(1)->text() == "newest",
                 "the type has its parameters");

  const std::string inferred = with(kText, "(%ring:!ring.buffer<8, newest>)[", "(%ring)[");
  wrong += check(problems_of(context, inferred).empty(), "the result type is inferred");
  const struct {
    const char *from, *to, *found;
  } kMistakes[] = {
      {"capacity:8", "capacity:0", "MIR0504"},
      {"order:newest", "order:any", "expected one of 'oldest', 'newest'"},
      {"capacity:8", "capacity:9", "MIR0410"},
      {"buffer<8, newest>)[", "buffer<0>)[", "parameter 'capacity' of '!ring.buffer' is 0"},
      {"^head(%at:!ring.buffer<8, newest>):", "^head:", "MIR0302"},
      {", ^done]", "]", "'ring.NextOp' has 1 successor, expected 2"},
      {"ring.LoopOp(%ring:!ring.buffer<8, newest>)", "ring.LoopOp(%n:!builtin.index)",
       "a loop takes a buffer"},
  };
  for (const auto& mistake : kMistakes) {
    const std::string found = problems_of(context, with(kText, mistake.from, mistake.to));
    wrong += check(found.find(mistake.found) != std::string::npos, mistake.found + (": " + found));
  }
  // An op of the dialect is folded, and one with a region is inlined, by passes that know neither.
  const std::string type_text = "!ring.buffer<8>";
  const std::string nested =
      "@main [mir_version:1] (%x:" + type_text + ") -> (%z:" + type_text + ") {\n" +
      "    ring.ScopeOp (%x:" + type_text + ") -> (%y:" + type_text + ") {\n" +
      "        (%a:" + type_text + ") -> () {\n" + "            ring.ReverseOp (%a:" + type_text +
      ") -> (%b:" + type_text + ")\n" + "            ring.LeaveOp(%b:" + type_text +
      ") -> ()\n        }\n    }\n" + "    ring.ReverseOp (%y:" + type_text +
      ") -> (%c:" + type_text + ")\n" + "    ring.ReverseOp (%c:" + type_text +
      ") -> (%z:" + type_text + ")\n" + "    cf.ReturnOp (%z:" + type_text + ") -> ()\n}\n";
  const std::string inlined = after(context, nested, "inline");
  wrong += check(inlined.find("ScopeOp") == std::string::npos &&
                     inlined.find("ring.ReverseOp(%x:") != std::string::npos,
                 "the region is inlined: " + inlined);
  const std::string folded = after(context, nested, "inline,simplify");
  const auto first = folded.find("ring.ReverseOp");
  wrong += check(
      first != std::string::npos && folded.find("ring.ReverseOp", first + 1) == std::string::npos,
      "two of three reversals are folded: " + folded);

  const document_dialect::Outcome outcome = document_dialect::run(context);
  wrong += check(outcome.is_registered && outcome.problems.empty() && outcome.factor == 0.5,
                 "the example of the document runs");
  if (wrong == 0) std::cout << "a dialect of its own\n";
  std::cerr << render(diagnostics, context.sources(), {});
  return wrong == 0 ? 0 : 1;
}
