// Chat templates: the text of a conversation as a model expects it, by the template of the model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/render_limits.hpp"
#include "chat/value.hpp"
#include "mir/diagnostic.hpp"

namespace mir::chat {

struct Node;

/// A turn of a conversation.
struct Message {
  std::string role;
  std::string content;
};

/// Values that a template sees.
struct Conversation {
  std::vector<Message> messages{};
  bool adds_generation_prompt = true;  ///< the text ends where the model begins to answer
  /// More variables, such as `bos_token`.
  std::vector<std::pair<std::string, Value>> variables{};
  /// Seconds since 1970 for `strftime_now`.
  std::int64_t now = 0;
};

/// The text of a file, or of a value in one, with line ends as Jinja reads them: LF.
std::string with_line_feeds(std::string_view text);

/// A template in the part of Jinja that docs/generating.md lists. Rendering from several threads is
/// safe.
class ChatTemplate {
 public:
  /// Largest template, in bytes.
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  /// Parses a template, whose file must outlive this object. Reports mistakes (kTemplateMalformed),
  /// parts of Jinja that the toolkit does not have (kTemplateUnsupported), and texts that are too
  /// large or too deep (kLimitExceeded), at their place; returns no value then.
  static std::optional<ChatTemplate> parse(const SourceFile& file, Diagnostics& diagnostics);
  ChatTemplate(ChatTemplate&& other) noexcept;
  ChatTemplate& operator=(ChatTemplate&& other) noexcept;
  ~ChatTemplate();

  /// Returns the text of a conversation. Returns no value after reporting, at the place in the
  /// template, a call of `raise_exception` or an invalid operation (kTemplateFailed), an
  /// unsupported part, or more work than is allowed.
  std::optional<std::string> render(const Conversation& conversation,
                                    Diagnostics& diagnostics) const;
  /// The text for these variables alone.
  std::optional<std::string> render(std::vector<std::pair<std::string, Value>> variables,
                                    std::int64_t now, Diagnostics& diagnostics,
                                    const RenderLimits& limits = {}) const;

 private:
  explicit ChatTemplate(std::unique_ptr<const Node> root);

  std::unique_ptr<const Node> root_;
};

}  // namespace mir::chat
