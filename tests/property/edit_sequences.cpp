// Texts under edits: a tree that follows edits is that of a parse from scratch, and so are
// findings, however often their analysis is stopped. An excerpt agrees with the whole text.
// `MIR_SEEDS=100000` for more sequences, `MIR_FIRST_SEED=500` to begin with that one.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
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
  const auto seeds = static_cast<int>(test::seed_count(400, test::About::kMemory));
  const char* const first = std::getenv("MIR_FIRST_SEED");
  for (int seed = first == nullptr ? 0 : std::atoi(first); seed < seeds; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    std::string text = stored[random() % stored.size()];
    Document document("test.mir", 1, text, PositionEncoding::kUtf8, kDialects);
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
        REQUIRE(all == found);
        continue;
      }
      // Findings that an error of syntax leaves in doubt are kept.
      for (const Diagnostic& each : found) REQUIRE(std::ranges::find(all, each) != all.end());
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
    const bool is_partial = document_.now().analyse_changes();
    document_.analyse();
    return is_partial;
  }

  /// What is found must be what a new document finds.
  bool compare() {
    if (!document_.is_analysed() || !document_.now().is_whole()) return false;
    Document fresh("test.mir", 1, text_, PositionEncoding::kUtf8, kDialects);
    fresh.analyse();
    const auto here = described(shown(document_), Document::kBase),
               there = described(shown(fresh), Document::kBase);
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

/// A module of many graphs, which call each other: parts of a dump or of a portable text.
std::string module_of_graphs(bool is_portable, std::mt19937& random) {
  const std::string type = ":tensor<[2], Float32, CPU>";
  constexpr int kGraphs = 12;
  std::string text = fmt::format("@main{} (%x{}) -> (%y{}) {{\n",
                                 is_portable ? " [mir_version:1]" : "", type, type);
  const auto ops = [&](int graph) {
    std::string body;
    std::string value = "%a";
    for (int i = 0; i < 4; ++i) {
      const std::string result = is_portable || random() % 3 != 0 ? fmt::format("%v{}", i) : value;
      constexpr std::string_view kOps[] = {
          "linalg.CPU.SiLUOp({0}{2}) -> ({1}{2})", "linalg.CPU.AddOp({0}{2}, {0}{2}) -> ({1}{2})",
          "linalg.CPU.SliceOp({0}{2}) -> ({1}{2})",
          "linalg.CPU.NegOp({0}:tensor<[2], Foo, CPU>) -> ({1}{2})",
          "linalg.NPU.ReLUOp({0}{2}) -> ({1}{2}[quant_recipe:QuantSpec(SymPerTensor(quant_min: "
          "-{3}, quant_max: 127, quant_to_type: Int8, scale_type: Float32), uuid={3})])"};
      if (random() % 3 == 0 && graph != 0) {
        body += fmt::format("      graph.CallGraphOp @g{} ({}{}) -> ({}{})\n",
                            random() % (random() % 9 == 0 ? kGraphs : static_cast<unsigned>(graph)),
                            value, type, result, type);
      } else {
        const std::size_t choice = random() % (is_portable ? 2 : std::size(kOps));
        body += "      " +
                fmt::format(fmt::runtime(kOps[choice]), value, result, type, 100 + random() % 60) +
                "\n";
      }
      value = result;
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
  const std::uint64_t seeds = test::seed_count(400, test::About::kMemory);
  const char* const first = std::getenv("MIR_FIRST_SEED");
  std::size_t compared = 0, partial = 0;
  for (std::uint32_t seed = first == nullptr ? 0 : static_cast<std::uint32_t>(std::atoi(first));
       seed < seeds; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string text;
    for (int i = 0; i < 6; ++i) {
      text +=
          i < 3 ? stored[random() % stored.size()] : module_of_graphs(random() % 2 == 0, random);
    }
    if (text.find("dialect.") != text.npos) continue;
    EditedDocument document(text);
    for (int step = 0; step < 12; ++step) {
      CAPTURE(step);
      const std::string before = document.text();
      const Change change = random_change(before, random);
      CAPTURE(change.text);
      document.apply(change);
      if (random() % 3 != 0) partial += document.analyse() ? 1 : 0;
      compared += document.compare() ? 1 : 0;
      if (random() % 3 == 0) continue;
      document.apply(inverse(before, change));
      partial += document.analyse() ? 1 : 0;
      compared += document.compare() ? 1 : 0;
    }
  }
  CHECK(compared > seeds);
  CHECK(partial > seeds);
}

TEST_CASE("an excerpt says what the whole text says") {
  const std::vector<std::string> stored = stored_texts();
  IRContext rows;
  kDialects.register_in(rows);
  const std::uint64_t seeds = test::seed_count(400, test::About::kMemory);
  std::size_t excerpts = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
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
  CHECK(excerpts > seeds / 4);
}

}  // namespace edit_sequences
