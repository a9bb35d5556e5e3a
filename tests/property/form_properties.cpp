// The forms of a module mean the same: lowered, lifted again, as a dump and back, it gives the bits
// that it gave, or the conversion says what it has no place for.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "exact_passes.hpp"
#include "interp/summary.hpp"
#include "mir/dialects.hpp"
#include "mir/ops.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "mir/session.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "module_generator.hpp"
#include "upgrade/lower_program.hpp"

using namespace mir;
using namespace mir::test;

namespace {

/// What a run gave, under the names of the outputs.
struct Outcome {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

/// Why a module does not run; empty: it did.
struct Attempt {
  std::string refusal;
  Outcome outcome;
};

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& each : diagnostics.sorted()) {
    text += std::string(spelling(each.code)) + " " + each.message + "\n";
  }
  return text;
}

class Subject {
 public:
  explicit Subject(const std::string& text) : text_(text) {
    register_builtin_dialects(context_);
    const SourceFile* file = context_.sources().add("test.mir", text);
    const auto modules = read_modules(*file, context_, problems_);
    if (!problems_.has_errors() && modules.size() == 1) module_ = modules.front();
  }

  Module& module() { return *module_; }
  IRContext& context() { return context_; }
  bool is_read() const { return module_ != nullptr; }
  std::string problems() const { return text_of(problems_); }

 private:
  std::string text_;
  IRContext context_;
  Diagnostics problems_;
  Module* module_ = nullptr;
};

Attempt refused(std::string by, const Diagnostics& diagnostics) {
  return {std::move(by) + ": " + text_of(diagnostics), {}};
}

std::vector<std::string> random_arguments(std::size_t count) {
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < count; ++i) {
    arguments.push_back(std::to_string(i) + "=random:" + std::to_string(i + 1));
  }
  return arguments;
}

template <class Ports>
std::vector<std::string> names_of(const Ports& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

const WeightSet& weights() {
  static const WeightSet set = [] {
    WeightSet made;
    REQUIRE(made.add("random:1").ok());
    return made;
  }();
  return set;
}

using Inputs = std::map<std::string, Tensor, std::less<>>;

/// Runs a module on inputs by name. Without any, it draws them, and notes them also in their order.
Attempt run_graphs(Module& module, const Inputs* given, Inputs* drawn = nullptr,
                   std::vector<Tensor>* in_order = nullptr) {
  Diagnostics problems;
  if (!verify(module, problems)) return refused("verify", problems);
  auto session = Session::create(module, {.entry = {}, .weights = &weights()}, problems);
  if (!session) return refused("create", problems);
  std::vector<Tensor> inputs;
  if (given == nullptr) {
    auto loaded = load_inputs(*session, random_arguments(session->inputs().size()), {});
    if (!loaded) return {"inputs: " + loaded.error().message, {}};
    inputs = *std::move(loaded);
    if (in_order != nullptr) *in_order = inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      drawn->emplace(session->inputs()[i].name, inputs[i]);
    }
  } else {
    for (const Port& port : session->inputs()) {
      const auto found = given->find(port.name);
      if (found == given->end()) return {"no input " + port.name, {}};
      inputs.push_back(found->second);
    }
  }
  auto outputs = session->run(inputs, problems);
  if (!outputs) return refused("run", problems);
  return {"", {names_of(session->outputs()), *std::move(outputs)}};
}

/// What generated modules lack: inputs that nothing reads, outputs that no op makes, locations.
std::string garnished(Module& module, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
  IRContext& context = module.context();
  Rewriter rewriter(module);
  Region& body = module.body();
  Op& last = *body.last_block()->terminator();
  std::vector<Value*> outputs;
  for (const Use& use : last.operand_uses()) outputs.push_back(use.value());
  const Dim dims[] = {Dim(2)};
  const TensorType* pair = context.tensor(dims, DType::kFloat32);
  if (one_in(3)) {
    rewriter.set_name(*rewriter.add_argument(*body.entry(), pair), module.fresh_name());
  }
  if (one_in(4)) {
    Value* constant = rewriter.create_free_value(body, pair, module.fresh_name());
    const Attr* numbers[] = {context.number(0.5), context.integer(3)};
    const NamedAttr note{context.intern("constant"), context.array(numbers)};
    rewriter.set_attributes(*constant, std::span(&note, 1));
    outputs.push_back(constant);
  }
  IRWriter(module).walk<RegisterOp>([&](IRWriter&, RegisterOp op) {
    if (!one_in(12)) return IRWriter::WalkResult::WALK_CONTINUE;
    Value* parameter = rewriter.create_free_value(body, op.value()->type(), module.fresh_name());
    rewriter.set_symbol(*parameter, op.value()->symbol());
    outputs.push_back(parameter);
    return IRWriter::WalkResult::WALK_INTERRUPT;
  });
  IRWriter(module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    if (one_in(6)) {
      rewriter.set_location(*op.op(),
                            context.locations().named(fmt::format("at {}", random() % 9)));
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  rewriter.set_operands(last, outputs);
  std::vector<const Type*> types;
  for (const Value* output : outputs) types.push_back(output->type());
  rewriter.set_result_types(body, types);
  return print(module);
}

std::multiset<std::string> locations_in(const std::string& text) {
  std::multiset<std::string> found;
  for (auto at = text.find("loc("); at != text.npos; at = text.find("loc(", at + 1)) {
    found.insert(text.substr(at, text.find(')', at) - at));
  }
  return found;
}

/// Whether a run is short even without optimisation.
bool is_small(Module& module) {
  constexpr std::int64_t kMost = 1 << 14;
  std::int64_t most = 0;
  const auto look = [&](const Value& value) {
    const TensorType* type = value.tensor_type();
    if (type != nullptr) most = std::max(most, type->element_count().value_or(0));
  };
  for (const Value& argument : module.body().entry_arguments()) look(argument);
  IRWriter(module).walk<OpView>([&](IRWriter&, OpView op) {
    for (const Value& result : op->results()) look(result);
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  return most <= kMost;
}

std::string difference(const Outcome& a, const Outcome& b) {
  if (a.tensors.size() != b.tensors.size()) {
    return std::to_string(a.tensors.size()) + " and " + std::to_string(b.tensors.size()) +
           " outputs";
  }
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.dtype() != y.dtype() || x.shape() != y.shape() || hash_bytes(x) != hash_bytes(y)) {
      return "output " + std::to_string(i) + ": " + render(summarise(x)) + " and " +
             render(summarise(y));
    }
  }
  return "";
}

/// The same with outputs under names that no view shares and nothing reads, and all ops named.
std::string named(Module& module, std::uint64_t) {
  Rewriter rewriter(module);
  IRContext& context = module.context();
  Op& last = *module.body().last_block()->terminator();
  std::vector<Value*> outputs;
  for (const Use& use : last.operand_uses()) {
    Value* value = use.value();
    const Type* type = value->type();
    rewriter.set_insertion_point(last);
    Op* copy = rewriter.create({.name = context.op_name("linalg.CPU.CloneOp"),
                                .operands = std::span(&value, 1),
                                .result_types = std::span(&type, 1)});
    rewriter.set_name(*copy->result(), module.fresh_name());
    outputs.push_back(copy->result());
  }
  rewriter.set_operands(last, outputs);
  int number = 0;
  IRWriter(module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    if (!op->has_path()) {
      rewriter.set_path(*op.op(), context.intern(fmt::format("op.{}", number++)));
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  return print(module);
}

/// The same with ops put behind some, that undo each other, repeat themselves or change nothing.
std::string padded(Module& module, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Rewriter rewriter(module);
  IRContext& context = module.context();
  std::vector<Value*> values;
  IRWriter(module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    for (Value& result : op->results()) {
      const TensorType* type = result.tensor_type();
      const bool is_plain = type != nullptr && type->dtype() == DType::kFloat32 &&
                            type->encoding() == nullptr && result.attributes().empty();
      if (is_plain && result.has_uses()) values.push_back(&result);
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  constexpr std::string_view kOps[] = {"linalg.CPU.NegOp", "linalg.CPU.ReLUOp", "linalg.CPU.AbsOp",
                                       "linalg.CPU.CloneOp"};
  for (Value* value : values) {
    const std::string_view spelling = kOps[random() % std::size(kOps)];
    const std::size_t count = random() % 4;
    std::vector<Op*> users;
    for (const Use* use = value->first_use(); use != nullptr; use = use->next()) {
      users.push_back(use->user());
    }
    Value* last = value;
    rewriter.set_insertion_point_after(*value->defining_op());
    for (std::size_t i = 0; i < count; ++i) {
      const Type* type = last->type();
      last = rewriter
                 .create({.name = context.op_name(spelling),
                          .operands = {&last, 1},
                          .result_types = {&type, 1}})
                 ->result();
    }
    rewriter.replace_uses_if(*value, *last, [&](const Use& use) {
      return std::ranges::find(users, use.user()) != users.end();
    });
  }
  return print(module);
}

/// How many ops a module has.
std::size_t op_count(Module& module) {
  std::size_t count = 0;
  walk(module, module.body(), WalkOrder::kPreOrder, [&](Op&) {
    ++count;
    return WalkResult::WALK_CONTINUE;
  });
  return count;
}

/// The attributes of named ops that a conversion left out, granted to the one that goes back.
UpgradeOptions granted_from(const LossReport& dropped) {
  UpgradeOptions options;
  for (const LossEntry& entry : dropped.entries) {
    const auto open = entry.op.find('\'');
    if (open == entry.op.npos || entry.fact.find(' ') != entry.fact.npos) continue;
    if (entry.fact == "name") continue;  // of the op itself
    const std::string name = entry.op.substr(open + 1, entry.op.size() - open - 2);
    options.grants.push_back({Grant::Kind::kAttribute, name, entry.fact, entry.used});
  }
  return options;
}

bool has_fact(const LossReport& report, LossEntry::Source source, std::string_view fact) {
  return std::ranges::any_of(report.entries, [&](const LossEntry& entry) {
    return entry.source == source && entry.fact.starts_with(fact);
  });
}

/// Of the outputs that both have by name; empty: they agree.
std::string difference_by_name(const Outcome& a, const Outcome& b) {
  std::string differing;
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const auto found = std::ranges::find(b.names, a.names[i]);
    if (found == b.names.end()) {
      differing += "no output " + a.names[i] + "\n";
      continue;
    }
    const Tensor& other = b.tensors[static_cast<std::size_t>(found - b.names.begin())];
    differing += difference({{}, {a.tensors[i]}}, {{}, {other}});
  }
  return differing;
}
/// A module, what it takes, and what it gives.
struct Sample {
  std::string text{};
  Inputs inputs{};
  std::vector<Tensor> in_order{};  ///< the same
  Outcome outcome{};
};

using Change = std::string (*)(Module& module, std::uint64_t seed);

/// Whether samples have ops that upstream's forms have no place for.
enum class OwnOps : bool { kNo, kYes };

/// None where the module of this seed is large or does not run.
std::optional<Sample> sample(std::uint64_t seed, Change change, OwnOps own = OwnOps::kYes) {
  Subject plain(generate_module({.seed = seed,
                                 .graphs = static_cast<int>(seed % 3),
                                 .ops = 1 + static_cast<int>(seed % 7),
                                 .symbolic = false,
                                 .own_ops = own == OwnOps::kYes,
                                 .recalls = seed % 16 == 0,
                                 .control_flow = own == OwnOps::kYes && seed % 4 == 3}));
  REQUIRE(plain.is_read());
  Sample made{.text = change(plain.module(), seed)};
  Subject original(made.text);
  REQUIRE(original.is_read());
  if (!is_small(original.module())) return std::nullopt;
  const Attempt run = run_graphs(original.module(), nullptr, &made.inputs, &made.in_order);
  if (!run.refusal.empty()) return std::nullopt;
  made.outcome = run.outcome;
  return made;
}

/// Kernels of two ops have one type name, which is as upstream has it.
std::string findings(const Module& module) {
  Diagnostics found;
  verify(module, found);
  std::string text;
  for (const Diagnostic& each : found.sorted()) {
    // Kernels of one name, and graphs whose calls were inlined.
    const bool is_expected =
        each.code == DiagCode::kAmbiguousKernel || each.code == DiagCode::kUnusedGraph;
    if (!is_expected) text += each.message + "\n";
  }
  return text;
}

/// The program of a sample; empty: it is refused.
std::string lowered(const Sample& of) {
  Subject subject(of.text);
  LossReport losses;
  Diagnostics problems;
  if (!lower_program(subject.module(), losses, problems)) {
    CHECK(losses.count(LossEntry::Source::kRefused) > 0);
    return "";
  }
  const std::string program = print(subject.module());
  CAPTURE(program);
  CHECK(findings(subject.module()) == "");
  CHECK(locations_in(program) == locations_in(of.text));
  return program;
}

void check_lifted(const Sample& of, const std::string& program) {
  CAPTURE(program);
  Subject subject(program);
  REQUIRE(subject.problems() == "");
  LossReport losses;
  Diagnostics problems;
  REQUIRE(upgrade(subject.module(), {}, losses, problems));
  const std::string lifted = print(subject.module());
  CAPTURE(lifted);
  CHECK(locations_in(lifted) == locations_in(of.text));
  const Attempt graphs = run_graphs(subject.module(), &of.inputs);
  CHECK(graphs.refusal == "");
  if (graphs.refusal.empty()) CHECK(difference(of.outcome, graphs.outcome) == "");
}

/// Each step of an upgrade works on any dump, whatever ran before it.
void check_step_alone(const std::string& dump, std::uint64_t number) {
  Subject subject(dump);
  Conversions conversions;
  PassRegistry registry;
  register_conversions(registry, conversions);
  const auto& steps = registry.pipelines().find("upgrade")->second.pipeline.items;
  const PipelineItem& step = steps[number % steps.size()];
  CAPTURE(step.pass->name);
  Diagnostics problems;
  const std::size_t refused = conversions.losses.count(LossEntry::Source::kRefused);
  const bool good = run_pipeline(subject.module(), {.items = {step}}, {}, problems);
  CHECK((good || conversions.losses.count(LossEntry::Source::kRefused) > refused));
  if (subject.module().is_portable()) return;
  Subject again(print(subject.module()));
  CHECK(again.problems() == "");
  Diagnostics found;
  CHECK((!again.is_read() || verify(again.module(), found)));
}

/// False where the dump has no place for something, or does not tell what was meant.
bool comes_back(const Sample& of, std::uint64_t number) {
  Subject dumped(of.text);
  LossReport losses;
  Diagnostics problems;
  if (!downgrade(dumped.module(), Generation::k2025_12, losses, problems)) {
    CHECK(losses.count(LossEntry::Source::kRefused) > 0);
    return false;
  }
  const std::string dump = print(dumped.module());
  CAPTURE(dump);
  check_step_alone(dump, number);
  Subject back(dump);
  REQUIRE(back.problems() == "");
  LossReport found;
  if (!upgrade(back.module(), granted_from(losses), found, problems)) {
    CHECK(found.count(LossEntry::Source::kRefused) > 0);
    return false;
  }
  const std::string upgraded = print(back.module());
  CAPTURE(upgraded);
  const Attempt graphs = run_graphs(back.module(), &of.inputs);
  CHECK(graphs.refusal == "");
  // Who reads which piece is assumed where a dump says it of several.
  const bool is_open = has_fact(losses, LossEntry::Source::kDropped, "operand ") &&
                       has_fact(found, LossEntry::Source::kAssumed, "pieces");
  if (!graphs.refusal.empty() || is_open) return false;
  CHECK(difference_by_name(of.outcome, graphs.outcome) == "");
  return true;
}

constexpr std::uint64_t kDefaultSeeds = 400;

/// `MIR_SEEDS=N` tries more.
std::uint64_t seed_count() {
  const char* wanted = std::getenv("MIR_SEEDS");
  return wanted == nullptr ? kDefaultSeeds : std::strtoull(wanted, nullptr, 10);
}

/// The same with some ops twice, each read in places.
std::string doubled(Module& module, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Rewriter rewriter(module);
  std::vector<Op*> ops;
  IRWriter(module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    if (is_pure(*op.op()) && op->result_count() != 0) ops.push_back(op.op());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  for (Op* op : ops) {
    if (random() % 2 != 0 || !op->result()->has_uses()) continue;
    rewriter.set_insertion_point_after(*op);
    RewriteMapping mapping;
    Op* copy = rewriter.clone(*op, mapping);
    for (Value& result : copy->results()) rewriter.set_name(result, module.fresh_name());
    const Use& use = *op->result()->first_use();
    rewriter.set_operand(*use.user(), use.index(), copy->result());
  }
  return print(module);
}

/// A chain of ops on codes, which keep the scale or change it.
std::string quantised_chain(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::span<const std::string_view> list) {
    return std::string(list[random() % list.size()]);
  };
  constexpr std::string_view kTypes[] = {"Int8PerTensor", "UInt8PerTensor", "Float32"};
  constexpr std::string_view kNotes[] = {"",
                                         "[quant_scale:0.05]",
                                         "[quant_scale:0.05]",
                                         "[quant_scale:0.07]",
                                         "[quant_scale:0.05, quant_zero_point:3]",
                                         "[quant_source:\"s\"]",
                                         "[quant_source:\"t\"]"};
  constexpr std::string_view kOps[] = {"ContiguousOp", "NegOp", "ReLUOp", "AbsOp",
                                       "TransposeOp [dim0:0, dim1:1]"};
  const std::string type = one_of(kTypes);
  const bool is_quantised = type != "Float32";
  const auto value = [&](std::size_t number) {
    return fmt::format("%{}:tensor<[3, 3], {}, CPU>{}", number, type,
                       is_quantised ? one_of(kNotes) : "");
  };
  std::string text =
      "@main [mir_version:1] (%0:tensor<[3, 3], Float32, CPU>) -> (%y:tensor<[3, 3], Float32, "
      "CPU>) {\n";
  std::string latest = value(1);
  text += fmt::format("linalg.CPU.CastTypeOp [dtype:{}] (%0) -> ({})\n", type, latest);
  std::string op = one_of(kOps);
  const std::size_t length = 2 + random() % 5;
  for (std::size_t i = 2; i < 2 + length; ++i) {
    if (random() % 3 == 0) op = one_of(kOps);
    const std::string next = value(i);
    text += fmt::format("linalg.CPU.{} (%{}) -> ({})\n", op, i - 1, next);
  }
  text += fmt::format("linalg.CPU.CastTypeOp [dtype:Float32] (%{}) -> (%y)\n", 1 + length);
  return text + "cf.ReturnOp (%y) -> ()\n}\n";
}

/// Whether the passes make the module smaller; it gives the same bits in any case.
bool becomes_smaller(const Sample& of, std::string_view passes) {
  Subject subject(of.text);
  PassRegistry registry;
  register_standard_passes(registry);
  Diagnostics problems;
  const auto pipeline = registry.read_pipeline(SourceFile("-p", std::string(passes), 1), problems);
  REQUIRE(pipeline);
  const std::size_t before = op_count(subject.module());
  CHECK(run_pipeline(subject.module(), *pipeline, {.threads = 2}, problems));
  CHECK(text_of(problems) == "");
  CHECK(findings(subject.module()) == "");
  const Attempt again = run_graphs(subject.module(), &of.inputs);
  CHECK(again.refusal == "");
  CHECK(difference(of.outcome, again.outcome) == "");
  return op_count(subject.module()) < before;
}

/// The options that the pass needs, or some of its flags, and small numbers for some of its other
/// options.
PassOptions random_options(const Pass& pass, const Module& module, std::mt19937_64& random) {
  const NeededOption needed = option_for(pass.name, module, random);
  if (!needed.key.empty()) {
    PassOptions options(pass.options);
    const auto row = options.find(needed.key);
    REQUIRE(row);
    const bool is_keyed = pass.options[*row].is_keyed;
    for (const std::uint64_t value : needed.values) {
      CHECK(options.take(*row, std::to_string(value), is_keyed ? needed.key : std::string()));
    }
    return options;
  }
  PassOptions options(pass.options);
  for (std::size_t row = 0; row < pass.options.size(); ++row) {
    const PassOption& option = pass.options[row];
    if (option.is_list || option.is_keyed || random() % 3 != 0) continue;
    if (option.kind == PassOption::Kind::kFlag) {
      CHECK(options.take(row, ""));
    } else if (option.kind == PassOption::Kind::kInteger) {
      constexpr std::int64_t kSpread = 5;
      const std::int64_t least = std::max<std::int64_t>(option.least, 1);
      const auto above = static_cast<std::int64_t>(random() % kSpread);
      CHECK(options.take(row, std::to_string(std::min(least + above, option.most))));
    }
  }
  return options;
}

/// The text in which all values have words as names, so that numbers are free.
std::string with_words(const std::string& text, const PassRegistry& registry) {
  Subject subject(text);
  Diagnostics problems;
  const Pipeline naming{.items = {{.pass = registry.find("name-values")}}};
  CHECK(run_pipeline(subject.module(), naming, {}, problems));
  return print(subject.module());
}

/// Runs a random pipeline on a module: it verifies after each pass, its text gives the same bits,
/// and a second run of an idempotent pass changes nothing. Returns how many passes changed
/// something.
std::size_t run_random_passes(const Sample& of, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PassRegistry registry;
  register_standard_passes(registry);
  const auto passes = exact_passes(registry);
  Subject subject(seed % 2 == 0 ? of.text : with_words(of.text, registry));
  REQUIRE(subject.is_read());
  std::size_t changed = 0;
  std::string done;
  for (std::size_t i = 0; i < 6; ++i) {
    const Pass& pass = *passes[random() % passes.size()];
    const Pipeline one{
        .items = {{.pass = &pass, .options = random_options(pass, subject.module(), random)}}};
    done += spelling(one) + " ";
    CAPTURE(done);
    const std::string before = print(subject.module());
    Diagnostics problems;
    CHECK(run_pipeline(subject.module(), one, {.threads = 1 + static_cast<unsigned>(i % 3)},
                       problems));
    CHECK(text_of(problems) == "");
    CHECK(findings(subject.module()) == "");
    const std::string after = print(subject.module());
    changed += before == after ? 0 : 1;
    if (pass.is_idempotent) {
      CHECK(run_pipeline(subject.module(), one, {}, problems));
      CHECK(print(subject.module()) == after);
    }
  }
  CAPTURE(done);
  const std::string text = print(subject.module());
  CAPTURE(text);
  Subject written(text);
  CHECK(written.problems() == "");
  REQUIRE(written.is_read());
  CHECK(findings(written.module()) == "");
  Diagnostics problems;
  auto session = Session::create(written.module(), {.entry = {}, .weights = &weights()}, problems);
  REQUIRE(session);
  const auto outputs = session->run(of.in_order, problems);  // passes may name inputs anew
  CHECK(text_of(problems) == "");
  if (outputs) CHECK(difference(of.outcome, {{}, *outputs}) == "");
  return changed;
}

}  // namespace

TEST_SUITE("forms") {
  TEST_CASE("random pipelines draw each pass that keeps numbers, with the options that it needs") {
    PassRegistry registry;
    register_standard_passes(registry);
    const auto exact = exact_passes(registry);
    std::vector<std::string_view> listed(std::begin(kBoundPasses), std::end(kBoundPasses));
    listed.insert(listed.end(), std::begin(kOtherPasses), std::end(kOtherPasses));
    listed.insert(listed.end(), std::begin(kPassesWithOptions), std::end(kPassesWithOptions));
    for (const std::string_view name : listed) {
      CAPTURE(name);
      CHECK(registry.find(name) != nullptr);
      CHECK(std::ranges::count(listed, name) == 1);
    }
    for (const auto& each : registry.passes()) {
      const std::string& name = each.first;
      const Pass& pass = each.second;
      CAPTURE(name);
      const bool is_drawn = std::ranges::find(exact, &pass) != exact.end();
      const bool is_listed = is_one_of(kBoundPasses, name) || is_one_of(kOtherPasses, name);
      CHECK(is_drawn != is_listed);
      // An example with options tells that the pass does nothing useful without.
      const bool needs_options = !pass.example_options.empty();
      CHECK((is_drawn && needs_options) == is_one_of(kPassesWithOptions, name));
    }
  }

  TEST_CASE("random passes keep the bits of a module") {
    std::uint64_t tried = 0, changed = 0;
    for (std::uint64_t seed = 0; seed < seed_count(); ++seed) {
      CAPTURE(seed);
      const auto found = sample(seed, seed % 2 == 0 ? padded : garnished);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      changed += run_random_passes(*found, seed);
    }
    CHECK(changed > tried);
    CHECK(tried * 5 > seed_count());
  }

  TEST_CASE("a lowered module that is lifted again gives the same bits") {
    std::uint64_t tried = 0, compared = 0;
    for (std::uint64_t seed = 0; seed < seed_count(); ++seed) {
      CAPTURE(seed);
      const auto found = sample(seed, garnished, OwnOps::kNo);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      const std::string program = lowered(*found);
      if (program.empty()) continue;
      check_lifted(*found, program);
      ++compared;
    }
    // Refused are graphs that are called twice.
    CHECK(compared * 10 > tried * 9);
    CHECK(tried * 5 > seed_count());
  }

  TEST_CASE("a dump of a module gives the same bits, or what it lost is refused") {
    std::uint64_t tried = 0, compared = 0;
    for (std::uint64_t seed = 0; seed < seed_count(); ++seed) {
      CAPTURE(seed);
      const auto found = sample(seed, named, OwnOps::kNo);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      compared += comes_back(*found, tried) ? 1 : 0;
    }
    // Refused are facts that are granted by a name which several ops have.
    CHECK(compared * 5 > tried * 3);
  }

  TEST_CASE("a simplified module gives the same bits in fewer ops") {
    std::uint64_t tried = 0, smaller = 0;
    for (std::uint64_t seed = 0; seed < seed_count(); ++seed) {
      CAPTURE(seed);
      const auto found = sample(seed, padded);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      smaller += becomes_smaller(*found, "simplify,simplify-shapes,simplify-algebra") ? 1 : 0;
    }
    CHECK(smaller * 3 > tried);
    CHECK(tried * 5 > seed_count());
  }

  TEST_CASE("a module whose equal ops are merged gives the same bits in fewer ops") {
    std::uint64_t tried = 0, smaller = 0;
    for (std::uint64_t seed = 0; seed < seed_count(); ++seed) {
      CAPTURE(seed);
      const auto found = sample(seed, doubled);
      if (!found) continue;
      ++tried;
      CAPTURE(found->text);
      smaller += becomes_smaller(*found, "cse") ? 1 : 0;
    }
    CHECK(smaller * 3 > tried);
    CHECK(tried * 5 > seed_count());
  }

  TEST_CASE("a simplified chain of ops on codes gives the same bits") {
    std::uint64_t smaller = 0;
    for (std::uint64_t seed = 0; seed < seed_count(); ++seed) {
      Sample chain{.text = quantised_chain(seed), .inputs = {}, .outcome = {}};
      CAPTURE(chain.text);
      Subject subject(chain.text);
      REQUIRE(subject.problems() == "");
      const Attempt first = run_graphs(subject.module(), nullptr, &chain.inputs);
      REQUIRE(first.refusal == "");
      chain.outcome = first.outcome;
      smaller += becomes_smaller(chain, "simplify,cse") ? 1 : 0;
    }
    CHECK(smaller * 10 > seed_count());
  }
}
