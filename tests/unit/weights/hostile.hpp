// Files that a reader must refuse.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../stored_lines.hpp"
#include "support/terminal_text.hpp"
#include "weights/tensor_file.hpp"

namespace mir::test {

struct Hostile {
  std::string what;
  std::string bytes;
};

inline Result<TensorFile> parse_tensor_file(std::string bytes) {
  const auto kept = std::make_shared<const std::string>(std::move(bytes));
  return TensorFile::parse({std::as_bytes(std::span(*kept)), kept, "hostile"});
}

/// True if testdata/unit/weights/refused.txt has the line; UPDATE_GOLDEN=1 adds it.
inline bool is_stored_refusal(const std::string& line) {
  const std::filesystem::path path = kRoot / "testdata/unit/weights/refused.txt";
  static std::set<std::string> stored = [&] {
    const std::vector<std::string> lines = split_lines(read_whole(path));
    return std::set<std::string>(lines.begin(), lines.end());
  }();
  if (is_updating() && stored.insert(line).second) {
    std::ofstream file(path);
    for (const std::string& each : stored) file << each << '\n';
  }
  return stored.contains(line);
}

/// Each file is refused with the code, by a message that names it and is stored.
inline void check_refused(const std::vector<Hostile>& files, DiagCode code) {
  for (const auto& hostile : files) {
    CAPTURE(hostile.what);
    const auto file = parse_tensor_file(hostile.bytes);
    REQUIRE_FALSE(file);
    CAPTURE(file.error().message);
    CHECK(file.error().code == code);
    CHECK(file.error().message.starts_with("'hostile': "));
    const std::string line = hostile.what + " | " + visible(file.error().message);
    CHECK(is_stored_refusal(line));
  }
}

/// Files cut anywhere are refused; files with one bit flipped are refused or can be read.
inline void check_cuts_and_flips(const std::string& good) {
  REQUIRE(parse_tensor_file(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(parse_tensor_file(good.substr(0, i)));
    for (int bit = 0; bit < 8; ++bit) {
      auto flipped = good;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
      const auto file = parse_tensor_file(std::move(flipped));
      if (!file) continue;
      for (const auto& name : file->names()) {
        const auto found = file->find(name);
        CHECK((found || found.error().message.ends_with("which is not read")));
      }
    }
  }
}

}  // namespace mir::test
