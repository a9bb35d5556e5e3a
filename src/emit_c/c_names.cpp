// Makes identifiers of C.
#include "emit_c/c_names.hpp"

#include <fmt/format.h>

namespace mir::c {

namespace {

/// Keywords, and names that the text uses of the headers that it includes.
constexpr std::string_view kReserved[] = {
    "auto",    "break",    "case",     "char",     "const",     "continue",  "copysign",
    "default", "do",       "double",   "else",     "enum",      "extern",    "float",
    "fabs",    "ceil",     "floor",    "fmod",     "for",       "goto",      "if",
    "inline",  "int",      "int16_t",  "int32_t",  "int64_t",   "int8_t",    "long",
    "main",    "memcpy",   "register", "restrict", "return",    "short",     "signed",
    "size_t",  "sizeof",   "sqrt",     "static",   "struct",    "switch",    "trunc",
    "typedef", "uint16_t", "uint32_t", "uint64_t", "uint8_t",   "union",     "unsigned",
    "void",    "volatile", "while",    "NAN",      "INFINITY",  "NULL",      "I",
    "class",   "template", "this",     "private",  "namespace", "operator",  "new",
    "delete",  "asm",      "typeof",   "stdin",    "stdout",    "stderr",    "errno",
    "linux",   "unix",     "y0",       "y1",       "yn",        "j0",        "j1",
    "jn",      "gamma",    "signgam",  "exp",      "log",       "sin",       "cos",
    "tan",     "pow",      "index",    "model",    "memory",    "workspace", "failed"};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

CNames::CNames() {
  for (const std::string_view each : kReserved) taken_.emplace(each);
}

std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text) name += is_letter(c) || is_digit(c) ? c : '_';
  // Names with a leading '_' and those of the helpers are not for others.
  if (name.empty() || is_digit(name.front()) || name.front() == '_' || name.starts_with("mir_")) {
    name.insert(0, "v");
  }
  return name;
}

bool mentions(std::string_view text, std::string_view identifier) {
  const auto is_part = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  const auto is_in_comment = [&](std::size_t at) {
    const auto begin = text.rfind("/*", at);
    return begin != text.npos && text.substr(begin, at - begin).find("*/") == text.npos;
  };
  for (auto at = text.find(identifier); at != text.npos; at = text.find(identifier, at + 1)) {
    const std::size_t end = at + identifier.size();
    const bool is_whole =
        (at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]));
    if (is_whole && !is_in_comment(at)) return true;
  }
  return false;
}

std::string CNames::fresh(std::string_view wanted) {
  const std::string name = identifier(wanted);
  std::string made = name;
  for (int number = 2; !taken_.insert(made).second; ++number) {
    made = fmt::format("{}_{}", name, number);
  }
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
