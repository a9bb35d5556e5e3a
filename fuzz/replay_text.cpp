// Replays stored inputs through the properties of check_text.hpp, and seeded mutations of each:
// bytes deleted, doubled, swapped or replaced. Needs no fuzzing engine.
//
//   replay_text MUTATIONS DIRECTORY...     a share of MUTATIONS
#include <algorithm>
#include <filesystem>
#include <random>
#include <vector>

#include "../tests/unit/seeds.hpp"
#include "check_text.hpp"
#include "mutations.hpp"
#include "support/file_io.hpp"

namespace {

void edit(std::string& text, std::size_t at, std::mt19937& random) {
  constexpr std::string_view kInteresting = "()[]{}<>,:;=@%#^$\"\\/-> \n\t0\x01\x1b";
  text[at] = kInteresting[random() % kInteresting.size()];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::uint64_t mutations =
      mir::test::seed_count(std::strtoull(argv[1], nullptr, 10), mir::test::About::kMemory);
  std::vector<std::filesystem::path> files;
  for (int i = 2; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.path().extension() == ".mir") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::size_t runs = 0;
  for (const auto& path : files) {
    const auto text = mir::read_file(path.string(), 1u << 20);
    if (!text) continue;
    mir::fuzz::check_text(*text);
    std::mt19937 random(static_cast<std::uint32_t>(text->size()));
    for (std::uint64_t i = 0; i < mutations; ++i, ++runs)
      mir::fuzz::check_text(mir::fuzz::mutated(*text, random, edit));
  }
  std::printf("%zu files, %zu mutations\n", files.size(), runs);
  return files.empty() ? 1 : 0;
}
