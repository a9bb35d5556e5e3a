// Texts with one half-typed line: what the line does not touch is found as in the whole text, by an
// analysis from scratch and, kept from before, by the server. `MIR_SEEDS=10000` for more edits,
// `MIR_FIRST_SEED=500` to begin with that one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../unit/seeds.hpp"
#include "../unit/syntax/corpus.hpp"
#include "lsp/document.hpp"
#include "lsp/position.hpp"
#include "verify/doubts.hpp"

namespace half_typed_texts {

using namespace mir;
using namespace mir::lsp;

namespace {

const DialectTexts kDialects;  // the built-in ones

struct Sample {
  std::string name;
  std::string text;
};

Sample sample_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return {path.filename().string(), text.str()};
}

std::vector<Sample> stored_texts() {
  std::vector<Sample> samples;
  for (const auto& each :
       std::filesystem::recursive_directory_iterator(std::string(MIR_SOURCE_ROOT) + "/testdata")) {
    if (each.path().extension() != ".mir" || each.file_size() > 20000) continue;
    samples.push_back(sample_of(each.path()));
  }
  std::ranges::sort(samples, {}, &Sample::text);
  return samples;
}

struct Edit {
  std::string kind;
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// What people leave half done, at a random place.
std::optional<Edit> random_edit(const std::string& text, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  const std::size_t place = below(text.size());
  const std::size_t begin = text.rfind('\n', place) == text.npos ? 0 : text.rfind('\n', place) + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  const std::string line = text.substr(begin, end - begin);
  const std::size_t first = line.find_first_not_of(' ');
  if (first == line.npos || line.substr(first, 2) == "//") return std::nullopt;
  const auto word_in = [&](std::string_view kind,
                           std::string_view characters) -> std::optional<Edit> {
    std::vector<std::size_t> places;
    for (std::size_t at = begin; at < end; ++at) {
      if (characters.find(text[at]) != characters.npos) places.push_back(at);
    }
    if (places.empty()) return std::nullopt;
    const std::size_t at = places[below(places.size())];
    return Edit{std::string(kind), at, at + 1, ""};
  };
  const auto cut_after = [&](std::string_view kind, std::string_view word) -> std::optional<Edit> {
    const std::size_t found = line.find(word);
    if (found == line.npos) return std::nullopt;
    const std::size_t from = begin + found + word.size();
    return Edit{std::string(kind), from, from + below(std::min<std::size_t>(end - from, 24) + 1),
                ""};
  };
  switch (below(11)) {
    case 0:
      return word_in("token", "()[]<>,:-");
    case 1:
      return Edit{"half of a line", begin + first + 1 + below(line.size() - first), end, ""};
    case 2: {
      const std::size_t value = line.find('%');
      if (value == line.npos) return std::nullopt;
      const std::size_t stop = std::min(line.find_first_of(",)", value), line.size());
      return Edit{"operand", begin + value, begin + stop, ""};
    }
    case 3:
      return word_in("brace", "{}");
    case 4: {
      const auto quote = word_in("quote", "\"");
      if (quote) return quote;
      const std::size_t at = begin + first + below(line.size() - first);
      return Edit{"quote", at, at, "\""};
    }
    case 5:
      return Edit{"new op", begin, begin,
                  line.substr(0, first + 1 + below(line.size() - first)) + "\n"};
    case 6:
      return Edit{"brace too many", begin, begin, below(2) == 0 ? "}\n" : "{\n"};
    case 7:
      return cut_after("type", "tensor<[");
    case 8:
      return cut_after("attribute list", ")[");
    case 9:
      return cut_after("signature", "-> (");
    default:
      return cut_after("results", "->");
  }
}

std::string edited(const std::string& text, const Edit& edit) {
  return text.substr(0, edit.begin) + edit.text + text.substr(edit.end);
}

std::vector<Diagnostic> findings_of(Document& document) {
  document.analyse();
  std::vector<Diagnostic> list;
  for (const Diagnostic* each : document.shown_findings()) list.push_back(*each);
  return list;
}

std::string_view line_at(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

/// The words that begin with `%` or `@`.
std::set<std::string, std::less<>> names_in(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (std::size_t at = 0; (at = text.find_first_of("%@", at)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(" ,:()[]<>\n\"{}", at + 1), text.size());
    names.emplace(text.substr(at, end - at));
    at = end;
  }
  return names;
}

/// A finding by its place before the edit, code and message.
struct Finding {
  std::size_t at;
  std::string text;
  const Diagnostic* of;
  auto operator<=>(const Finding& other) const {
    return std::tie(at, text) <=> std::tie(other.at, other.text);
  }
  bool operator==(const Finding& other) const { return at == other.at && text == other.text; }
};

/// Compares what is found before and after an edit that breaks a line.
class Comparison {
 public:
  Comparison(const std::string& whole, const Edit& edit, const std::string& broken,
             std::span<const Diagnostic> before, std::span<const Diagnostic> after)
      : whole_(whole) {
    for (const Diagnostic& each : before) add(before_, each, each.at.begin - Document::kBase);
    const auto place = [&](std::size_t at) {
      if (at <= edit.begin) return at;
      return at >= edit.begin + edit.text.size() ? at - edit.text.size() + (edit.end - edit.begin)
                                                 : edit.begin;
    };
    touch(edit.begin, edit.end);
    note_names(line_at(broken, edit.begin));
    for (const Diagnostic& each : after) {
      const std::size_t begin = each.at.begin - Document::kBase,
                        end = each.at.end - Document::kBase;
      if (each.code >= kFirstOfResolve) {
        add(after_, each, place(begin));
      } else {
        touch(place(begin), place(end));
        for (const Note& note : each.notes)
          touch(place(note.at.begin - Document::kBase), place(note.at.begin - Document::kBase));
      }
    }
  }

  std::vector<Finding> lost() const { return difference(before_, after_); }
  std::vector<Finding> invented() const { return difference(after_, before_); }
  /// On a line that the edit or an error of syntax touches.
  bool is_touched(const Finding& each) const {
    return std::ranges::any_of(
        lines_, [&](const auto& line) { return line.first <= each.at && each.at <= line.second; });
  }
  /// Of an op that mentions a name which a touched line mentions.
  bool is_near(const Finding& each) const {
    if (is_touched(each)) return true;
    const auto names = names_in(std::string(line_at(whole_, each.at)) + each.text);
    return std::ranges::any_of(names,
                               [&](const std::string& name) { return names_.contains(name); });
  }

 private:
  void add(std::set<Finding>& to, const Diagnostic& each, std::size_t at) {
    if (each.code < kFirstOfResolve) return;
    to.insert({at, fmt::format("{}: {}", static_cast<int>(each.code), each.message), &each});
  }
  void touch(std::size_t begin, std::size_t end) {
    const std::size_t before = begin == 0 ? whole_.npos : whole_.rfind('\n', begin - 1);
    const std::size_t first = before == whole_.npos ? 0 : before + 1;
    const std::size_t last = std::min(whole_.find('\n', std::max(begin, end)), whole_.size());
    lines_.emplace_back(first, last);
    note_names(std::string_view(whole_).substr(first, last - first));
  }
  void note_names(std::string_view line) { names_.merge(names_in(line)); }
  static std::vector<Finding> difference(const std::set<Finding>& a, const std::set<Finding>& b) {
    std::vector<Finding> list;
    std::ranges::set_difference(a, b, std::back_inserter(list));
    return list;
  }

  const std::string& whole_;
  std::set<Finding> before_, after_;
  std::vector<std::pair<std::size_t, std::size_t>> lines_;
  std::set<std::string, std::less<>> names_;
};

/// What edits of all samples came to.
struct Tally {
  std::size_t edits = 0, found = 0, lost = 0, lost_by_server = 0, invented = 0;
  std::string examples;
};

/// Edits one sample a few times, each time from its whole text.
void try_edits(const Sample& sample, std::uint32_t seed, Tally& tally) {
  std::mt19937 random(seed);
  Document document("test.mir", 1, sample.text, PositionEncoding::kUtf8, kDialects);
  if (!document.now().is_whole()) return;
  const std::vector<Diagnostic> before = findings_of(document);
  const LineIndex lines(sample.text);
  const auto place = [&](std::size_t at) {
    return lines.position_of(sample.text, static_cast<std::uint32_t>(at), PositionEncoding::kUtf8);
  };
  for (int i = 0; i < 4; ++i) {
    const auto edit = random_edit(sample.text, random);
    if (!edit) continue;
    const std::string broken = edited(sample.text, *edit);
    Document scratch("test.mir", 1, broken, PositionEncoding::kUtf8, kDialects);
    if (scratch.now().is_whole()) continue;
    Document typed("test.mir", 1, sample.text, PositionEncoding::kUtf8, kDialects);
    typed.analyse();
    typed.edit(Range{place(edit->begin), place(edit->end)}, edit->text);
    const std::vector<Diagnostic> after = findings_of(scratch), kept = findings_of(typed);
    const Comparison by_scratch(sample.text, *edit, broken, before, after);
    const Comparison by_server(sample.text, *edit, broken, before, kept);
    ++tally.edits;
    tally.found += before.size();
    const auto note = [&](std::string_view what, const Finding& each, std::size_t& count) {
      ++count;
      tally.examples +=
          fmt::format("seed {}: {}, {} at line {}: {} line {}: {}\n", seed, sample.name, edit->kind,
                      place(edit->begin).line + 1, what, place(each.at).line + 1, each.text);
    };
    for (const Finding& each : by_scratch.lost()) tally.lost += by_scratch.is_near(each) ? 0 : 1;
    for (const Finding& each : by_scratch.invented()) {
      if (!by_scratch.is_near(each)) note("invented", each, tally.invented);
    }
    for (const Finding& each : by_server.lost()) {
      if (!by_server.is_touched(each)) note("the server lost", each, tally.lost_by_server);
    }
  }
}

void check(std::span<const Sample> samples) {
  const std::uint64_t seeds = test::seed_count(2000);
  const char* const first = std::getenv("MIR_FIRST_SEED");
  Tally tally;
  for (std::uint32_t seed = first == nullptr ? 0 : static_cast<std::uint32_t>(std::atoi(first));
       seed < seeds; ++seed) {
    try_edits(samples[std::mt19937(seed)() % samples.size()], seed, tally);
  }
  CAPTURE(tally.examples);
  CAPTURE(tally.found);
  CHECK(tally.edits > seeds / 4);
  // A few texts with many findings decide about the shares of fewer seeds.
  constexpr std::uint64_t kFewestForShares = 500, kEnough = 2000;
  if (seeds < kFewestForShares) return;
  const std::uint64_t most = seeds < kEnough ? 2 : 1;
  // Text that cannot be read leaves some in doubt: what the tools cannot tell, the server keeps.
  CHECK(tally.lost * 5 <= tally.found * most);
  CHECK(tally.lost_by_server * 100 <= tally.found * most);
  CHECK(tally.invented * 50 <= tally.edits * most);
}

}  // namespace

TEST_CASE("a half-typed line hides little elsewhere, and nothing in the server") {
  check(stored_texts());
}

TEST_CASE("a half-typed line of a real dump hides little elsewhere, and nothing in the server") {
  std::vector<Sample> samples;
  for (const std::string& path : test::corpus()) samples.push_back(sample_of(path));
  if (!samples.empty()) check(samples);
}

}  // namespace half_typed_texts
