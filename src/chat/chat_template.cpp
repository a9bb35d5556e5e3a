// Parses and renders chat templates.
#include "chat/chat_template.hpp"

#include <fmt/format.h>

#include "chat/evaluator.hpp"
#include "chat/parser.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"
#include "support/utf8.hpp"

namespace mir::chat {

std::string with_line_feeds(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i] == '\r' ? '\n' : text[i];
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return result;
}

ChatTemplate::ChatTemplate(std::unique_ptr<const Node> root) : root_(std::move(root)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

std::optional<ChatTemplate> ChatTemplate::parse(const SourceFile& file, Diagnostics& diagnostics) {
  const std::string_view text = file.text();
  const char* end = text.data() + text.size();
  const char* invalid = find_invalid_utf8(text.data(), end);
  if (invalid != end) {
    const SourcePos at = file.position_of(invalid);
    diagnostics.error(diag::kTemplateMalformed, {at, at + 1}, "the template is not UTF-8");
    return std::nullopt;
  }
  if (text.size() > kMostBytes) {
    diagnostics.error(diag::kLimitExceeded, {file.base(), file.base()},
                      fmt::format("the template has more than {} MiB", kMostBytes >> 20));
    return std::nullopt;
  }
  NodePtr root = parse_template(file, diagnostics);
  if (root == nullptr) return std::nullopt;
  return ChatTemplate(std::move(root));
}

std::optional<std::string> ChatTemplate::render(const Conversation& conversation,
                                                Diagnostics& diagnostics) const {
  std::vector<Value> messages;
  for (const Message& each : conversation.messages)
    messages.push_back(Value::dict({{"role", Value(each.role)}, {"content", Value(each.content)}}));
  auto variables = conversation.variables;
  variables.emplace_back("messages", Value::list(std::move(messages)));
  variables.emplace_back("add_generation_prompt", Value(conversation.adds_generation_prompt));
  return render(std::move(variables), conversation.now, diagnostics);
}

std::optional<std::string> ChatTemplate::render(
    std::vector<std::pair<std::string, Value>> variables, std::int64_t now,
    Diagnostics& diagnostics, const RenderLimits& limits) const {
  return Evaluator(std::move(variables), now, limits, diagnostics).run(*root_);
}

}  // namespace mir::chat
