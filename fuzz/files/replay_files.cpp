// Holds the readers of tensor files to generated hostile files and to stored ones with seeded
// mutations. Needs no fuzzing engine.
//
//   replay_files MUTATIONS CORPUS        CORPUS has a folder for each format
//   replay_files --write FOLDER          writes the generated files there
//   replay_files --accepted              lists the generated files that are accepted
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "allocations.hpp"
#include "check_files.hpp"
#include "hostile.hpp"
#include "support/file_io.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MIR_SANITIZED
#endif
#endif

namespace {

using namespace mir;
using namespace mir::fuzz;

constexpr double kMostSeconds = 0.1;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kFewestFiles = 300;

struct Totals {
  std::size_t files = 0;
  std::size_t wrong = 0;
  double slowest = 0;
  std::size_t largest = 0;  ///< bytes of memory
};

/// Counts violated expectations; `must_refuse` files must be refused quickly.
void check(std::string_view format, const HostileFile& file, bool must_refuse, Totals& totals) {
  const auto begin = std::chrono::steady_clock::now();
  reset_allocations();
  const auto checked = check_file(format, std::as_bytes(std::span(file.bytes)));
  const std::size_t bytes = most_allocated();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  ++totals.files;
  totals.slowest = std::max(totals.slowest, taken.count());
  totals.largest = std::max(totals.largest, bytes);
  const bool fine = !(must_refuse && checked) && taken.count() < kMostSeconds && bytes < kMostBytes;
  if (fine) return;
  ++totals.wrong;
  std::printf("%s: %s: %s, %.3f s, %zu bytes of memory\n", std::string(format).c_str(),
              file.what.c_str(), checked ? "accepted" : "refused", taken.count(), bytes);
}

bool check_generated(std::string_view format) {
  Totals totals;
  const std::string name(format);
  const std::string sound = sound_file(format);
  if (const auto read = check_file(format, std::as_bytes(std::span(sound))); !read) {
    std::printf("%s: the sound file is refused: %s\n", name.c_str(), read.error().message.c_str());
    return false;
  }
  for (const HostileFile& file : hostile_files(format)) check(format, file, !file.legal, totals);
  std::printf("%s: %zu hostile files, slowest %.4f s, at most %zu bytes of memory, %zu wrong\n",
              name.c_str(), totals.files, totals.slowest, totals.largest, totals.wrong);
  return totals.wrong == 0 && totals.files >= kFewestFiles;
}

std::string mutate(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return random() % bound; };
  for (std::size_t edits = 1 + below(4); edits != 0 && !bytes.empty(); --edits) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = std::min<std::size_t>(1 + below(8), bytes.size() - at);
    switch (below(5)) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, bytes.substr(below(bytes.size()), length));
        break;
      case 2:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 3:
        bytes.replace(at, length, std::string(length, below(2) == 0 ? '\0' : '\xFF'));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        break;
    }
  }
  return bytes;
}

bool check_stored(std::string_view format, const std::filesystem::path& folder, int mutations) {
  std::vector<std::string> stored = {sound_file(format)};
  std::error_code none;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    paths.push_back(entry);
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    if (auto bytes = read_file(path.string(), 1u << 20)) stored.push_back(*std::move(bytes));
  }
  Totals totals;
  for (const auto& bytes : stored) {
    check(format, {"a stored file", bytes}, false, totals);
    std::mt19937 random(static_cast<std::uint32_t>(bytes.size()));
    for (int i = 0; i < mutations; ++i)
      check(format, {"a mutated file", mutate(bytes, random)}, false, totals);
  }
  std::printf("%s: %zu stored files, %zu runs, %zu wrong\n", std::string(format).c_str(),
              stored.size() - 1, totals.files, totals.wrong);
  return totals.wrong == 0 && stored.size() > 1;
}

/// The whole program, storage of tensors included, stays within what one file may need. (The
/// sanitizers keep memory of their own.)
bool fits_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(MIR_SANITIZED)
  return true;
#else
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  std::printf("%ld KiB of memory in all\n", usage.ru_maxrss);
  return static_cast<std::size_t>(usage.ru_maxrss) << 10 < kMostBytes;
#endif
}

int write_files(const std::filesystem::path& folder) {
  for (const auto format : file_formats()) {
    std::filesystem::create_directories(folder / format);
    std::ofstream(folder / format / "sound", std::ios::binary) << sound_file(format);
    std::size_t number = 0;
    for (const HostileFile& file : hostile_files(format))
      std::ofstream(folder / format / std::to_string(number++), std::ios::binary) << file.bytes;
  }
  return 0;
}

int list_accepted() {
  for (const auto format : file_formats()) {
    for (const HostileFile& file : hostile_files(format)) {
      if (check_file(format, std::as_bytes(std::span(file.bytes))))
        std::printf("%s: %s\n", std::string(format).c_str(), file.what.c_str());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--accepted") == 0) return list_accepted();
  if (argc != 3) return 2;
  if (std::strcmp(argv[1], "--write") == 0) return write_files(argv[2]);
  bool good = true;
  for (const auto format : file_formats()) {
    good = check_generated(format) && good;
    good =
        check_stored(format, std::filesystem::path(argv[2]) / format, std::atoi(argv[1])) && good;
  }
  return good && fits_memory() ? 0 : 1;
}
