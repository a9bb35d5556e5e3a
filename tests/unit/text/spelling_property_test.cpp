// Whatever text the API takes, what it makes of it reads back from print as an equal module.
#include <random>

#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "mir/ops.hpp"

using namespace mir;
using namespace mir::test;

namespace spelling_property_test {

namespace {

/// Texts that mean something to the scanner, in any order.
class Texts {
 public:
  explicit Texts(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t bound) { return engine_() % bound; }
  std::string text() {
    static const std::vector<std::string> kParts = {"a",
                                                    "B",
                                                    "0",
                                                    "12",
                                                    "-",
                                                    ".",
                                                    "e5",
                                                    "1e5",
                                                    "true",
                                                    "null",
                                                    "inf",
                                                    "-nan",
                                                    "?",
                                                    "$",
                                                    "$S",
                                                    "%",
                                                    "@",
                                                    "#",
                                                    "#a.b",
                                                    "!",
                                                    "!a.b",
                                                    "^",
                                                    "(",
                                                    ")",
                                                    "[",
                                                    "]",
                                                    "{",
                                                    "}",
                                                    "<",
                                                    ">",
                                                    "\"",
                                                    "\\",
                                                    "'",
                                                    ",",
                                                    ", ",
                                                    ":",
                                                    "k:",
                                                    ", k:",
                                                    ", \"k\":",
                                                    "=",
                                                    " ",
                                                    "\t",
                                                    "\n",
                                                    "\r",
                                                    "/",
                                                    "//",
                                                    "*",
                                                    "->",
                                                    "\xc2\xb5",
                                                    "\xf0\x9f\x99\x82",
                                                    std::string(1, '\0'),
                                                    "\x1b",
                                                    "\x7f",
                                                    "\xff",
                                                    "loc(",
                                                    "name=",
                                                    "\">(",
                                                    "\"](",
                                                    "QuantSpec(",
                                                    "QuantSpec(None)",
                                                    "tensor<[",
                                                    "tensor<[1], F, D>",
                                                    "<InvalidAttribute NYI>",
                                                    "prog.jump",
                                                    "addr:0x1",
                                                    ".__entry",
                                                    "a.b",
                                                    "bb0",
                                                    "word",
                                                    std::string(1100, 'x'),
                                                    std::string(1100, ' ')};
    std::string made;
    for (std::size_t n = below(4); n != 0; --n) made += kParts[below(kParts.size())];
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

class Maker {
 public:
  Maker(IRContext& context, std::uint64_t seed, bool portable)
      : context_(context), texts_(seed), module_(context.create_module(texts_.text())) {
    if (portable) rewriter_.set_version(1);
    Block* body = rewriter_.create_block(module_.body(), std::vector{type(), type()});
    rewriter_.set_insertion_point_to_end(*body);
    for (Value& argument : body->arguments()) dress(argument);
    state_results(module_.body());
    for (int i = 0; i < 4; ++i) plain(body->arguments()[0]);
    jump();
    graph(body->arguments()[1]);
    flow(body->arguments()[1]);
    if (portable && texts_.below(2) == 0) taken_back_ = rewriter_.set_version(0);
  }
  Module& module() const { return module_; }
  bool taken_back() const { return taken_back_; }

 private:
  Symbol symbol() { return context_.intern(texts_.text()); }
  ValueName name() { return ValueName::symbol(symbol()); }

  const Type* type() {
    const Type* made = nullptr;
    if (texts_.below(2) == 0) {
      if (const auto read = context_.parse_type(texts_.text())) made = *read;
    } else {
      made = context_.tensor(std::vector{Dim(2)}, symbol(), symbol());
    }
    return made != nullptr ? made : context_.tensor(std::vector{Dim(2)}, DType::kFloat32);
  }

  const Attr* data() {
    switch (texts_.below(4)) {
      case 0:
        return context_.word(texts_.text());
      case 1:
        return context_.symbol_ref(texts_.text());
      case 2:
        return context_.dim(context_.dims().symbol(texts_.text()));
      default:
        return context_.string(texts_.text());
    }
  }

  const Attr* value() {
    constexpr AttrKind kKinds[] = {AttrKind::kInt,       AttrKind::kFloat,   AttrKind::kString,
                                   AttrKind::kQuantSpec, AttrKind::kDialect, AttrKind::kInvalid};
    const Attr* made = nullptr;
    switch (texts_.below(5)) {
      case 0:
        made = context_.scalar(kKinds[texts_.below(std::size(kKinds))], texts_.text());
        break;
      case 1:
        made = context_.array(std::vector{data(), data()});
        break;
      case 2:
        made = context_.dict(std::vector{NamedAttr{symbol(), data()}, NamedAttr{symbol(), data()}});
        break;
      case 3:
        made = context_.quant_annotation(std::vector{
            NamedAttr{symbol(), context_.scalar(AttrKind::kQuantSpec, "QuantSpec(None)")}});
        break;
      default:
        break;
    }
    return made != nullptr ? made : data();
  }

  std::vector<NamedAttr> attributes() {
    std::vector<NamedAttr> list;
    for (std::size_t n = texts_.below(4); n != 0; --n) list.push_back({symbol(), value()});
    if (!list.empty() && texts_.below(4) == 0) list.push_back({list[0].key, value()});
    return list;
  }

  void dress(Value& value) {
    rewriter_.set_name(value, name());
    if (texts_.below(2) == 0) rewriter_.set_symbol(value, symbol());
    if (texts_.below(2) == 0) rewriter_.set_attributes(value, attributes());
  }

  Location location() {
    LocationTable& table = context_.locations();
    const Location parts[] = {table.named(texts_.text()), table.file(texts_.text(), {.line = 3})};
    switch (texts_.below(4)) {
      case 0:
        return parts[0];
      case 1:
        return table.fused(parts, texts_.text());
      case 2:
        return table.parse(texts_.text());
      default:
        return table.parse("loc(" + texts_.text() + ")");
    }
  }

  OpName op_name() {
    constexpr const char* kHeads[] = {"", "my.", "linalg.CPU.", "linalg."};
    const std::string spelling = kHeads[texts_.below(4)] + texts_.text();
    const bool is_jump = spelling.starts_with("prog.");
    return context_.op_name(is_op_name(spelling) && !is_jump ? spelling : "my.op");
  }

  Op& plain(Value& operand) {
    Op& op = *rewriter_.create_detached({.name = op_name(),
                                         .operands = std::vector{&operand},
                                         .result_types = std::vector{type()},
                                         .attributes = attributes(),
                                         .path = symbol(),
                                         .location = location()});
    dress(*op.result());
    if (texts_.below(2) == 0) rewriter_.set_symbol(op, symbol());
    if (texts_.below(2) == 0) rewriter_.set_path(op, symbol());
    if (op.has_path() && texts_.below(2) == 0) rewriter_.set_square_path(op, true);
    if (texts_.below(2) == 0) rewriter_.set_angles(op, std::vector{symbol()});
    if (!module_.is_portable() && texts_.below(2) == 0) {
      rewriter_.set_mention(op.operand_uses()[0],
                            {type(), rewriter_.keep(attributes()), symbol(), true});
    }
    rewriter_.insert(op);
    return op;
  }

  void jump() {
    Op* op = rewriter_.create({.name = context_.op_name("prog.jump"), .has_signature = false});
    rewriter_.set_label(*op, symbol());
  }

  void state_results(Region& region) {
    std::vector<RegionResult> results;
    for (std::size_t n = texts_.below(3); n != 0; --n) {
      results.push_back({name(), type(), symbol(), true, rewriter_.keep(attributes())});
    }
    rewriter_.state_results(region, results);
  }

  /// A named entry under a signature, and a free value.
  void graph(Value& operand) {
    Op* op = rewriter_.create(
        {.name = context_.op_name("my.regions"), .operands = std::vector{&operand}, .regions = 1});
    Region& region = *op->region();
    rewriter_.set_has_signature(region, true);
    state_results(region);
    const Block* outer = rewriter_.insertion_block();
    Block* entry = rewriter_.create_block(region, std::vector{type()}, symbol());
    dress(entry->arguments()[0]);
    rewriter_.set_insertion_point_to_end(*entry);
    plain(entry->arguments()[0]);
    Value* free = rewriter_.create_free_value(region, type(), name());
    const NamedAttr constant{context_.intern("constant"), context_.array(std::vector{data()})};
    rewriter_.set_attributes(*free, std::span(&constant, 1));
    plain(*free);
    rewriter_.set_insertion_point_to_end(*const_cast<Block*>(outer));
  }

  /// Blocks of any names, and successors that there are not.
  void flow(Value& operand) {
    Op* op = rewriter_.create({.name = context_.op_name("my.flow"), .regions = 1});
    Block* outer = rewriter_.insertion_block();
    Region& region = *op->region();
    Block* entry = rewriter_.create_block(region, {}, symbol());
    Block* next = rewriter_.create_block(region, std::vector{type()}, symbol());
    dress(next->arguments()[0]);
    rewriter_.set_insertion_point_to_end(*entry);
    Op& branch = plain(operand);
    Value* const handed[] = {&operand};
    const SuccessorSpec specs[] = {{.block = next, .operands = handed}, {.stated = symbol()}};
    if (!rewriter_.set_successors(branch, specs)) {
      CHECK(rewriter_.set_successors(branch, std::span(specs).first(1)));
    }
    rewriter_.set_insertion_point_to_end(*next);
    plain(next->arguments()[0]);
    rewriter_.set_insertion_point_to_end(*outer);
  }

  IRContext& context_;
  Texts texts_;
  Module& module_;
  Rewriter rewriter_{module_};
  bool taken_back_ = true;
};

}  // namespace

TEST_SUITE("spelling property") {
  TEST_CASE("a word that would read as something else is quoted") {
    IRContext context;
    for (const char* text : {"3", "-1", "1e5", "true", "null", "inf", "?", "$S", "a]b", " x ",
                             "a, b:c", "\"q\"", "@s", "#a.b", "[", "{", "line\nbreak", "a,\"b"}) {
      CAPTURE(text);
      CHECK(context.word(text) == context.string(text));
    }
    for (const char* text : {"", "a,b", "SiLU", "two words", "one, two (three)", "3x", "x: y"}) {
      CAPTURE(text);
      CHECK_FALSE(context.word(text)->is_quoted());
      CHECK(context.word(text)->text() == text);
    }
    CHECK(context.array(std::vector{context.word("a.b")})->spelling() == "[\"a.b\"]");
    CHECK(context.string("\xff")->text() == "\xef\xbf\xbd");
    CHECK(context.text(context.intern("\xff")) == "\xef\xbf\xbd");
  }

  TEST_CASE("what no text can say is refused") {
    IRContext context;
    register_builtin_dialects(context);
    CHECK(context.scalar(AttrKind::kFloat, "5") == nullptr);
    CHECK(context.scalar(AttrKind::kString, "\"a\"b\"") == nullptr);
    CHECK(context.scalar(AttrKind::kString, "12") == nullptr);
    CHECK(context.scalar(AttrKind::kQuantSpec, "QuantSpec(") == nullptr);
    CHECK(context.scalar(AttrKind::kDialect, "#alias") == nullptr);
    CHECK_FALSE(context.parse_type("!a.b<").ok());
    CHECK(context.tensor({}, DType::kFloat32, "C U") == nullptr);
    const NamedAttr twice[] = {{context.intern("k"), context.null()},
                               {context.intern("k"), context.null()}};
    CHECK(context.dict(twice) == nullptr);
    CHECK_FALSE(context.locations().parse("loc(a)) b"));
    CHECK_FALSE(is_op_name("my op"));
    CHECK_FALSE(is_op_name("a.b\n"));

    Module& module = context.create_module();
    Diagnostics diagnostics;
    Builder builder(module, diagnostics);
    CHECK(builder.build("a b.c", {}) == nullptr);
    CHECK(builder.build("a.b", {}, {}, "a\">(") == nullptr);
    CHECK(builder.subgraph("f", {}, "C>U") == nullptr);
    CHECK(lines_of(diagnostics, context).size() == 3);
    Rewriter& rewriter = builder;
    Op* op = rewriter.create({.name = context.op_name("a.b")});
    CHECK_FALSE(rewriter.set_path(*op, context.intern("line\nbreak")));
    CHECK_FALSE(rewriter.set_angles(*op, std::vector{context.intern("a>b")}));
    const SuccessorSpec nowhere[] = {{.stated = context.intern("a b")}};
    CHECK_FALSE(rewriter.set_successors(*op, nowhere));
    CHECK(rewriter.set_version(1));
    CHECK(rewriter.set_path(*op, context.intern("line\nbreak")));
    CHECK_FALSE(rewriter.set_version(0));
    CHECK(module.is_portable());
  }

  TEST_CASE("a portable module has each key once and no loose words") {
    IRContext context;
    const Symbol k = context.intern("k"), l = context.intern("l"), m = context.intern("m");
    const NamedAttr list[] = {{k, context.word("two words")},
                              {k, context.null()},
                              {l, context.scalar(AttrKind::kInvalid, "<InvalidAttribute NYI>")},
                              {m, context.word("w")}};
    const NamedAttr kept[] = {{k, context.string("two words")}, {m, context.word("w")}};
    Module& module = context.create_module();
    Rewriter rewriter(module);
    rewriter.set_insertion_point_to_end(*rewriter.create_block(module.body()));
    Op* op = rewriter.create({.name = context.op_name("a.b"), .attributes = list});
    CHECK(op->attributes().size() == 4);
    rewriter.set_version(1);
    CHECK(std::ranges::equal(op->attributes(), kept));
    rewriter.set_attributes(*op, list);
    CHECK(std::ranges::equal(op->attributes(), kept));
  }

  TEST_CASE("whatever texts the API takes, what it made reads back") {
    for (const bool portable : {false, true}) {
      for (const std::uint64_t seed : test::seeds_of(1000)) {
        CAPTURE(portable);
        CAPTURE(seed);
        IRContext context;
        register_builtin_dialects(context);
        const Maker made(context, seed, portable);
        const std::string text = print(made.module());
        CAPTURE(text);
        Reading again(text);
        REQUIRE(again.errors() == std::vector<std::string>{});
        const Isomorphism same(made.module(), again.module(), Isomorphism::Match::kEdited);
        REQUIRE(same.difference() == "");
      }
    }
  }
}

}  // namespace spelling_property_test
