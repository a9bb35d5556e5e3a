// Makes identifiers of C.
#include "emit_c/c_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace mir::c {

namespace {

/// Words of C and C++, macros of their headers in small letters, and names that the text uses.
constexpr std::string_view kReserved[] = {
    // keywords of C
    "alignas", "alignof", "auto", "bool", "break", "case", "char", "const", "constexpr", "continue",
    "default", "do", "double", "else", "enum", "extern", "false", "float", "for", "goto", "if",
    "inline", "int", "long", "nullptr", "register", "restrict", "return", "short", "signed",
    "sizeof", "static", "static_assert", "struct", "switch", "thread_local", "true", "typedef",
    "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile", "while",
    // keywords and alternative tokens of C++
    "and", "and_eq", "asm", "atomic_cancel", "atomic_commit", "atomic_noexcept", "bitand", "bitor",
    "catch", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
    "compl", "concept", "const_cast", "consteval", "constinit", "contract_assert", "decltype",
    "delete", "dynamic_cast", "explicit", "export", "friend", "mutable", "namespace", "new",
    "noexcept", "not", "not_eq", "operator", "or", "or_eq", "private", "protected", "public",
    "reflexpr", "reinterpret_cast", "requires", "static_cast", "synchronized", "template", "this",
    "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
    // macros
    "assert", "complex", "errno", "fpclassify", "i386", "imaginary", "isfinite", "isgreater",
    "isinf", "islessgreater", "isnan", "isnormal", "isunordered", "linux", "noreturn", "offsetof",
    "signbit", "stderr", "stdin", "stdout", "unix",
    // functions and types of the headers that the text includes
    "ceil", "copysign", "cos", "exp", "fabs", "floor", "fmod", "gamma", "index", "int16_t",
    "int32_t", "int64_t", "int8_t", "j0", "j1", "jn", "log", "main", "memcpy", "memset", "pow",
    "ptrdiff_t", "signgam", "sin", "size_t", "sqrt", "tan", "trunc", "uint16_t", "uint32_t",
    "uint64_t", "uint8_t", "y0", "y1", "yn",
    // names in the text
    "I", "caches", "failed", "memory", "model", "workspace"};

bool is_small_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_part(char c) {
  return is_small_letter(c) || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

bool is_reserved(std::string_view name) {
  static const std::unordered_set<std::string_view> all(std::begin(kReserved), std::end(kReserved));
  return all.contains(name);
}

}  // namespace

std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text) name += is_part(c) ? c : '_';
  // Macros of headers have no small letters. Names with a leading '_' are not for others.
  const bool may_be_macro = name.size() > 1 && std::ranges::none_of(name, is_small_letter);
  if (name.empty() || is_digit(name.front()) || name.front() == '_' || name.starts_with("mir_") ||
      may_be_macro || is_reserved(name)) {
    name.insert(0, "v");
  }
  return name;
}

std::unordered_set<std::string_view> words_of(std::string_view text) {
  std::unordered_set<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at, 2) == "/*") {
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end != at) words.insert(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

bool CNames::is_taken(const std::string& name) const {
  return taken_.contains(name) || (outer_ != nullptr && outer_->is_taken(name));
}

int CNames::next_number(const std::string& stem) const {
  const auto found = next_.find(stem);
  const int here = found == next_.end() ? 2 : found->second;
  return outer_ == nullptr ? here : std::max(here, outer_->next_number(stem));
}

void CNames::take(const std::string& name) {
  taken_.insert(name);
  const auto end = name.rfind('_');
  constexpr std::size_t kMostDigits = 9;
  if (end == name.npos || end + 1 == name.size() || name.size() - end - 1 > kMostDigits) return;
  int number = 0;
  const char* last = name.data() + name.size();
  if (std::from_chars(name.data() + end + 1, last, number).ptr != last) return;
  int& next = next_[name.substr(0, end)];
  next = std::max(next, number + 1);
}

std::string CNames::fresh(std::string_view wanted) {
  const std::string name = identifier(wanted);
  std::string made = name;
  if (is_taken(name)) {
    int number = next_number(name);
    do {
      made = fmt::format("{}_{}", name, number++);
    } while (is_taken(made));
    next_[name] = number;
  }
  take(made);
  return made;
}

std::string comment_text(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const bool is_plain = c >= ' ' && c <= '~' && c != '\\' && c != '?';
    // Two characters that would end or begin a comment are never side by side.
    if (c == '/' && !made.empty() && made.back() == '*') made += ' ';
    if (c == '*' && !made.empty() && made.back() == '/') made += ' ';
    made += is_plain ? c : '.';
  }
  return made;
}

}  // namespace mir::c
