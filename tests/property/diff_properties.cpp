// What differs between a text and a change of it, for changes of every kind: the diff is empty
// exactly when the normal forms are equal, which other code makes.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../unit/seeds.hpp"
#include "../unit/syntax/corpus.hpp"
#include "diff/module_diff.hpp"
#include "diff/normal_form.hpp"
#include "mir/dialects.hpp"
#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "module_generator.hpp"
#include "syntax/token_stream.hpp"

namespace diff_properties {

using namespace mir;
using namespace mir::test;

namespace {

using Random = std::mt19937_64;
using K = TokenKind;

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Read {
  explicit Read(IRContext& context, const std::string& text) {
    Diagnostics diagnostics(1);
    modules = read_modules(*context.sources().add("text", text), context, diagnostics);
    good = !diagnostics.has_errors();
    if (!good) error = diagnostics.sorted().front().message;
  }
  std::vector<Module*> modules;
  bool good;
  std::string error;
};

std::string entries_text(const ModuleDiff& diff, const IRContext& context) {
  return diff_text(diff, context, {.before_name = "before", .after_name = "after"});
}

/// A text whose changes are looked for.
class Original {
 public:
  explicit Original(std::string text) : text_(std::move(text)) {
    IRContext context;
    register_builtin_dialects(context);
    const Read read(context, text_);
    if (!read.good) return;
    if (auto normal = normal_form(read.modules)) normal_ = *std::move(normal);
  }

  bool is_good() const { return normal_.has_value(); }
  const std::string& text() const { return text_; }
  const std::string& normal() const { return *normal_; }

  /// What is wrong with the diff to `changed`, empty where nothing is; none where that is no IR.
  std::optional<std::string> fault(const std::string& changed) const {
    IRContext context;
    register_builtin_dialects(context);
    const Read before(context, text_), after(context, changed);
    if (!after.good) return std::nullopt;
    const ModuleDiff diff = diff_modules(before.modules, after.modules);
    const std::string shown = entries_text(diff, context);
    for (const DiffEntry& entry : diff.entries) {
      if (entry.before == entry.after) return "a change with equal sides:\n" + shown;
    }
    const auto normal = normal_form(after.modules);
    if (!normal || diff.entries.empty() == (*normal == *normal_)) return "";
    return diff.entries.empty() ? std::string("missed") : "invented:\n" + shown;
  }

 private:
  std::string text_;
  std::optional<std::string> normal_;
};

/// Changes of single tokens, and elements of lists left out.
class Mutation {
 public:
  Mutation(const std::string& text, std::uint64_t seed) : random_(seed) {
    file_ = sources_.add("text", text);
    Diagnostics diagnostics(1);
    tree_ = parse(*file_, diagnostics);
  }

  /// The text with one change; empty where the chosen token has none. `what` says the token.
  std::string next() {
    TokenStream stream(*tree_);
    const std::size_t at = stream.next_token(below(stream.items.size()));
    if (at == stream.items.size() || is_no_fact(stream, at)) return "";
    what = stream.items[at].text;
    if (stream.items[at].is(K::kComma)) return leave_out(stream, at) ? stream.print() : "";
    const bool changed = change(stream, at) && !is_no_fact(stream, at);
    what += " -> " + std::string(stream.items[at].text);
    return changed ? stream.print() : "";
  }
  std::string what;

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  /// Addresses, names of blocks, and names of values that are no numbers, are no difference.
  static bool is_no_fact(const TokenStream& stream, std::size_t at) {
    const StreamItem& item = stream.items[at];
    const bool value = item.kind == K::kValue || item.kind == K::kTypedValue;
    if (value) return item.text[1] < '0' || item.text[1] > '9';
    if (item.kind != K::kBlockName) return item.kind == K::kAddress;
    const StreamItem& before = stream.items[at - 1];
    return !before.is(K::kComma) && !before.is(K::kLBracketBlock);
  }

  bool change(TokenStream& stream, std::size_t at) {
    StreamItem& item = stream.items[at];
    switch (below(3)) {
      case 0:
        return other_digit(stream, item);
      case 1:
        return other_token(stream, item);
      default:
        return longer(stream, item);
    }
  }

  bool other_digit(TokenStream& stream, StreamItem& item) {
    std::string text(item.text);
    std::vector<std::size_t> digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] >= '0' && text[i] <= '9') digits.push_back(i);
    }
    if (digits.empty()) return false;
    char& digit = text[digits[below(digits.size())]];
    digit = static_cast<char>('0' + (digit - '0' + 1 + static_cast<int>(below(9))) % 10);
    item.text = stream.texts.copy(std::string_view(text));
    return true;
  }

  bool other_token(const TokenStream& stream, StreamItem& item) {
    std::vector<std::string_view> others;
    for (const StreamItem& other : stream.items) {
      if (other.is(item.kind) && other.text != item.text) others.push_back(other.text);
    }
    if (others.empty()) return false;
    item.text = others[below(others.size())];
    return true;
  }

  bool longer(TokenStream& stream, StreamItem& item) {
    std::string text(item.text);
    const auto end = text.find_last_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    if (end == text.npos) return false;
    text.insert(end + 1, "x");
    item.text = stream.texts.copy(std::string_view(text));
    return true;
  }

  /// What is between a comma and the next one, or the end of the list.
  static bool leave_out(TokenStream& stream, std::size_t comma) {
    int depth = 0;
    std::size_t end = comma + 1;
    for (; end < stream.items.size(); ++end) {
      const std::string_view text = stream.items[end].text;
      const bool opens = text.size() == 1 && std::string_view("([{<").find(text[0]) != text.npos;
      const bool closes = text.size() == 1 && std::string_view(")]}>").find(text[0]) != text.npos;
      if (depth == 0 && (closes || stream.items[end].is(K::kComma))) break;
      depth += opens ? 1 : closes ? -1 : 0;
    }
    stream.items.erase(stream.items.begin() + static_cast<std::ptrdiff_t>(comma),
                       stream.items.begin() + static_cast<std::ptrdiff_t>(end));
    return true;
  }

  SourceManager sources_;
  const SourceFile* file_ = nullptr;
  std::optional<SyntaxTree> tree_;
  Random random_;
};

/// The number of changes that were IR.
std::size_t check_changes(const std::string& text, std::size_t count, std::uint64_t seed) {
  const Original original(text);
  if (!original.is_good()) return 0;
  Mutation mutation(text, seed);
  std::size_t checked = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string changed = mutation.next();
    const auto fault = changed.empty() ? std::nullopt : original.fault(changed);
    if (!fault) continue;
    ++checked;
    INFO(mutation.what, " in ", changed);
    REQUIRE(*fault == "");
  }
  return checked;
}

/// White space as no printer has it.
std::string laid_out_anew(const std::string& text) {
  SourceManager sources;
  Diagnostics diagnostics(1);
  const auto tree = parse(*sources.add("text", text), diagnostics);
  std::string out = "// a comment\n";
  for (const StreamItem& item : TokenStream(*tree).items) {
    if (item.role == StreamItem::Role::kToken) out += std::string(item.text) + "\n \t";
  }
  return out;
}

/// The graphs of each module in reverse.
std::string reordered(const std::string& text) {
  IRContext context;
  register_builtin_dialects(context);
  const Read read(context, text);
  std::string out;
  for (Module* module : read.modules) {
    Rewriter rewriter(*module);
    std::vector<Op*> graphs;
    for (Op* op : module->body().entry()->ops()) {
      if (isa<SubGraphOp>(op)) graphs.push_back(op);
    }
    for (Op* graph : graphs) rewriter.move_before(*graph, *module->body().entry()->front());
    out += print(*module);
  }
  return out;
}

void check_same(const std::string& text) {
  // A context holds one dialect of a name, so two texts that declare one are compared line by line.
  if (text.find("dialect.OpOp") != text.npos || text.find("dialect.TypeOp") != text.npos) return;
  const Original original(text);
  if (!original.is_good()) return;
  CHECK(original.fault(text).value() == "");
  INFO(original.normal());
  IRContext context;
  register_builtin_dialects(context);
  REQUIRE(Read(context, original.normal()).error == "");
  CHECK(original.fault(original.normal()).value() == "");
  CHECK(original.fault(laid_out_anew(text)).value_or("") == "");
}

void check_order(const std::string& text) {
  IRContext context;
  register_builtin_dialects(context);
  const Read before(context, text), after(context, reordered(text));
  REQUIRE(after.good);
  CHECK(entries_text(diff_modules(before.modules, after.modules), context) == "");
}

std::vector<std::filesystem::path> project_texts() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(MIR_SOURCE_ROOT "/testdata")) {
    if (entry.path().extension() == ".mir" && entry.file_size() < 20000) files.push_back(entry);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string generated(std::uint64_t seed) {
  using Form = GeneratorOptions::Form;
  return generate_module({.seed = seed,
                          .form = static_cast<Form>(seed % 3),
                          .control_flow = seed % 3 == 0 && seed % 2 == 1});
}
static_assert(static_cast<int>(GeneratorOptions::Form::kProgram) == 2);

}  // namespace

TEST_SUITE("module diff") {
  TEST_CASE("every single change to a generated module is found, and nothing else") {
    for (const std::uint64_t seed : test::seeds_of(24)) {
      CAPTURE(seed);
      CHECK(check_changes(generated(seed), 120 / test::kCaseStride, seed) > 0);
    }
  }

  TEST_CASE("every single change to a text of the project is found, and nothing else") {
    std::size_t checked = 0;
    for (const auto& path : project_texts()) {
      CAPTURE(path.string());
      checked += check_changes(contents(path), 60 / test::kCaseStride, checked);
    }
    CHECK(checked > 1000 / test::kCaseStride);
  }

  TEST_CASE("every single change to a dump is found, and nothing else") {
    for (const std::string& path : corpus()) {
      CAPTURE(path);
      if (std::filesystem::file_size(path) > 200000) continue;
      check_changes(contents(path), 4, path.size());
    }
  }

  TEST_CASE("a text equals itself, its normal form and itself in another layout and order") {
    for (const std::uint64_t seed : test::seeds_of(60)) {
      CAPTURE(seed);
      check_same(generated(seed));
      check_order(generated(seed));
    }
    for (const auto& path : project_texts()) {
      CAPTURE(path.string());
      check_same(contents(path));
    }
  }
}

}  // namespace diff_properties
