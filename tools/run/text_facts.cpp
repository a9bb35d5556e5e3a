// Reads chat templates and tokens that end a text from folders and GGUF files.
#include "text_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "mir/codes/import.hpp"
#include "support/file_io.hpp"
#include "support/platform/file_system.hpp"
#include "support/strict_json.hpp"
#include "support/utf8.hpp"
#include "weights/formats/gguf.hpp"

namespace mir::tools {
namespace {

using nlohmann::json;
using tokenizer::TokenId;
using tokenizer::Tokenizer;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr JsonRules kRules = {
    .max_bytes = kMostBytes, .max_depth = 64, .malformed = diag::kConfigMalformed};

/// Tokens that end a turn in public families. GGUF files name only one.
constexpr std::string_view kKnownEnds[] = {"<|eot_id|>", "<|eom_id|>",      "<|im_end|>",
                                           "<|end|>",    "<end_of_turn>",   "<|endoftext|>",
                                           "<EOT>",      "<|end_of_text|>", "</s>"};

class FactReader {
 public:
  FactReader(const Tokenizer& tokenizer, Diagnostics& diagnostics)
      : tokenizer_(tokenizer), diagnostics_(diagnostics) {}

  TextFacts read_folder(const std::string& folder) {
    read_tokenizer_config(folder + "/tokenizer_config.json");
    const std::string own_template = folder + "/chat_template.jinja";
    if (file_exists(own_template)) {
      const auto text = read_file(own_template, kMostBytes);
      if (text) {
        facts_.template_name = own_template;
        facts_.template_text = *text;
        facts_.has_only_other_templates = false;
      } else {
        diagnostics_.error(text.error().code, {}, text.error().message);
      }
    }
    read_end_tokens(folder + "/generation_config.json");
    if (facts_.end_tokens.empty()) read_end_tokens(folder + "/config.json");
    for (const auto& [name, text] : facts_.special_tokens)
      if (name == "eos_token") add_end(tokenizer_.find(text));
    return finished();
  }

  TextFacts read_gguf(const std::string& path) {
    const auto file = GgufFile::open(path);
    if (!file) {
      diagnostics_.error(file.error().code, {}, file.error().message);
      return {};
    }
    for (const GgufMetadata& pair : file->metadata()) {
      if (pair.key == "tokenizer.chat_template" && pair.string()) {
        facts_.template_name = fmt::format("{}:{}", path, pair.key);
        facts_.template_text = *pair.string();
      }
      constexpr std::string_view kPrefix = "tokenizer.ggml.", kSuffix = "_token_id";
      const auto id = pair.integer();
      if (!pair.key.starts_with(kPrefix) || !pair.key.ends_with(kSuffix) || !id || *id < 0)
        continue;
      const std::string name =
          pair.key.substr(kPrefix.size(), pair.key.size() - kPrefix.size() - kSuffix.size());
      const auto token = static_cast<TokenId>(std::min<std::int64_t>(*id, 0x7FFFFFFF));
      if (name == "eos" || name == "eot" || name == "eom") add_end(token);
      if (const auto facts = tokenizer_.token(token))
        facts_.special_tokens.emplace_back(name + "_token", facts->text);
    }
    for (const std::string_view text : kKnownEnds) {
      const auto token = tokenizer_.find(text);
      if (token && tokenizer_.token(*token)->is_special) add_end(token);
    }
    return finished();
  }

 private:
  TextFacts finished() {
    std::ranges::sort(facts_.end_tokens);
    facts_.end_tokens.erase(std::unique(facts_.end_tokens.begin(), facts_.end_tokens.end()),
                            facts_.end_tokens.end());
    return std::move(facts_);
  }

  void add_end(std::optional<TokenId> token) {
    if (token && *token < tokenizer_.id_end()) facts_.end_tokens.push_back(*token);
  }

  /// The object of a file; no value if there is no file, or after reporting.
  std::optional<json> object_of(const std::string& path) {
    if (!file_exists(path)) return std::nullopt;
    const auto text = read_file(path, kMostBytes);
    if (!text) {
      diagnostics_.error(text.error().code, {}, text.error().message);
      return std::nullopt;
    }
    auto document = parse_strict_json(*text, kRules);
    if (!document || !document->is_object()) {
      diagnostics_.error(diag::kConfigMalformed, {},
                         fmt::format("'{}': {}", path,
                                     document ? "expected an object" : document.error().message));
      return std::nullopt;
    }
    return *std::move(document);
  }

  void malformed(const std::string& path, std::string_view key, std::string_view expected) {
    diagnostics_.error(diag::kConfigMalformed, {},
                       fmt::format("'{}': '{}' is not {}", path, key, expected));
  }

  void read_end_tokens(const std::string& path) {
    const auto object = object_of(path);
    if (!object) return;
    const auto found = object->find("eos_token_id");
    if (found == object->end() || found->is_null()) return;
    const json list = found->is_array() ? *found : json::array({*found});
    for (const json& each : list) {
      if (!each.is_number_unsigned() || each.get<std::uint64_t>() > 0x7FFFFFFF)
        return malformed(path, "eos_token_id", "an id of a token or a list of them");
      add_end(each.get<TokenId>());
    }
  }

  void read_tokenizer_config(const std::string& path) {
    const auto object = object_of(path);
    if (!object) return;
    for (const auto& [name, value] : object->items()) {
      if (!name.ends_with("_token") || name.starts_with("add_") || value.is_null()) continue;
      const json* text = &value;
      if (value.is_object() && value.contains("content")) text = &value["content"];
      if (!text->is_string()) {
        if (name == "bos_token" || name == "eos_token") malformed(path, name, "a token");
        continue;
      }
      facts_.special_tokens.emplace_back(name, text->get<std::string>());
    }
    const auto found = object->find("chat_template");
    if (found == object->end() || found->is_null()) return;
    facts_.template_name = path + ":chat_template";
    if (found->is_string()) {
      facts_.template_text = found->get<std::string>();
    } else if (found->is_array()) {
      read_named_templates(path, *found);
    } else {
      malformed(path, "chat_template", "a text or a list of named texts");
    }
  }

  void read_named_templates(const std::string& path, const json& list) {
    facts_.has_only_other_templates = true;
    for (const json& each : list) {
      const bool is_sound = each.is_object() && each.contains("name") && each["name"].is_string() &&
                            each.contains("template") && each["template"].is_string();
      if (!is_sound)
        return malformed(path, "chat_template", "a list of objects with name and template");
      if (each["name"] != "default") continue;
      facts_.template_text = each["template"].get<std::string>();
      facts_.has_only_other_templates = false;
    }
  }

  const Tokenizer& tokenizer_;
  Diagnostics& diagnostics_;
  TextFacts facts_;
};

}  // namespace

TextFacts read_text_facts(const std::string& path, const Tokenizer& tokenizer,
                          Diagnostics& diagnostics) {
  FactReader reader(tokenizer, diagnostics);
  if (file_exists(path + "/tokenizer.json")) return reader.read_folder(path);
  if (path.ends_with(".json")) {
    const std::size_t slash = path.rfind('/');
    return reader.read_folder(slash == path.npos ? "." : path.substr(0, slash));
  }
  return reader.read_gguf(path);
}

}  // namespace mir::tools
