// Texts under edits: a tree that follows edits is that of a parse from scratch, and so are
// findings of a text that parses, however often their analysis is stopped. An excerpt agrees with
// the whole text. `MIR_SEEDS=100000` for more sequences, `MIR_FIRST_SEED=500` to begin with that
// one.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include "../unit/seeds.hpp"
#include "lsp/document.hpp"
#include "lsp/features.hpp"
#include "syntax/damage.hpp"

namespace edit_sequences {

using namespace mir;
using namespace mir::lsp;

namespace {

const DialectTexts kDialects;  // the built-in ones

std::vector<std::string> stored_texts() {
  std::vector<std::string> texts;
  for (const auto& each :
       std::filesystem::recursive_directory_iterator(std::string(MIR_SOURCE_ROOT) + "/testdata")) {
    if (each.path().extension() != ".mir" || each.file_size() > 6000) continue;
    std::ifstream file(each.path());
    std::ostringstream text;
    text << file.rdbuf();
    std::string whole = text.str();
    // Clients send UTF-8 and no byte order mark.
    const bool is_ascii = std::ranges::none_of(whole, [](char c) { return (c & 0x80) != 0; });
    if (is_ascii && whole.find('\r') == whole.npos) texts.push_back(std::move(whole));
  }
  std::ranges::sort(texts);
  return texts;
}

struct Change {
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// What people do: type, delete, paste pieces of the text, break brackets and mend them.
Change random_change(const std::string& text, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  constexpr std::string_view kTyped = "()[]{}<>,:;=@%#\"/-> \nax0.";
  Change change;
  change.begin = below(text.size() + 1);
  change.end = change.begin;
  switch (below(6)) {
    case 0:
      change.text = kTyped[below(kTyped.size())];
      break;
    case 1:
      change.end = std::min(text.size(), change.begin + 1 + below(3));
      break;
    case 2: {
      const std::size_t from = below(text.size());
      change.text = text.substr(from, 1 + below(60));
      break;
    }
    case 3:
      change.end = std::min(text.size(), change.begin + below(80));
      change.text = kTyped[below(kTyped.size())];
      break;
    case 4: {  // a line again
      change.begin = change.end = std::min(text.find('\n', change.begin), text.size() - 1) + 1;
      const std::size_t from = text.rfind('\n', below(text.size())) + 1;
      change.text = text.substr(from, text.find('\n', from) - from + 1);
      break;
    }
    default: {  // a line goes
      change.begin = text.rfind('\n', change.begin) + 1;
      change.end = std::min(text.find('\n', change.begin), text.size() - 1) + 1;
      change.begin = std::min(change.begin, change.end);
      break;
    }
  }
  return change;
}

/// All that a diagnostic says, by offsets in the text.
std::vector<std::string> described(std::span<const Diagnostic> diagnostics, SourcePos base) {
  const auto place = [&](Span at) { return fmt::format("{}-{}", at.begin - base, at.end - base); };
  std::vector<std::string> lines;
  for (const Diagnostic& each : diagnostics) {
    std::string line =
        fmt::format("{} {}: {}", place(each.at), static_cast<int>(each.code), each.message);
    for (const Note& note : each.notes) {
      line += fmt::format("; note {} {}", place(note.at), note.message);
    }
    for (const FixIt& fix : each.fixes) {
      line += fmt::format("; fix {} '{}'", place(fix.at), fix.replacement);
    }
    for (const FixIt& fix : each.proposals) {
      line += fmt::format("; proposal {} '{}'", place(fix.at), fix.replacement);
    }
    lines.push_back(line + "; hint " + each.hint);
  }
  return lines;
}

void check_same(const Snapshot& now, const SyntaxTree& scratch,
                const std::vector<Diagnostic>& errors) {
  REQUIRE(described(now.syntax_errors(), now.tree().file().base()) ==
          described(errors, scratch.file().base()));
  REQUIRE(now.tree().units().size() == scratch.units().size());
  for (std::size_t i = 0; i < scratch.units().size(); ++i) {
    const Unit &a = now.tree().units()[i], &b = scratch.units()[i];
    REQUIRE(a.base() == b.base());
    REQUIRE(std::ranges::equal(a.tokens(), b.tokens(), [](const Token& x, const Token& y) {
      return x.offset == y.offset && x.kind_and_length == y.kind_and_length;
    }));
    REQUIRE(std::ranges::equal(a.nodes(), b.nodes(), [](const Node& x, const Node& y) {
      return x.token == y.token && x.kind_and_count == y.kind_and_count;
    }));
  }
}

/// Compares the document's tree and errors with those of a parse from scratch.
void check_scratch(Document& document) {
  SourceManager sources;
  const SourceFile& file = *sources.add("test.mir", std::string(document.text()));
  Diagnostics found(0);
  const SyntaxTree scratch = parse_damaged(file, found);
  check_same(document.now(), scratch, found.sorted());
}

/// Analyses as the server does while messages come in all the time.
void analyse_by_steps(Document& document) {
  const std::atomic<bool> stop = true;
  document.now().set_stop(&stop);
  while (!document.analyse()) {
  }
}

/// What the text and the types around a place say about one mention of a value.
std::string described(const View& view, std::uint32_t index) {
  const Outline& outline = view.outline();
  const Mention& mention = outline.mentions[index];
  std::string text = fmt::format("{}-{}", mention.at.begin, mention.at.end);
  if (mention.value == kNone) return text;
  const OutlineValue& value = outline.values[mention.value];
  for (const std::uint32_t each : value.mentions) {
    text += fmt::format(" {}", outline.mentions[each].at.begin);
  }
  const bool has_definition = value.definition != kNone;
  return text + fmt::format(": {}, {}",
                            has_definition ? outline.mentions[value.definition].at.begin : 0,
                            type_text(view, mention.value));
}

/// All mentions of values in a range.
std::vector<std::string> mentions_in(const View& view, Span range) {
  std::vector<std::string> lines;
  const std::vector<Mention>& mentions = view.outline().mentions;
  for (std::uint32_t i = 0; i < mentions.size(); ++i) {
    const bool is_inside = mentions[i].at.begin >= range.begin && mentions[i].at.end <= range.end;
    if (is_inside) lines.push_back(described(view, i));
  }
  return lines;
}

std::vector<Diagnostic> shown(Document& document) {
  std::vector<Diagnostic> list;
  for (const Diagnostic* each : document.shown_findings()) list.push_back(*each);
  return list;
}

}  // namespace

TEST_CASE("an edit can change what earlier lines mean") {
  struct Edit {
    std::size_t op;  // whose line gets another text
    std::string_view text;
  };
  // Brackets that a later edit closes, moves the end of, or leaves at a string without an end; a
  // brace that is not closed, seen first by a part of the text.
  const std::vector<Edit> sequences[] = {
      {{1, "    x.b <\n"}, {12, "    x.f > () -> ()\n"}},
      {{1, "    x.b <\n"}, {14, "    x.e > () -> ()\n"}, {10, "    longer.d () -> ()\n"}},
      {{1, "    x.b <\n"}, {14, "    x.f \"() -> ()\n"}, {10, "    x.e \"() -> ()\n"}},
      {{9, "    x.c () -> () }\n"}, {4, "    () -> () {\n"}, {14, "    x.e () -> () }\n"}},
      {{4, "    () -> () { }\n"}, {9, "    x.c () -> () }\n"}},
      // A brace too many, which an error before it hides for a while.
      {{9, "    x.c () -> () }\n"}, {4, "    x.y (\n"}, {4, "    x.y () -> ()\n"}},
      {{9, "    }\n"}, {4, "    x.y (\n"}, {4, "    x.y () -> ()\n"}},
  };
  for (const std::vector<Edit>& edits : sequences) {
    std::vector<std::string_view> lines(20, "    x.y () -> ()\n");
    const std::string head = "@main [mir_version:1] () -> () {\n";
    const auto whole = [&] { return head + fmt::format("{}", fmt::join(lines, "")) + "}\n"; };
    Document document("test.mir", 1, whole(), PositionEncoding::kUtf8, kDialects);
    for (const Edit& edit : edits) {
      const auto line = static_cast<std::uint32_t>(edit.op + 1);
      document.edit(Range{{line, 0}, {line + 1, 0}}, edit.text);
      lines[edit.op] = edit.text;
      CAPTURE(whole());
      REQUIRE(document.text() == whole());
      check_scratch(document);
    }
  }
}

TEST_CASE("a document that follows edits is the document from scratch") {
  const std::vector<std::string> stored = stored_texts();
  REQUIRE(stored.size() > 50);
  for (const std::uint64_t seed : test::seeds_of(400, test::About::kMemory)) {
    CAPTURE(seed);
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    std::string text = stored[random() % stored.size()];
    Document document("test.mir", 1, text, PositionEncoding::kUtf8, kDialects);
    std::set<std::string> kept;  // messages about the last text without errors of syntax
    for (int step = 0; step < 12; ++step) {
      CAPTURE(step);
      const std::string before = text;
      for (std::size_t changes = 1 + random() % 2; changes != 0 && !text.empty(); --changes) {
        const Change change = random_change(text, random);
        const LineIndex lines(text);
        const auto place = [&](std::size_t at) {
          return lines.position_of(text, static_cast<std::uint32_t>(at), PositionEncoding::kUtf8);
        };
        document.edit(Range{place(change.begin), place(change.end)}, change.text);
        text.replace(change.begin, change.end - change.begin, change.text);
      }
      REQUIRE(document.text() == text);
      CAPTURE(before);
      CAPTURE(text);
      check_scratch(document);
      if (step % 3 != 2) continue;
      analyse_by_steps(document);
      Document fresh("test.mir", 1, text, PositionEncoding::kUtf8, kDialects);
      fresh.analyse();
      const std::vector<Diagnostic> all = shown(document), found = shown(fresh);
      if (document.now().is_whole()) {
        REQUIRE(std::ranges::is_permutation(all, found));
        kept.clear();
        for (const Diagnostic& each : found) kept.insert(each.message);
        continue;
      }
      // Findings that an error of syntax leaves in doubt are kept, but none of damaged texts.
      for (const Diagnostic& each : found) REQUIRE(std::ranges::find(all, each) != all.end());
      for (const Diagnostic& each : all) {
        CAPTURE(each.message);
        REQUIRE((std::ranges::find(found, each) != found.end() || kept.contains(each.message)));
      }
    }
  }
}

namespace {

/// A document with its text, edited and analysed step by step.
class EditedDocument {
 public:
  explicit EditedDocument(std::string text)
      : text_(std::move(text)),
        document_("test.mir", 1, text_, PositionEncoding::kUtf8, kDialects) {
    document_.analyse();
  }

  const std::string& text() const { return text_; }
  /// True if the text has no errors of syntax.
  bool is_whole() { return document_.now().is_whole(); }

  void apply(const Change& change) {
    const LineIndex lines(text_);
    const auto place = [&](std::size_t at) {
      return lines.position_of(text_, static_cast<std::uint32_t>(at), PositionEncoding::kUtf8);
    };
    document_.edit(Range{place(change.begin), place(change.end)}, change.text);
    text_.replace(change.begin, change.end - change.begin, change.text);
  }

  /// True if the graphs that changed told all findings.
  bool analyse() {
    const bool is_certain = document_.now().analyse_changes() && document_.now().is_whole();
    document_.analyse();
    return is_certain;
  }

  /// What is found must be what a new document finds.
  bool compare() {
    if (!document_.is_analysed() || !document_.now().is_whole()) return false;
    Document fresh("test.mir", 1, text_, PositionEncoding::kUtf8, kDialects);
    fresh.analyse();
    auto here = described(shown(document_), Document::kBase);
    auto there = described(shown(fresh), Document::kBase);
    std::ranges::sort(here);
    std::ranges::sort(there);
    if (here == there) return true;
    const auto [a, b] = std::ranges::mismatch(here, there);
    const std::string own = a == here.end() ? "nothing" : *a,
                      other = b == there.end() ? "nothing" : *b;
    CAPTURE(text_);
    CAPTURE(own);
    CAPTURE(other);
    REQUIRE(here == there);
    return true;
  }

 private:
  std::string text_;
  Document document_;
};

/// The change that takes back another one.
Change inverse(const std::string& text, const Change& change) {
  return {change.begin, change.begin + change.text.size(),
          text.substr(change.begin, change.end - change.begin)};
}

/// What changes a head, a call, a symbol, an alias, a version or an op: a word becomes another one
/// of the text.
Change changed_word(const std::string& text, std::mt19937& random) {
  constexpr std::string_view kOfWords =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%@#!$^";
  const auto word_at = [&](std::size_t place) {
    const std::size_t begin = std::min(text.find_first_of(kOfWords, place), text.size());
    return std::pair(begin, std::min(text.find_first_not_of(kOfWords, begin), text.size()));
  };
  const auto [begin, end] = word_at(random() % text.size());
  std::string other;
  for (int tries = 0; tries < 20; ++tries) {
    const auto [from, to] = word_at(random() % text.size());
    other = text.substr(from, to - from);
    const bool is_alike = begin != end && from != to && text[begin] == text[from];
    if (is_alike && other != text.substr(begin, end - begin)) break;
  }
  return {begin, end, other};
}

/// What may occur in graphs of a module, besides calls and plain ops. A finding that depends on all
/// of a module has every edit analyse the whole text, so a module has one oddity at most.
enum class Oddity {
  kNone,
  kCaches,
  kParameters,
  kExtents,
  kTypo,
  kUnproved,
  kPartsOfValues,  // from here on in dumps
  kQuantisations,
  kUnknownType,
  kFrees,
};
constexpr std::size_t kPortableOddities = 6, kOddities = 10;

std::string_view text_of(Oddity oddity) {
  switch (oddity) {
    case Oddity::kCaches:
      return "linalg.CPU.KVCacheOp [cache:@c, past:0, q_head:1, kv_head:1, head_dim:2] ({0}{2}, "
             "{0}{2}) -> ({1}{2}, %k{2})";
    case Oddity::kParameters:
      return "linalg.CPU.LinearOp <name=\"f{3}\"> [in_channels:2, out_channels:2, bias:false] "
             "({0}{2}) -> ({1}{2})";
    case Oddity::kExtents:
      return "linalg.CPU.NegOp({0}:tensor<[$S], Float32, CPU>) -> ({1}:tensor<[$T], Float32, CPU>)";
    case Oddity::kTypo:
      return "linalg.CPU.AddOp({0}{2}, %typing{2}) -> ({1}{2})";
    case Oddity::kUnproved:
      return "linalg.CPU.ViewOp [dims:[{3}]] ({0}{2}) -> ({1}{2})";
    case Oddity::kPartsOfValues:
      return "linalg.CPU.SliceOp({0}{2}) -> ({0}{2})";
    case Oddity::kQuantisations:
      return "linalg.CPU.ReLUOp({0}{2}) -> ({1}:tensor<[2], UInt16PerTensor, CPU>"
             "[quant_recipe:QuantSpec(SymPerTensor(quant_min: 0, quant_max: 65535, "
             "quant_to_type: UInt16, scale_type: Float32), uuid={3})])";
    case Oddity::kUnknownType:
      return "linalg.CPU.NegOp({0}:tensor<[2], Foo, CPU>) -> ({1}{2})";
    case Oddity::kFrees:
      return "tensor.CPU.free ({0}{2}) -> ()";
    default:
      return "linalg.CPU.SiLUOp({0}{2}) -> ({1}{2})";
  }
}

/// A module of many graphs, which call each other: parts of a dump or of a portable text.
std::string module_of_graphs(bool is_portable, std::mt19937& random) {
  const auto oddity =
      Oddity{static_cast<int>(random() % (is_portable ? kPortableOddities : kOddities))};
  const std::string type =
      fmt::format(":{}", oddity == Oddity::kCaches    ? "tensor<[1, 1, 1, 2], Float32, CPU>"
                         : oddity == Oddity::kExtents ? "tensor<[$S], Float32, CPU>"
                                                      : "tensor<[2], Float32, CPU>");
  constexpr std::string_view kVersions[] = {" [mir_version:1]", " [mir_version:2]",
                                            " [mir_version:2, symbols:{S:{min:1,max:64}}]"};
  constexpr int kGraphs = 12;
  std::string text =
      fmt::format("@main{} (%x{}) -> (%y{}) {{\n",
                  is_portable ? kVersions[random() % std::size(kVersions)] : "", type, type);
  text += "  graph.SubGraphOp @init <CPU> {\n    () -> () {\n";
  for (int i = 100; oddity == Oddity::kParameters && i < 103; ++i) {
    text += fmt::format(
        "      tensor.CPU.register () -> (%{0}:tensor<[2, 2], Float32, CPU>[@f{0}.weight])"
        "[symbol:f{0}.weight]\n",
        i);
  }
  text += "      cf.ReturnOp () -> ()\n    }\n  }\n";
  const auto ops = [&](int graph) {
    std::string body;
    std::string value = "%a";
    for (int i = 0; i < 4; ++i) {
      const std::string result = is_portable || random() % 3 != 0 ? fmt::format("%v{}", i) : value;
      const bool calls_later = random() % 40 == 0;
      if (random() % 3 == 0 && (graph != 0 || calls_later)) {
        body += fmt::format("      graph.CallGraphOp @g{} ({}{}) -> ({}{})\n",
                            random() % (calls_later ? kGraphs : static_cast<unsigned>(graph)),
                            value, type, result, type);
        value = result;
        continue;
      }
      const bool is_odd = random() % 12 == 0;
      const std::string_view op = text_of(is_odd ? oddity : Oddity::kNone);
      body +=
          "      " + fmt::format(fmt::runtime(op), value, result, type, 100 + random() % 3) + "\n";
      if (op.find("{1}") != op.npos) value = result;
    }
    return body + fmt::format("      cf.ReturnOp ({}{}) -> ()\n", value, type);
  };
  for (int i = 0; i < kGraphs; ++i) {
    text +=
        fmt::format("  graph.SubGraphOp @g{} <CPU> {{\n    (%a{}) -> (%r{}) {{\n{}    }}\n  }}\n",
                    i, type, type, ops(i));
  }
  return text +
         fmt::format("  graph.CallGraphOp @g{} (%x{}) -> (%y{})\n  cf.ReturnOp (%y{}) -> ()\n}}\n",
                     kGraphs - 1, type, type, type);
}

}  // namespace

TEST_CASE("findings after edits of graphs are those of a new document") {
  const std::vector<std::string> stored = stored_texts();
  const test::Seeds seeds = test::seeds_of(400, test::About::kMemory);
  std::size_t compared = 0, certain = 0;
  for (const std::uint64_t seed : seeds) {
    CAPTURE(seed);
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    // Stored texts have all else that a text can have. Errors of many leave little to compare.
    const bool has_stored = seed % 4 == 0;
    std::string text;
    for (int i = 0; i < 3; ++i) {
      if (has_stored) text += stored[random() % stored.size()];
      text += module_of_graphs(random() % 2 == 0, random);
    }
    EditedDocument document(text);
    for (int step = 0; step < 24; ++step) {
      CAPTURE(step);
      const std::string before = document.text();
      const Change change =
          random() % 4 == 0 ? random_change(before, random) : changed_word(before, random);
      CAPTURE(change.text);
      document.apply(change);
      if (random() % 4 != 0) certain += document.analyse() ? 1 : 0;
      compared += document.compare() ? 1 : 0;
      if (document.is_whole() && random() % 3 == 0) continue;
      document.apply(inverse(before, change));
      certain += document.analyse() ? 1 : 0;
      compared += document.compare() ? 1 : 0;
    }
  }
  CHECK(compared > 5 * seeds.count());
  CHECK(certain > 2 * seeds.count());
}

TEST_CASE("suggestions in a graph do not depend on other graphs") {
  std::string text = "@main [mir_version:1] () -> () {\n";
  for (int graph = 0; graph < 3; ++graph) {
    text += fmt::format(
        "  graph.SubGraphOp @g{} <CPU> {{\n    (%value:tensor<[2], Float32, CPU>) -> () {{\n",
        graph);
    for (int i = 0; i < 60; ++i) {
      text += fmt::format(
          "      linalg.CPU.SiLUOp (%valu{1}{0}:tensor<[2], Float32, CPU>) -> (%r{0}:tensor<[2], "
          "Float32, CPU>)\n",
          i, i % 2 == 0 ? "e" : "");
    }
    text += "      cf.ReturnOp () -> ()\n    }\n  }\n";
  }
  Document document("test.mir", 1, text + "}\n", PositionEncoding::kUtf8, kDialects);
  document.analyse();
  std::vector<std::size_t> hints(3);
  for (const Diagnostic* each : document.shown_findings()) {
    const std::size_t graph = (each->at.begin - Document::kBase) / (text.size() / 3);
    if (each->message.find("nothing defines it") != std::string::npos && !each->hint.empty()) {
      ++hints[std::min<std::size_t>(graph, 2)];
    }
  }
  CHECK(hints[0] != 0);
  CHECK(hints[1] == hints[0]);
  CHECK(hints[2] == hints[0]);
}

TEST_CASE("a changed graph tells what others depend on") {
  struct Case {
    std::string_view head, first, second;  // of a module, and ops of two graphs
    std::string_view old, replacement;     // the first mention
  };
  constexpr std::string_view kSpec =
      "linalg.CPU.ReLUOp(%a:tensor<[2], Float32, CPU>) -> (%q:tensor<[2], UInt16PerTensor, CPU>"
      "[quant_recipe:QuantSpec(SymPerTensor(quant_min: 0, quant_max: 65535, quant_to_type: UInt16, "
      "scale_type: Float32), uuid=1)])";
  constexpr std::string_view kUndescribed =
      "linalg.CPU.NegOp(%a:tensor<[2], Float32, CPU>) -> (%n:tensor<[2], UInt16PerTensor, CPU>)";
  constexpr std::string_view kOdd =
      "linalg.CPU.NegOp(%a:tensor<[2], Foo, CPU>) -> (%n:tensor<[2], Float32, CPU>)";
  const Case cases[] = {
      // Calls.
      {"", "graph.CallGraphOp @g5 (%a:tensor<[2], Float32, CPU>) -> (%c:tensor<[2], Float32, CPU>)",
       "", "@g5", "@g6"},
      // Quantisations of one uuid.
      {"", kSpec, kSpec, "65535", "9000"},
      {"", kSpec, kUndescribed, "NegOp", "AbsOp"},
      {"", kSpec, kUndescribed, "quant_recipe", "other"},
      // Symbols of extents.
      {" [mir_version:2, symbols:{S:{min:1}}]",
       "linalg.CPU.NegOp(%a:tensor<[2], Float32, CPU>) -> (%n:tensor<[$S], Float32, CPU>)", "",
       "$S", "2"},
      // The first of equal breaches is reported.
      {"", kOdd, kOdd, "Foo", "Float32"},
      // A storage whose type is stale.
      {"", "linalg.CPU.SliceOp(%5:tensor<[4], Float32, CPU>) -> (%5:tensor<[4], Float32, CPU>)",
       "linalg.CPU.SiLUOp(%5:tensor<[4], Float32, CPU>) -> (%6:tensor<[2], Float32, CPU>)",
       "-> (%5", "-> (%7"},
      // A storage that is freed.
      {"", "tensor.CPU.free (%5:tensor<[4], Float32, CPU>) -> ()",
       "linalg.CPU.SiLUOp(%6:tensor<[4], Float32, CPU>) -> (%7:tensor<[4], Float32, CPU>)",
       "SiLUOp(%6", "SiLUOp(%5"},
      // A head.
      {"", "", "", "(%r:tensor<[2], Float32, CPU>)", "(%r:tensor<[3], Float32, CPU>)"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.first);
    CAPTURE(each.replacement);
    std::string text = fmt::format("@main{} (%x:tensor<[2], Float32, CPU>) -> () {{\n", each.head);
    for (int i = 0; i < 12; ++i) {
      text += fmt::format(
          "  graph.SubGraphOp @g{} <CPU> {{\n    (%a:tensor<[2], Float32, CPU>) -> (%r:tensor<[2], "
          "Float32, CPU>) {{\n      {}\n",
          i,
          i == 1   ? each.first
          : i == 3 ? each.second
                   : "");
      for (int line = 0; line < 4; ++line) {
        text += fmt::format(
            "      linalg.CPU.SiLUOp(%a:tensor<[2], Float32, CPU>) -> (%u{}{}:tensor<[2], Float32, "
            "CPU>)\n",
            i, line);
      }
      text += "      cf.ReturnOp (%a:tensor<[2], Float32, CPU>) -> ()\n    }\n  }\n";
    }
    for (const int callee : {1, 3}) {
      text += fmt::format(
          "  graph.CallGraphOp @g{0} (%x:tensor<[2], Float32, CPU>) -> (%y{0}:tensor<[2], Float32, "
          "CPU>)\n",
          callee);
    }
    text += "  cf.ReturnOp () -> ()\n}\n";
    EditedDocument document(text);
    const std::size_t at = text.find(each.old);
    REQUIRE(at != text.npos);
    document.apply({at, at + each.old.size(), std::string(each.replacement)});
    document.analyse();
    CHECK(document.compare());
  }
}

TEST_CASE("an excerpt says what the whole text says") {
  const std::vector<std::string> stored = stored_texts();
  IRContext rows;
  kDialects.register_in(rows);
  const test::Seeds seeds = test::seeds_of(400, test::About::kMemory);
  std::size_t excerpts = 0;
  for (const std::uint64_t seed : seeds) {
    CAPTURE(seed);
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    std::string text;
    for (int i = 0; i < 4; ++i) text += stored[random() % stored.size()];
    Document document("test.mir", 1, text, PositionEncoding::kUtf8, kDialects);
    if (!document.now().is_whole()) continue;
    const View whole(document, rows);
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<SourcePos>(Document::kBase + random() % text.size());
      const Excerpt* const excerpt = document.now().excerpt({at, at});
      if (excerpt == nullptr) continue;
      ++excerpts;
      CAPTURE(text);
      CAPTURE(at);
      REQUIRE(mentions_in(whole.near({at, at}), excerpt->covered()) ==
              mentions_in(whole, excerpt->covered()));
    }
  }
  CHECK(excerpts > seeds.count() / 4);
}

}  // namespace edit_sequences
