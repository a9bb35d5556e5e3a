// docs/ir.md: each of its examples is code of these tests.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "../../install/document_dialect.hpp"
#include "mir/linalg_ops.hpp"
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
  std::vector<std::filesystem::path> files = {MIR_SOURCE_ROOT
                                              "/tests/install/document_dialect.hpp"};
  for (const std::string_view layer : {"ir", "text"}) {
    const auto folder = std::filesystem::path(MIR_SOURCE_ROOT) / "tests/unit" / layer;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      files.push_back(entry.path());
    }
  }
  for (const auto& path : files) {
    std::string name;
    std::vector<std::string> body;
    for (const std::string& line : lines_of_file(path)) {
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
    std::string printed = print(*modules.front());
    // end
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(printed == text);
  }

  TEST_CASE("a file is read, and what is wrong is printed") {
    const auto folder = std::filesystem::temp_directory_path() / "mir_document_test";
    std::filesystem::create_directories(folder);
    const std::string path = (folder / "model.mir").string();
    std::ofstream(path) << "@main [mir_version:1] () -> () {\n    cf.ReturnOp (%0) -> ()\n}\n";
    std::string errors;
    // example [file]
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    if (Result<const SourceFile*> file = read_source(path, context.sources())) {
      for (Module* module : read_modules(**file, context, diagnostics))
        verify(*module, diagnostics);
    } else {
      diagnostics.error(file.error().code, {}, file.error().message);
    }
    errors = render(diagnostics, context.sources(), {.format = DiagnosticFormat::kHuman});
    // end
    CHECK(diagnostics.has_errors());
    CHECK(errors == test::Part{path + ":2:"});
    CHECK_FALSE(read_source((folder / "missing.mir").string(), context.sources()));
    std::filesystem::remove_all(folder);
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
    Rewriter rewriter(module);
    rewriter.set_insertion_point_after(*second);
    Op* made =
        rewriter.create({.name = context.op_name("a.bc"), .location = locations.fused(both)});
    std::string where = locations.spelling(made->location());
    // end
    CHECK(where == "loc(fused[\"x.py\":3, \"y\"])");
  }

  TEST_CASE("attributes are read and stated as the types of their rows") {
    Reading reading("@main [mir_version:1] (%x:tensor<[2, 3], Float32, CPU>) -> () {\n}\n");
    Module& module = reading.module();
    Diagnostics diagnostics;
    Builder builder(module, diagnostics);
    Value* x = &module.body().entry()->arguments()[0];
    // example [typed attributes]
    Value* bounded = linalg::Clip::build(builder, x, {.min_val = -0.5, .max_val = 6});
    Value* turned = linalg::Transpose::build(builder, bounded, {.dim0 = 0, .dim1 = 1});
    std::int64_t dim = linalg::Transpose(*turned->defining_op()).dim1();
    std::string_view lowest = linalg::Clip(*bounded->defining_op()).number_text(key::kMinVal);
    double highest = OpAttributes(*bounded->defining_op()).number("max_val");
    const Attr* half =
        constant_of(*builder.constant(builder.tensor({Dim(1)}), std::vector{0.5}))->number();
    // end
    CHECK(dim == 1);
    CHECK(lowest == "-0.5");
    CHECK(highest == 6);
    CHECK(half->number() == 0.5);
    CHECK(turned->type()->spelling() == "tensor<[3, 2], Float32, CPU>");
    // Defaults are those of the rows, and ops without attributes have builders, too.
    Value* shares = linalg::Softmax::build(builder, linalg::Neg::build(builder, x), {});
    CHECK(shares->defining_op()->attributes().empty());
    CHECK(linalg::Softmax(*shares->defining_op()).axis() == -1);
  }

  TEST_CASE("keys of the build have the same handle in each context") {
    IRContext first, second;
    CHECK(second.intern("something else") != key::kToShape.symbol);
    CHECK(first.intern("to_shape") == key::kToShape.symbol);
    CHECK(second.intern("to_shape") == key::kToShape.symbol);
    CHECK(first.text(key::kConstant) == "constant");
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
    const document_dialect::Outcome outcome = document_dialect::run(context);
    CHECK(outcome.is_registered);
    CHECK(outcome.problems == "");
    CHECK(outcome.result_type == "tensor<[2], Float32, CPU>");
    CHECK(outcome.factor == 0.5);
  }

  TEST_CASE("a dialect that is made at run time has types with parameters") {
    IRContext context;
    register_builtin_dialects(context);
    std::int64_t least = 1;
    // example [added dialect]
    Result<const Dialect*> added = context.add_dialect(
        {.name = "grid",
         .ops = {{.row = {.name = "SplitOp", .operands = exactly(1), .results = at_least(1)},
                  .infer =
                      [least](InferContext& op) {
                        const auto half = op.context().dialect_type(
                            "grid.tile", std::vector{op.context().integer(least)});
                        for (std::size_t i = 0; i < op.result_count(); ++i) op.result(*half);
                        return true;
                      }}},
         .types = {
             {.row = {.name = "tile"},
              .parameters = {
                  {.name = "rows", .type = AttrType::kInt, .required = true, .range = {.low = 1}},
                  {.name = "order", .type = AttrType::kString, .default_text = "row"}}}}});
    const Type* type = *context.parse_type("!grid.tile<32>");
    const auto* tile = dyn_cast<DialectType>(type);
    std::int64_t rows = tile->parameter("rows")->integer();
    std::string_view order = tile->parameter("order")->text();
    // end
    CHECK(added.ok());
    CHECK(rows == 32);
    CHECK(order == "row");
    Diagnostics diagnostics;
    const SourceFile* file = context.sources().add(
        "grid.mir", "@m (%0:!grid.tile<2>) -> () {\ngrid.SplitOp (%0) -> (%1, %2)\n}\n");
    Module& module = *read_modules(*file, context, diagnostics).front();
    CHECK(mir::test::lines_of(diagnostics, context) == std::vector<std::string>{});
    CHECK(module.body().entry()->front()->result(1)->type()->spelling() == "!grid.tile<1>");
  }

  TEST_CASE("a document of a dialect's mistakes names the row") {
    IRContext context;
    register_builtin_dialects(context);
    REQUIRE(context.register_dialect(document_dialect::kMyDialect));
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
