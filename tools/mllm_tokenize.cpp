// mllm-tokenize: from text to token ids and back.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "mir/codes/tokenizers.hpp"
#include "support/file_io.hpp"
#include "support/platform/file_system.hpp"
#include "tool.hpp"
#include "tools/tokenize/listing.hpp"
#include "tools/tokenize/settings.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;
using tokenizer::TokenId;
using tokenizer::Tokenizer;

constexpr std::uint64_t kMaxInputBytes = std::uint64_t{1} << 30;

constexpr ToolInfo kTokenizeTool = {
    .name = "mllm-tokenize",
    .summary = "Cuts texts into the tokens of a model, and puts texts together from token ids.",
    .operands = "--tokenizer=FILE [file...]",
    .examples = {{{"mllm-tokenize --tokenizer=tokenizer.json prompt.txt",
                   "write the ids of a text"},
                  {"mllm-tokenize --tokenizer=tokenizer.json --format=table prompt.txt",
                   "see where a text is cut"},
                  {"mllm-tokenize --tokenizer=tokenizer.json --text='Hello!' --format=count",
                   "count the tokens of a text"}}},
    .files = "txt",
    .files_behind =
        [](const std::string& path) {
          const std::string inside = path + "/tokenizer.json";
          return file_exists(inside) ? std::vector{inside} : std::vector<std::string>();
        },
};

/// An error of a text, with the name of its file.
Error in_file(const std::string& path, const Error& error) {
  return {error.code, fmt::format("'{}': {}", path, error.message)};
}

Result<std::vector<TokenId>> ids_of(const Tokenizer& tokenizer, const TokenizeSettings& settings,
                                    std::string_view text) {
  if (settings.decode) return read_ids(text);
  return tokenizer.encode(
      text, {.adds_special = !settings.no_special, .finds_special = !settings.plain_text});
}

Result<std::string> output_for(const Tokenizer& tokenizer, const TokenizeSettings& settings,
                               const std::string& path, std::string_view text) {
  const auto ids = ids_of(tokenizer, settings, text);
  if (!ids) return in_file(path, ids.error());
  if (*settings.format == TokenFormat::kCount) return fmt::format("{}\n", ids->size());
  const bool is_text = *settings.format == TokenFormat::kText;
  if (is_text && !settings.decode) return ids_text(*ids);
  const tokenizer::DecodeOptions options{.skips_special = settings.decode && settings.no_special};
  if (is_text) {
    auto decoded = tokenizer.decode(*ids, options);
    return decoded ? decoded : in_file(path, decoded.error());
  }
  const auto tokens = listed_tokens(tokenizer, *ids, options);
  if (!tokens) return in_file(path, tokens.error());
  return *settings.format == TokenFormat::kJson ? tokens_json(path, *tokens) : token_table(*tokens);
}

ExitCode show_vocabulary(const Run& run, const Tokenizer& tokenizer,
                         const TokenizeSettings& settings) {
  if (!run.operands().empty())
    return run.usage_error("--vocabulary reads no texts, found '" + run.operands().front() + "'");
  const std::string& file = *settings.tokenizer;
  return run.write_output(*settings.format == TokenFormat::kJson
                              ? vocabulary_json(file, tokenizer)
                              : vocabulary_text(file, tokenizer));
}

/// Shows what the reader does in another way than the file says.
ExitCode report_remarks(const Run& run, const Tokenizer& tokenizer, const std::string& path) {
  const SourceManager sources;
  Diagnostics diagnostics = run.diagnostics();
  for (const std::string& remark : tokenizer.remarks())
    diagnostics.remark(diag::kTokenizerUnsupported, {}, fmt::format("'{}': {}", path, remark));
  return run.report(diagnostics, sources);
}

ExitCode run_tokenize(const Run& run, const TokenizeSettings& settings) {
  const auto tokenizer = Tokenizer::open(*settings.tokenizer);
  if (!tokenizer) return run.report(tokenizer.error());
  if (settings.vocabulary) return show_vocabulary(run, *tokenizer, settings);
  ExitCode code = report_remarks(run, *tokenizer, *settings.tokenizer);
  std::string output;
  const auto add = [&](const std::string& name, const Result<std::string>& text) {
    const auto made = text ? output_for(*tokenizer, settings, name, *text) : text;
    if (made) output += *made;
    if (!made) code = worst(code, run.report(made.error()));
  };
  for (const std::string& text : *settings.text) add("--text", text);
  if (settings.text.is_given()) {
    if (!run.operands().empty()) return run.usage_error("--text or files, not both");
  } else {
    for (const std::string& path : run.files()) add(path, read_file(path, kMaxInputBytes));
  }
  return worst(code, run.write_output(std::string_view(output)));
}

}  // namespace

const Tool mir::tools::kMllmTokenize = tool_of<kTokenizeTool, run_tokenize>();
