// The pre-tokenizers that GGUF files name.
#include "tokenizer/known_patterns.hpp"

#include <algorithm>

namespace mir::tokenizer {
namespace {

constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4o =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kUpToThreeDigits = R"(\p{N}{1,3})";
constexpr std::string_view kHanAndKana = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kDeepSeek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::string_view kOldPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kDigitRun = R"(\p{N}+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";

constexpr std::string_view kDefaultList[] = {kOldPunctuation, kGpt2Pattern, kDigitRun,
                                             kThreeDigits};
constexpr std::string_view kGpt2List[] = {kGpt2Pattern};
constexpr std::string_view kDigitList[] = {kDigit, kGpt2Pattern};
constexpr std::string_view kLlama3List[] = {kLlama3};
constexpr std::string_view kQwen2List[] = {kQwen2};
constexpr std::string_view kGpt4oList[] = {kGpt4o};
constexpr std::string_view kTekkenList[] = {kTekken};
constexpr std::string_view kDeepSeek3List[] = {kUpToThreeDigits, kHanAndKana, kDeepSeek3};

constexpr KnownPreTokenizer kKnown[] = {
    {"codeshell", kDigitList},
    {"command-r", kDigitList},
    {"dbrx", kLlama3List},
    {kDefaultPreTokenizer, kDefaultList},
    {"deepseek-r1-qwen", kQwen2List},
    {"deepseek-v3", kDeepSeek3List},
    {"exaone", kDigitList},
    {"exaone4", kGpt2List},
    {"falcon3", kLlama3List, true, true},
    {"gpt-2", kGpt2List},
    {"gpt-4o", kGpt4oList},
    {"jais", kGpt2List},
    {"llama-bpe", kLlama3List, true, true},
    {"llama-v3", kLlama3List, true, true},
    {"llama3", kLlama3List, true, true},
    {"llama4", kGpt4oList},
    {"megrez", kQwen2List},
    {"mpt", kGpt2List},
    {"olmo", kGpt2List},
    {"phi-2", kGpt2List},
    {"pixtral", kLlama3List, true, true},
    {"qwen2", kQwen2List},
    {"refact", kDigitList},
    {"roberta-bpe", kGpt2List},
    {"smaug-bpe", kLlama3List},
    {"smollm", kDigitList},
    {"stablelm2", kQwen2List},
    {"starcoder", kDigitList},
    {"tekken", kTekkenList, true, true},
};

}  // namespace

const KnownPreTokenizer* find_known_pre_tokenizer(std::string_view name) {
  const auto* const found = std::ranges::find(kKnown, name, &KnownPreTokenizer::name);
  return found == std::end(kKnown) ? nullptr : found;
}

std::string known_pre_tokenizer_names() {
  std::string names;
  for (const KnownPreTokenizer& each : kKnown) {
    names += names.empty() ? "" : ", ";
    names += each.name;
  }
  return names;
}

}  // namespace mir::tokenizer
