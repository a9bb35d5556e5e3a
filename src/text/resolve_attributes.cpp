// Names, aliases of types, and text without quotes.
#include <fmt/format.h>

#include <charconv>

#include "ir/context/language_versions.hpp"
#include "mir/codes/names.hpp"
#include "syntax/layout.hpp"
#include "syntax/text_literal.hpp"
#include "text/missing_commas.hpp"
#include "text/resolver.hpp"

namespace mir {

// -- names ----------------------------------------------------------------------------------------

ValueName Resolver::State::name_from_text(std::string_view text) {
  const bool plain =
      !text.empty() && text.size() <= 10 && (text.front() != '0' || text.size() == 1);
  if (plain) {
    std::uint64_t number = 0;
    std::size_t i = 0;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
      number = number * 10 + static_cast<std::uint64_t>(text[i++] - '0');
    }
    if (i == text.size() && number <= ValueName::kMaxNumber) {
      return ValueName::number(static_cast<std::uint32_t>(number));
    }
  }
  return ValueName::symbol(context_.intern(text));
}

Location Resolver::State::stated_location(Location position, std::uint32_t token) {
  return context_.locations().stated(context_.locations().span(position).begin,
                                     canonical_text(TokenKind::kLoc, text(token)));
}

// -- types ----------------------------------------------------------------------------------------

void Resolver::State::will_read_type_alias(std::uint32_t token) {
  if (bodies_.empty()) {
    head_aliases_.push_back(token);
  } else if (portable_) {
    check_type_alias(token);
  } else if (has_type_aliases_ && aliases_.find(text(token)) == nullptr) {
    report_unknown_alias(token);
  }
}

/// Reports an alias of a type that the version of the module, which is portable, does not have, or
/// that nothing defines. In earlier versions, such a name was a type of no dialect.
void Resolver::State::check_type_alias(std::uint32_t token) {
  const bool is_known = aliases_.find(text(token)) != nullptr;
  const bool has_aliases = module_->version() >= kTypeAliasVersion;
  if (is_known == has_aliases) return;
  if (!is_known) return report_unknown_alias(token);
  report_version(
      token, fmt::format("type alias '{}' needs mir_version:{}", text(token), kTypeAliasVersion));
}

void Resolver::State::mention(const Node& node) {
  Mention mention;
  mention.token = node.token;
  const std::string_view whole = text(node.token);
  if (unit_->tokens()[node.token].kind() == TokenKind::kTypedValue) {
    const auto colon = whole.find(':');
    mention.name = name_from_text(whole.substr(1, colon - 1));
    const std::string_view spelling = whole.substr(colon + 1);
    const Type** known = types_.find(spelling);
    mention.type = known != nullptr ? *known : checked(type_from_text(spelling), node.token);
  } else {
    mention.name = name_from_text(whole.substr(1));
    mention.type = pending_type_;
    pending_type_ = nullptr;
  }
  mentions_.push_back(mention);
}

// -- attributes -----------------------------------------------------------------------------------

void Resolver::State::did_read_unquoted(std::uint32_t token) {
  if (portable_) return report_unquoted(token);
  if (bodies_.empty()) unquoted_.push_back(token);
}

const OpRow* Resolver::State::row_of_head() const {
  return head_.open ? head_.name.info->row : context_.op_name(OpId::kBuiltinModule).info->row;
}

/// True if a text in the head of a module has swallowed the version: without an error, the module
/// would be read as a dump.
bool Resolver::State::hides_version(std::uint32_t token) const {
  const std::string_view spelling = text(token);
  return spelling.find(key::kMirVersion) != spelling.npos &&
         !missing_commas(spelling, row_of_head()).empty();
}

void Resolver::State::report_unquoted(std::uint32_t token) {
  const std::string_view spelling = text(token);
  Diagnostic& added =
      diagnostics_.error(diag::kQuotesNeeded, span(token),
                         fmt::format("'{}' must be in quotes in a portable module", spelling));
  const auto gaps = missing_commas(spelling, row_of_head());
  if (gaps.empty()) {
    // A value is missing, or a colon is there twice.
    const bool is_text = !spelling.empty() && spelling.front() != ':';
    if (is_text) added.fix(span(token), quote(spelling));
    return;
  }
  added.hint = "attributes are separated by commas";
  for (const std::size_t gap : gaps) {
    const SourcePos at = span(token).begin + static_cast<SourcePos>(gap);
    added.fix({at, at}, ",");
  }
}

}  // namespace mir
