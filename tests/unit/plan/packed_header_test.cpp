// Headers of packed caches that are whole and say what cannot be.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "mir/version.hpp"
#include "plan/packed_cache.hpp"

namespace mir::test::packed_header {

namespace {

/// A file with this header, a right hash and some bytes after it.
std::string file_with(const std::string& json) {
  fast::ThreadPool alone(1);
  const std::uint64_t length = json.size();
  const ContentHash hash = content_hash(std::as_bytes(std::span(json)), alone);
  std::string bytes = "MIRPKW1\n";
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  return bytes + json + std::string(1024, '\1');
}

/// What is wrong with it, "-" when nothing is.
std::string problem_of(const std::string& bytes) {
  const auto path =
      (std::filesystem::temp_directory_path() / fmt::format("mir-header-{}", ::getpid())).string();
  std::ofstream(path, std::ios::binary) << bytes;
  const auto cache = PackedCache::open(path);
  std::filesystem::remove(path);
  REQUIRE(cache);
  if (cache->problem().empty()) return cache->find("w") == nullptr ? "empty" : "-";
  CHECK(cache->find("w") == nullptr);
  return cache->problem();
}

std::string header(const std::string& fields, const std::string& toolkit = kProjectVersion) {
  return fmt::format(R"({{"toolkit":"{}","matrices":[{{{}}}]}})", toolkit, fields);
}

/// The fields of one matrix, with one of them replaced; an empty value leaves it out.
std::string fields(const std::string& key = {}, const std::string& value = {}) {
  const std::string zeros(32, '0');
  std::string text;
  for (const auto& [name, usual] : {std::pair<std::string, std::string>{"name", "\"w\""},
                                    {"stored", "\"Float32\""},
                                    {"dtype", "\"Float32\""},
                                    {"outputs", "8"},
                                    {"depth", "4"},
                                    {"activations", "\"f32\""},
                                    {"source", '"' + zeros + '"'},
                                    {"layout", '"' + zeros + '"'},
                                    {"packed", '"' + zeros + '"'},
                                    {"stamp", '"' + zeros + '"'},
                                    {"bytes", "512"}}) {
    const std::string& chosen = name == key ? value : usual;
    if (chosen.empty()) continue;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, chosen);
  }
  return text;
}

}  // namespace

TEST_CASE("packed cache: a header of the right form is read") {
  CHECK(problem_of(file_with(header(fields()))) == "-");
  CHECK(problem_of(file_with(
            fmt::format(R"({{"toolkit":"{}","matrices":[]}})", kProjectVersion))) == "empty");
}

TEST_CASE("packed cache: a header that says what cannot be is refused as a whole") {
  CHECK(problem_of(file_with(header(fields(), "0.0.0"))) ==
        "was written by another version of the toolkit");
  for (const char* json :
       {"", "[]", "7", "{}", R"({"toolkit":"0.1.0"})", R"({"toolkit":7,"matrices":[]})",
        R"({"matrices":[]})", R"({"toolkit":"0.1.0","matrices":{}})"}) {
    CAPTURE(std::string(json));
    const std::string problem = problem_of(file_with(json));
    CHECK(problem != "-");
    CHECK(problem != "empty");
  }
  for (const char* key : {"name", "stored", "dtype", "outputs", "depth", "activations", "source",
                          "layout", "packed", "stamp", "bytes"}) {
    for (const char* value :
         {"", "null", "[]", "-1", "1e300", "0.5", "\"\\u0000\"", "{}", "18446744073709551615"}) {
      CAPTURE(std::string(key));
      CAPTURE(std::string(value));
      CHECK(problem_of(file_with(header(fields(key, value)))) != "-");
    }
  }
  for (const char* size : {"1025", "4096", "9223372036854775807", "18446744073709551615"}) {
    CHECK(problem_of(file_with(header(fields("bytes", size)))) == "ends before its last matrix");
  }
  for (const char* hash :
       {"\"0\"", "\"0000000000000000000000000000000g\"", "\"-0000000000000000000000000000001\""}) {
    CHECK(problem_of(file_with(header(fields("source", hash)))) == "has a header of another form");
  }
}

TEST_CASE("packed cache: a header that is longer than the file is damage") {
  const std::string whole = file_with(header(fields()));
  for (const std::uint64_t length : {whole.size() - 31, whole.size(), ~std::size_t{0}}) {
    std::string bytes = whole;
    std::memcpy(bytes.data() + 8, &length, sizeof length);
    CHECK(problem_of(bytes) == "ends within its header");
  }
  for (std::size_t size = 8; size < 32; ++size) {
    CHECK(problem_of(whole.substr(0, size)) == "ends within its header");
  }
}

}  // namespace mir::test::packed_header
