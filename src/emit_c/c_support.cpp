// Selects helper functions of C from the texts of the build.
#include "emit_c/c_support.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace mir::c {

namespace {

struct EmbeddedText {
  std::string_view name, text;
};
constexpr EmbeddedText kTexts[] = {
#include "emit_c/c_texts.inc"
};

std::string_view text_of(std::string_view name) {
  return std::ranges::find(kTexts, name, &EmbeddedText::name)->text;
}

constexpr std::string_view kPrefix = "mir_";

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// The names in a text that begin with the prefix of helpers.
std::set<std::string_view> names_in(std::string_view text) {
  std::set<std::string_view> names;
  for (auto at = text.find(kPrefix); at != text.npos; at = text.find(kPrefix, at + 1)) {
    if (at != 0 && is_in_name(text[at - 1])) continue;
    std::size_t end = at;
    while (end < text.size() && is_in_name(text[end])) ++end;
    names.insert(text.substr(at, end - at));
  }
  return names;
}

struct Block {
  std::string_view name, text;
};

/// The name that a block defines: that before the first parenthesis of a function, or of a struct.
std::string_view defined_name(std::string_view text) {
  const auto function = text.find("static inline ");
  const auto structure = text.starts_with("struct ") ? 0 : text.find("\nstruct ");
  if (function == text.npos && structure == text.npos) return {};
  const auto end = function != text.npos ? text.find('(', function) : text.find(" {", structure);
  std::size_t begin = end;
  while (begin > 0 && is_in_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// Parts of a text between blank lines, without those that define nothing.
void add_blocks(std::string_view text, std::vector<Block>& blocks) {
  while (!text.empty()) {
    const auto end = std::min(text.find("\n\n"), text.size());
    const std::string_view block = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 2));
    if (const auto name = defined_name(block); !name.empty()) blocks.push_back({name, block});
  }
}

}  // namespace

std::string helpers_of(std::string_view text) {
  std::vector<Block> blocks;
  add_blocks(text_of("numbers_c"), blocks);
  add_blocks(text_of("index_c"), blocks);
  std::set<std::string_view> needed = names_in(text);
  std::vector<std::string_view> chosen;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (!needed.contains(block->name)) continue;
    chosen.push_back(block->text);
    needed.merge(names_in(block->text));
  }
  std::string made;
  for (auto each = chosen.rbegin(); each != chosen.rend(); ++each) {
    made += *each;
    made += each->ends_with('\n') ? "\n" : "\n\n";
  }
  return made;
}

std::string_view macros_of(std::string_view text) {
  for (const std::string_view macro : {"MIR_PARALLEL", "MIR_VECTOR", "MIR_LIKELY", "MIR_BLOCK"}) {
    if (text.find(macro) != text.npos) return text_of("loops_c");
  }
  return {};
}

std::string_view error_function() {
  return text_of("fail_c");
}

std::string_view weights_functions() {
  return text_of("files_c");
}

std::string_view npy_functions() {
  return text_of("main_c");
}

}  // namespace mir::c
