// Replays stored chat templates, and seeded mutations of each, through the properties of
// check_template.hpp. Needs no fuzzing engine.
//
//   replay_template MUTATIONS DIRECTORY     a share of MUTATIONS
#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include "../tests/unit/seeds.hpp"
#include "check_template.hpp"
#include "mutations.hpp"
#include "support/file_io.hpp"

namespace {

/// Parts of templates that mutations put into others.
constexpr std::string_view kParts[] = {
    "{{",       "}}",       "{%",          "%}",          "{#",       "#}",
    "-",        "|",        ".",           "(",           ")",        "[",
    "]",        "{",        "}",           "'",           ",",        ":",
    "=",        "~",        "\\",          "**",          "//",       "%",
    "not ",     " in ",     " if ",        " else ",      " is ",     "endfor",
    "endif",    "set ",     "loop",        "items",       "messages", "n",
    "9",        "-1",       "1e9",         "99999999999", "raw",      "macro",
    "endmacro", "|tojson",  "|join('')",   "|list",       "[::-1]",   "|map('upper')",
    "\n",       "\xC3\xA9", "range(9999)", "namespace()", "none"};

void edit(std::string& text, std::size_t at, std::mt19937& random) {
  text.insert(at, kParts[random() % std::size(kParts)]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::uint64_t mutations =
      mir::test::seed_count(std::strtoull(argv[1], nullptr, 10), mir::test::About::kMemory);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::size_t runs = 0, texts = 0;
  for (const auto& path : files) {
    const auto text = mir::read_file(path.string(), 1u << 20);
    if (!text) return 1;
    mir::fuzz::check_template(*text);
    std::mt19937 random(static_cast<std::uint32_t>(text->size()));
    for (std::uint64_t i = 0; i < mutations; ++i, ++runs)
      texts += mir::fuzz::check_template(mir::fuzz::mutated(*text, random, edit)) ? 1 : 0;
  }
  std::printf("%zu files, %zu mutations, %zu of them give a text\n", files.size(), runs, texts);
  return files.empty() || texts == 0 ? 1 : 0;
}
