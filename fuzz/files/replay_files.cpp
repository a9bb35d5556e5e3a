// Holds the readers of tensor files to generated hostile files and to stored ones with seeded
// mutations. Needs no fuzzing engine.
//
//   replay_files MUTATIONS CORPUS        a share of MUTATIONS; CORPUS has a folder for each format
//   replay_files --write FOLDER          writes the generated files there
//   replay_files --accepted              lists the generated files that are accepted
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "../../tests/unit/seeds.hpp"
#include "../mutations.hpp"
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

constexpr unsigned kSecondsUntilHang = 60;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kFewestFiles = 300;

struct Totals {
  std::size_t files = 0;
  std::size_t wrong = 0;
  std::size_t largest = 0;  ///< bytes of memory
};

std::string checked_file;  // for the handler of SIGALRM

/// Names the file whose check hangs, and ends the program.
void report_hang(int) {
  constexpr std::string_view kHangs = " hangs\n";
  const bool is_told = ::write(1, checked_file.data(), checked_file.size()) >= 0 &&
                       ::write(1, kHangs.data(), kHangs.size()) >= 0;
  ::_exit(is_told ? 1 : 2);
}

/// Counts violated expectations; `must_refuse` files must be refused.
void check(std::string_view format, const HostileFile& file, bool must_refuse, Totals& totals) {
  checked_file = std::string(format) + ": " + file.what;
  ::alarm(kSecondsUntilHang);
  reset_allocations();
  const auto checked = check_file(format, std::as_bytes(std::span(file.bytes)));
  const std::size_t bytes = most_allocated();
  ::alarm(0);
  ++totals.files;
  totals.largest = std::max(totals.largest, bytes);
  if (!(must_refuse && checked) && bytes < kMostBytes) return;
  ++totals.wrong;
  std::printf("%s: %s, %zu bytes of memory\n", checked_file.c_str(),
              checked ? "accepted" : "refused", bytes);
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
  std::printf("%s: %zu hostile files, at most %zu bytes of memory, %zu wrong\n", name.c_str(),
              totals.files, totals.largest, totals.wrong);
  return totals.wrong == 0 && totals.files >= kFewestFiles;
}

/// Fills some bytes with one value, or changes one bit.
void edit(std::string& bytes, std::size_t at, std::mt19937& random) {
  if (random() % 2 == 0) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
    return;
  }
  const std::size_t length = std::min<std::size_t>(1 + random() % 8, bytes.size() - at);
  bytes.replace(at, length, std::string(length, random() % 2 == 0 ? '\0' : '\xFF'));
}

bool check_stored(std::string_view format, const std::filesystem::path& folder,
                  std::uint64_t mutations) {
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
    for (std::uint64_t i = 0; i < mutations; ++i)
      check(format, {"a mutated file", mutated(bytes, random, edit)}, false, totals);
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
  const std::uint64_t mutations =
      test::seed_count(std::strtoull(argv[1], nullptr, 10), test::About::kMemory);
  std::signal(SIGALRM, report_hang);
  bool good = true;
  for (const auto format : file_formats()) {
    good = check_generated(format) && good;
    good = check_stored(format, std::filesystem::path(argv[2]) / format, mutations) && good;
  }
  return good && fits_memory() ? 0 : 1;
}
