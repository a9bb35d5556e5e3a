// Rewrites ambiguous parts of a dump's text as the user grants.
#include "upgrade/settle_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mir/codes/files.hpp"
#include "mir/codes/recovery.hpp"
#include "upgrade/granted.hpp"

namespace mir {

namespace {

/// A part of the text and what stands in its place.
struct Piece {
  std::size_t begin = 0, end = 0;
  std::string replacement;
  const TextGrant* grant = nullptr;
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

class TextSettlement {
 public:
  TextSettlement(std::string_view text, IRContext& context) : text_(text), context_(context) {}

  std::vector<Piece> pieces;  // of one grant after the other

  void find(const TextGrant& grant) {
    switch (grant.kind) {
      case TextGrant::Kind::kAttribute:
        return find_attribute(grant);
      case TextGrant::Kind::kComment:
        return find_comment(grant);
      case TextGrant::Kind::kElementType:
        return find_element_type(grant);
    }
  }

 private:
  /// `key:text` between what may stand around an entry of an attribute list.
  void find_attribute(const TextGrant& grant) {
    const std::string wanted = fmt::format("{}:{}", grant.key, grant.text);
    for (std::size_t at = text_.find(wanted); at != text_.npos; at = text_.find(wanted, at + 1)) {
      const std::size_t value = at + grant.key.size() + 1, end = at + wanted.size();
      const bool begins = at != 0 && (text_[at - 1] == '[' || text_.substr(0, at).ends_with(", "));
      const std::string_view rest = text_.substr(end);
      if (!begins || !(rest.starts_with(']') || rest.starts_with(", "))) continue;
      const std::string quoted(context_.string(grant.text)->spelling());
      pieces.push_back({value, end, quoted, &grant});
    }
  }

  /// The text on lines of its own: blanks before it, the end of a line after it.
  void find_comment(const TextGrant& grant) {
    for (std::size_t at = text_.find(grant.text); at != text_.npos;
         at = text_.find(grant.text, at + 1)) {
      std::size_t line = at;
      while (line != 0 && is_blank(text_[line - 1])) --line;
      const std::size_t end = at + grant.text.size();
      if (line == 0 || text_[line - 1] != '\n' || (end != text_.size() && text_[end] != '\n')) {
        continue;
      }
      pieces.push_back({at, end, commented(grant.text, text_.substr(line, at - line)), &grant});
    }
  }

  static std::string commented(std::string_view text, std::string_view indent) {
    std::string out;
    while (true) {
      const auto end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      if (!line.starts_with("//")) out += line.empty() ? "//" : "// ";
      out += line;
      if (end == text.size()) return out;
      text.remove_prefix(end + 1);
      out += fmt::format("\n{}", indent);
    }
  }

  /// A log line, which begins with a colour code, and the word that upstream prints after it.
  void find_element_type(const TextGrant& grant) {
    constexpr std::string_view kUnknown = "Unknow";
    for (std::size_t at = text_.find('\x1b'); at != text_.npos; at = text_.find('\x1b', at)) {
      const std::size_t line_end = std::min(text_.find('\n', at), text_.size() - 1);
      const std::size_t end = line_end + 1 + kUnknown.size();
      if (text_.substr(line_end + 1).starts_with(kUnknown)) {
        pieces.push_back({at, end, grant.text, &grant});
      }
      at = line_end + 1;
    }
  }

  std::string_view text_;
  IRContext& context_;
};

std::string_view fact_of(const TextGrant& grant) {
  constexpr std::string_view kFacts[] = {"attribute", "comment", "element type"};
  return kFacts[static_cast<std::size_t>(grant.kind)];
}

/// Drops pieces that overlap one before them: two grants cannot both hold there.
void settle_overlaps(std::vector<Piece>& pieces) {
  std::ranges::stable_sort(pieces, {}, &Piece::begin);
  std::size_t end = 0;
  std::erase_if(pieces, [&](const Piece& piece) {
    const bool overlaps = piece.begin < end;
    if (!overlaps) end = piece.end;
    return overlaps;
  });
}

}  // namespace

std::string spelling_of(const TextGrant& grant) {
  const std::string_view kind = grant.kind == TextGrant::Kind::kAttribute ? "text:" : "";
  return fmt::format("{}{}", kind, grant.key);
}

const SourceFile* settle_texts(const SourceFile& file, const UpgradeOptions& options,
                               IRContext& context, LossReport& report, Diagnostics& diagnostics) {
  if (options.texts.empty()) return &file;
  const std::string_view text = file.text();
  TextSettlement settlement(text, context);
  bool good = true;
  for (const TextGrant& grant : options.texts) {
    const std::size_t before = settlement.pieces.size();
    settlement.find(grant);
    if (settlement.pieces.size() != before) continue;
    good = false;
    diagnostics.error(diag::kGrantUnused, {},
                      fmt::format("{}: the text '{}' of '{}' does not occur in '{}'", grant.option,
                                  grant.text, spelling_of(grant), file.name()));
  }
  if (!good) return nullptr;
  settle_overlaps(settlement.pieces);
  std::string settled;
  std::vector<std::size_t> places;
  std::size_t from = 0;
  for (const Piece& piece : settlement.pieces) {
    settled += text.substr(from, piece.begin - from);
    places.push_back(settled.size());
    settled += piece.replacement;
    from = piece.end;
  }
  settled += text.substr(from);
  const SourceFile* added = context.sources().add(file.name(), std::move(settled));
  if (added == nullptr) {
    diagnostics.error(diag::kFileTooLarge, {},
                      fmt::format("no room is left for '{}'", file.name()));
    return nullptr;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const TextGrant& grant = *settlement.pieces[i].grant;
    const Location at = context.locations().position(added->position_of(&added->text()[places[i]]));
    const bool attribute = grant.kind == TextGrant::Kind::kAttribute;
    report.entries.push_back(
        {LossEntry::Source::kAssumed, at, "text",
         attribute ? fmt::format("attribute '{}'", grant.key) : std::string(fact_of(grant)),
         settlement.pieces[i].replacement});
  }
  return added;
}

}  // namespace mir
