// Invariants that hold for any bytes read as a chat template.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "chat/chat_template.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"
#include "support/utf8.hpp"

namespace mir::fuzz {

inline void require_of_template(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

/// Reads and renders a template. It gives a text in UTF-8, or one error of templates at a place in
/// the template. Ends the program if this does not hold. Returns true if there is a text.
inline bool check_template(std::string_view bytes) {
  SourceManager sources;
  Diagnostics diagnostics;
  const SourceFile* file = sources.add("input", std::string(bytes));
  const auto parsed = chat::ChatTemplate::parse(*file, diagnostics);
  const chat::Conversation conversation{
      .messages = {{"system", "s"},
                   {"user", " a \n"},
                   {"assistant", "b'\"<"},
                   {"user", "\xC3\xBC"}},
      .variables = {{"bos_token", chat::Value("<s>")}, {"n", chat::Value(std::int64_t{3})}}};
  const auto text =
      parsed ? parsed->render(conversation, diagnostics) : std::optional<std::string>();
  require_of_template(diagnostics.error_count() == (text ? 0U : 1U), "a text or one error");
  if (text) {
    require_of_template(is_utf8(*text), "a text is UTF-8");
    return true;
  }
  const Diagnostic error = diagnostics.sorted().front();
  require_of_template(error.code == diag::kTemplateMalformed ||
                          error.code == diag::kTemplateUnsupported ||
                          error.code == diag::kTemplateFailed || error.code == diag::kLimitExceeded,
                      "a refusal has a code of templates");
  require_of_template(sources.file_of(error.at.begin) == file && error.at.end >= error.at.begin,
                      "a refusal has a place in the template");
  return false;
}

}  // namespace mir::fuzz
