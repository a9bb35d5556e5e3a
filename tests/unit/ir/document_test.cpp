// docs/ir.md: each of its examples is code of these tests.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "ir/infer.hpp"
#include "mir/ops.hpp"
#include "mir/parse.hpp"
#include "mir/verify.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Reading;

namespace {

std::vector<std::string> lines_of_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Code without what the formatter decides: white space, and where long strings are cut.
std::string code_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    for (const char c : line) {
      if (c != ' ') text += c;
    }
  }
  for (auto cut = text.find("\"\""); cut != text.npos; cut = text.find("\"\"", cut)) {
    text.erase(cut, 2);
  }
  return text;
}

/// The text between `// example [name]` and `// end` in the tests, by name.
std::map<std::string, std::string> examples_of_tests() {
  std::map<std::string, std::string> examples;
  for (const auto& entry : std::filesystem::directory_iterator(MIR_SOURCE_ROOT "/tests/unit/ir")) {
    std::string name;
    std::vector<std::string> body;
    for (const std::string& line : lines_of_file(entry.path())) {
      const std::string word = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
      if (word.starts_with("// example [")) {
        name = word.substr(12, word.size() - 13);
        body.clear();
      } else if (word == "// end" && !name.empty()) {
        examples[name] = code_of(body);
        name.clear();
      } else if (!name.empty()) {
        body.push_back(line);
      }
    }
  }
  return examples;
}

std::vector<std::string> blocks_of_document() {
  std::vector<std::string> blocks, body;
  bool inside = false;
  for (const std::string& line : lines_of_file(MIR_SOURCE_ROOT "/docs/ir.md")) {
    if (line == "```cpp") {
      inside = true;
      body.clear();
    } else if (line == "```" && inside) {
      inside = false;
      blocks.push_back(code_of(body));
    } else if (inside) {
      body.push_back(line);
    }
  }
  return blocks;
}

// example [rows]
constexpr AttrRow kScaleAttributes[] = {
    {.name = "factor", .type = AttrType::kFloat, .required = true, .summary = "multiplies x"},
};
bool infer_scale(InferContext& op) {
  const TensorType* x = op.operand(0);
  if (x == nullptr) return false;
  op.result(x);
  return true;
}
constexpr OpRow kMyRows[] = {
    {.name = "ScaleOp",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kElementwise,
     .attributes = kScaleAttributes,
     .infer = infer_scale,
     .page = "elementwise",
     .summary = "x times a factor.",
     .example = "my.ScaleOp () -> ()"},
};
constexpr Dialect kMyDialect{.name = "my", .rows = kMyRows, .summary = "What I need."};

class ScaleOp : public OpView {
 public:
  using OpView::OpView;
  static bool classof(const Op* op) { return op->name() == "my.ScaleOp"; }
  double factor() const { return op()->attribute("factor")->number(); }
};
// end

}  // namespace

TEST_SUITE("document") {
  TEST_CASE("every example of docs/ir.md is code of a test, and every such code is in it") {
    const auto examples = examples_of_tests();
    std::set<std::string> texts;
    for (const auto& [name, text] : examples) texts.insert(text);
    const auto blocks = blocks_of_document();
    for (const std::string& block : blocks) {
      CAPTURE(block);
      CHECK(texts.contains(block));
    }
    for (const auto& example : examples) {
      CAPTURE(example.first);
      CHECK(std::find(blocks.begin(), blocks.end(), example.second) != blocks.end());
    }
    CHECK(examples.size() >= 12);
  }

  TEST_CASE("a text is read, checked and printed") {
    const std::string text =
        "@main [mir_version:1] (%0:tensor<[2], Float32, CPU>) -> (%0:tensor<[2], Float32, CPU>) {\n"
        "    cf.ReturnOp (%0:tensor<[2], Float32, CPU>) -> ()\n"
        "}\n";
    // example [read]
    IRContext context;
    register_builtin_dialects(context);
    const SourceFile* file = context.sources().add("model.mir", text);
    Diagnostics diagnostics;
    std::vector<Module*> modules = read_modules(*file, context, diagnostics);
    for (Module* module : modules) verify(*module, diagnostics);
    std::string printed = IRPrinter().print(*modules.front());
    // end
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(printed == text);
  }

  TEST_CASE("a text that is changed in one place keeps the rest") {
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    const SourceFile* file = context.sources().add(
        "model.mir", "// Made by hand.\n@main () -> () {\n    a.b() -> ()  // kept\n}\n");
    const Symbol seen = context.intern("seen");
    // example [edit]
    std::optional<SyntaxTree> tree = parse(*file, diagnostics);
    std::vector<Module*> modules = resolve(*tree, context, diagnostics);
    Rewriter(*modules[0])
        .set_attribute(*modules[0]->body().entry()->front(), seen, context.boolean(true));
    std::string edited = print(modules, *tree);
    // end
    CHECK(edited == "// Made by hand.\n@main () -> () {\n    a.b() -> ()[seen:true]  // kept\n}\n");
  }

  TEST_CASE("an op made from two says so") {
    Reading reading(
        "@main () -> () {\n    a.b() -> () loc(\"x.py\":3)\n    a.c() -> () loc(\"y\")\n}\n");
    Module& module = reading.module();
    IRContext& context = module.context();
    Op* first = module.body().entry()->front();
    Op* second = first->next();
    // example [fused]
    LocationTable& locations = context.locations();
    const Location both[] = {first->location(), second->location()};
    Op* made = IRWriter(module).createAtPos(
        second, IRWriter::AFTER,
        {.name = context.op_name("a.bc"), .location = locations.fused(both)});
    std::string where = locations.spelling(made->location());
    // end
    CHECK(where == "loc(fused[\"x.py\":3, \"y\"])");
  }

  TEST_CASE("values know their definition and their uses") {
    Reading reading("@main () -> () { a.b () -> (%0:tensor<[2], F, D>) a.c (%0, %0) -> () }\n");
    Value* value = reading.module().body().entry()->front()->result();
    std::size_t count = 0;
    // example [uses]
    for (Use* use = value->first_use(); use != nullptr; use = use->next()) {
      Op* user = use->user();
      count += user->operand(use->index()) == value;
    }
    // end
    CHECK(count == 2);
    CHECK(value->use_count() == 2);
  }

  TEST_CASE("extents may be expressions of symbols") {
    IRContext context;
    // example [dims]
    DimTable& dims = context.dims();
    Dim all = dims.add(dims.symbol("past"), dims.symbol("S"));
    const TensorType* keys =
        context.tensor(std::vector{Dim(1), Dim(8), all, Dim(64)}, DType::kFloat32);
    DimBindings bindings;
    bindings.bind(context.intern("S"), 1);
    bindings.bind(context.intern("past"), 127);
    std::optional<std::int64_t> extent = dims.evaluate(keys->dims()[2], bindings);
    // end
    CHECK(extent == 128);
    CHECK(keys->spelling() == "tensor<[1, 8, $S+$past, 64], Float32, CPU>");
  }

  TEST_CASE("a dialect of one's own is read, inferred, verified and walked like any other") {
    IRContext context;
    register_builtin_dialects(context);
    // example [dialect]
    context.register_dialect(kMyDialect);
    const SourceFile* file =
        context.sources().add("my.mir",
                              "@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\n"
                              "    my.ScaleOp (%x) -> (%y)[factor:0.5]\n"
                              "    cf.ReturnOp () -> ()\n"
                              "}\n");
    Diagnostics diagnostics;
    Module& module = *read_modules(*file, context, diagnostics).front();
    verify(module, diagnostics);
    IRWriter(module).walk<ScaleOp>([&](IRWriter& writer, ScaleOp scale) {
      if (scale.factor() == 1.0) writer.removeOp(scale.op());
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
    // end
    CHECK(mir::test::lines_of(diagnostics, context) == std::vector<std::string>{});
    CHECK(module.body().entry()->front()->result()->type()->spelling() ==
          "tensor<[2], Float32, CPU>");
    CHECK(ScaleOp(module.body().entry()->front()).factor() == 0.5);
  }

  TEST_CASE("a document of a dialect's mistakes names the row") {
    IRContext context;
    register_builtin_dialects(context);
    context.register_dialect(kMyDialect);
    const SourceFile* file = context.sources().add(
        "my.mir", "@main [mir_version:1] () -> () {\nmy.ScaleOp () -> ()\n}\n");
    Diagnostics diagnostics;
    verify(*read_modules(*file, context, diagnostics).front(), diagnostics);
    CHECK(mir::test::lines_of(diagnostics, context) ==
          std::vector<std::string>{"2:1 MIR0401 'my.ScaleOp' has 0 operands, expected 1",
                                   "2:1 MIR0401 'my.ScaleOp' has 0 results, expected 1",
                                   "2:1 MIR0409 'my.ScaleOp' needs attribute 'factor'"});
  }
}
