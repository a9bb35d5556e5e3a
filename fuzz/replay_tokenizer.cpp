// Replays stored tokenizers, and seeded mutations of each, through the properties of
// check_tokenizer.hpp. Needs no fuzzing engine.
//
//   replay_tokenizer MUTATIONS DIRECTORY...     a share of MUTATIONS
#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include "../tests/unit/seeds.hpp"
#include "check_tokenizer.hpp"
#include "mutations.hpp"
#include "support/file_io.hpp"

namespace {

/// Parts of tokenizer files that mutations put into others.
constexpr std::string_view kParts[] = {
    R"({"type":"NFC"})",
    R"({"type":"Lowercase"})",
    R"({"type":"Whitespace"})",
    R"({"type":"ByteLevel"})",
    R"({"type":"BertPreTokenizer"})",
    R"({"type":"Metaspace","replacement":"a","prepend_scheme":"first"})",
    R"({"type":"Split","pattern":{"Regex":"(a*)*b|\\w+"},"behavior":"MergedWithNext"})",
    R"({"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaaaaaaaa"})",
    R"({"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAAA"})",
    R"({"type":"Strip","content":"a","start":4294967295,"stop":2})",
    R"({"type":"BPEDecoder","suffix":""})",
    R"({"type":"WordPiece","vocab":{"a":0},"max_input_chars_per_word":4294967295})",
    "[]",
    "{}",
    "null",
    "true",
    "-1",
    "4194303",
    "1e308",
    "\"\"",
    "\"\\u0000\"",
};

/// Replaces a value after a colon.
void edit(std::string& bytes, std::size_t at, std::mt19937& random) {
  const std::size_t colon = bytes.find(':', at);
  if (colon == bytes.npos) return;
  const std::size_t end = std::min(bytes.find_first_of(",}", colon), bytes.size());
  bytes.replace(colon + 1, end - colon - 1, kParts[random() % std::size(kParts)]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::uint64_t mutations =
      mir::test::seed_count(std::strtoull(argv[1], nullptr, 10), mir::test::About::kMemory);
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const auto end = entry.path().extension();
      if (end == ".json" || end == ".gguf") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::size_t runs = 0, accepted = 0;
  for (const auto& path : files) {
    const auto bytes = mir::read_file(path.string(), 1u << 20);
    if (!bytes || !mir::fuzz::check_tokenizer(*bytes)) {
      std::printf("%s is no tokenizer\n", path.c_str());
      return 1;
    }
    std::mt19937 random(static_cast<std::uint32_t>(bytes->size()));
    for (std::uint64_t i = 0; i < mutations; ++i, ++runs)
      accepted += mir::fuzz::check_tokenizer(mir::fuzz::mutated(*bytes, random, edit)) ? 1 : 0;
  }
  std::printf("%zu files, %zu mutations, %zu of them are tokenizers\n", files.size(), runs,
              accepted);
  return files.empty() || accepted == 0 ? 1 : 0;
}
