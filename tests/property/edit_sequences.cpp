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
