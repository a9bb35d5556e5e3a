// Lists tokens and vocabularies; reads ids.
#include "tools/tokenize/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "mir/codes/tokenizers.hpp"
#include "support/terminal_text.hpp"
#include "text_table.hpp"

namespace mir::tools {
namespace {

using nlohmann::ordered_json;
using tokenizer::TokenFacts;
using tokenizer::TokenId;
using tokenizer::Tokenizer;

/// Texts of tokens and files are UTF-8, or become it.
std::string line_of(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

/// Calls `take(id, facts)` for each added token, in order of ids.
template <class Take>
void for_each_added(const Tokenizer& tokenizer, const Take& take) {
  for (TokenId id = 0; id < tokenizer.id_end(); ++id) {
    const auto facts = tokenizer.token(id);
    if (facts && facts->is_added) take(id, *facts);
  }
}

std::string around_text(const Tokenizer& tokenizer) {
  const auto list = [&](std::span<const TokenId> ids) {
    std::string text;
    for (const TokenId id : ids) {
      const auto facts = tokenizer.token(id);
      text += fmt::format(" {}{}", id, facts ? fmt::format(" {}", visible(facts->text)) : "");
    }
    return text.empty() ? std::string(" nothing") : text;
  };
  return fmt::format("  before a text:{}\n  after a text:{}\n", list(tokenizer.ids_before()),
                     list(tokenizer.ids_after()));
}

}  // namespace

Result<std::vector<ListedToken>> listed_tokens(const Tokenizer& tokenizer,
                                               std::span<const TokenId> ids,
                                               const tokenizer::DecodeOptions& options) {
  tokenizer::TokenStream stream(tokenizer, options);
  std::vector<ListedToken> tokens;
  for (const TokenId id : ids) {
    auto text = stream.add(id);
    if (!text) return text.error();
    tokens.push_back({id, tokenizer.token(id)->text, *std::move(text)});
  }
  const auto rest = stream.finish();
  if (!rest) return rest.error();
  if (!tokens.empty()) tokens.back().text += *rest;
  return tokens;
}

std::string ids_text(std::span<const TokenId> ids) {
  return fmt::format("{}\n", fmt::join(ids, " "));
}

std::string token_table(std::span<const ListedToken> tokens) {
  TextTable table("rll");
  table.add({"id", "token", "text"});
  for (const ListedToken& each : tokens)
    table.add({fmt::format("{}", each.id), std::string(each.token),
               each.text.empty() ? std::string() : fmt::format("'{}'", each.text)});
  return table.render("");
}

std::string tokens_json(std::string_view file, std::span<const ListedToken> tokens) {
  ordered_json ids = ordered_json::array(), spellings = ordered_json::array(),
               texts = ordered_json::array();
  std::string text;
  for (const ListedToken& each : tokens) {
    ids.push_back(each.id);
    spellings.push_back(each.token);
    texts.push_back(each.text);
    text += each.text;
  }
  return line_of({{"file", file},
                  {"ids", std::move(ids)},
                  {"tokens", std::move(spellings)},
                  {"texts", std::move(texts)},
                  {"text", std::move(text)}});
}

std::string vocabulary_text(std::string_view file, const Tokenizer& tokenizer) {
  std::string text = fmt::format("{}: {}, {} tokens, ids below {}\n", visible(file),
                                 tokenizer.model_name(), tokenizer.size(), tokenizer.id_end());
  text += around_text(tokenizer);
  for (const std::string& remark : tokenizer.remarks()) text += fmt::format("  {}\n", remark);
  TextTable table("rll");
  for_each_added(tokenizer, [&](TokenId id, const TokenFacts& facts) {
    table.add({fmt::format("{}", id), std::string(facts.text), facts.is_special ? "special" : ""});
  });
  return table.empty() ? text : text + "  added tokens:\n" + table.render("    ");
}

std::string vocabulary_json(std::string_view file, const Tokenizer& tokenizer) {
  ordered_json added = ordered_json::array();
  for_each_added(tokenizer, [&](TokenId id, const TokenFacts& facts) {
    added.push_back({{"id", id}, {"token", facts.text}, {"special", facts.is_special}});
  });
  return line_of({{"file", file},
                  {"model", tokenizer.model_name()},
                  {"size", tokenizer.size()},
                  {"id_end", tokenizer.id_end()},
                  {"before", tokenizer.ids_before()},
                  {"after", tokenizer.ids_after()},
                  {"remarks", tokenizer.remarks()},
                  {"added", std::move(added)}});
}

Result<std::vector<TokenId>> read_ids(std::string_view text) {
  constexpr std::string_view kGaps = " \t\r\n,[]";
  std::vector<TokenId> ids;
  for (std::size_t at = text.find_first_not_of(kGaps); at != text.npos;
       at = text.find_first_not_of(kGaps, at)) {
    const std::size_t end = std::min(text.find_first_of(kGaps, at), text.size());
    TokenId id = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + end, id);
    if (read.ec != std::errc() || read.ptr != text.data() + end)
      return Error{diag::kTokenIdUnknown,
                   fmt::format("line {}: '{}' is not an id",
                               1 + std::count(text.begin(), text.begin() + at, '\n'),
                               clipped(text.substr(at, end - at)))};
    ids.push_back(id);
    at = end;
  }
  return ids;
}

}  // namespace mir::tools
