// Saved sessions: what they restore, what cannot be saved, and hostile files with right hashes.
#include "generation/saved_session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "../interp/module_text.hpp"
#include "../seeds.hpp"
#include "mir/codes/generation.hpp"
#include "plan/content_hash.hpp"
#include "support/file_io.hpp"

namespace mir::test {

using generation::read_saved_session;
using generation::SavedSession;
using generation::write_saved_session;
using nlohmann::json;

namespace {

constexpr std::string_view kModel = "0123456789abcdef0123456789abcdef";
/// Magic, length of the header, its hash.
constexpr std::size_t kFixed = 8 + 8 + 16;

/// Two sequences of states, with positions.
const char* const kBatch = R"(
@main [mir_version:2] (%k:tensor<[2, 1, $S, 2], Float32, CPU>, %positions:tensor<[2, $S], Int64, CPU>) -> (%K:tensor<[2, 1, $past+$S, 2], Float32, CPU>) {
  linalg.CPU.KVCacheOp [cache:@kv, q_head:1, kv_head:1, head_dim:2, past:$past] (%k, %k, %positions) -> (%K:tensor<[2, 1, $past+$S, 2], Float32, CPU>, %V:tensor<[2, 1, $past+$S, 2], Float32, CPU>)
  cf.ReturnOp (%K) -> ()
}
)";

std::vector<Tensor> step(const std::vector<std::int64_t>& positions) {
  const auto tokens = static_cast<std::int64_t>(positions.size() / 2);
  auto places = *Tensor::allocate(DType::kInt64, {2, tokens});
  std::ranges::copy(positions, places.as_mutable<std::int64_t>().data());
  return {floats({2, 1, tokens, 2}, std::vector<double>(positions.size() * 2, 0.5)), places};
}

/// A file that goes with the test.
struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("saved-session-{}", getpid())).string();
  ~File() { std::filesystem::remove(path); }
  std::string bytes() const { return *read_file(path, 1 << 20); }
  void write(std::string_view bytes) const {
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
};

SavedSession of_tokens(std::size_t count) {
  return {.model = std::string(kModel),
          .tokens = std::vector<std::uint32_t>(count, 7),
          .position = static_cast<std::int64_t>(count),
          .sampling = {}};
}

std::string as_bytes(const auto& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A file of this header, with its hash.
std::string file_of(const std::string& header, std::string_view body) {
  fast::ThreadPool alone(1);
  std::string bytes = "MIRGEN1\n";
  bytes += as_bytes(std::uint64_t{header.size()});
  bytes += as_bytes(content_hash(std::as_bytes(std::span(header)), alone));
  bytes += header;
  bytes.resize((bytes.size() + 63) / 64 * 64);
  return bytes += body;
}

std::string header_of(const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data() + 8, sizeof length);
  return file.substr(kFixed, length);
}

/// The keys and values behind the header.
std::string body_of(const std::string& file) {
  return file.substr((kFixed + header_of(file).size() + 63) / 64 * 64);
}

/// A value somewhere in a document.
json& any_value(json& document, std::mt19937_64& random) {
  json* at = &document;
  while (at->is_structured() && !at->empty() && random() % 8 != 0) {
    auto member = at->begin();
    std::advance(member, static_cast<std::ptrdiff_t>(random() % at->size()));
    at = &*member;
  }
  return *at;
}

void mutate(json& document, std::mt19937_64& random) {
  json& value = any_value(document, random);
  const json others[] = {nullptr,
                         true,
                         0,
                         1,
                         5,
                         -1,
                         0.5,
                         std::uint64_t{1} << 40,
                         std::numeric_limits<std::uint64_t>::max(),
                         "",
                         "Int4",
                         "kv",
                         json::array(),
                         json::array({1, 1, 1, 1, 1, 1, 1, 1}),
                         json::object(),
                         any_value(document, random)};
  if (value.is_array() && !value.empty() && random() % 2 == 0) {
    if (random() % 2 == 0) {
      value.erase(random() % value.size());
    } else {
      value.push_back(json(value.front()));
    }
    return;
  }
  value = json(others[random() % std::size(others)]);
}

}  // namespace

TEST_CASE("a saved session restores caches and state") {
  Runner runner(kBatch);
  runner.run(step({0, 1, 0, 1}));
  const File file;
  REQUIRE(write_saved_session(file.path, of_tokens(2), runner.session()));
  runner.session().reset();
  const auto read = read_saved_session(file.path, std::string(kModel), runner.session());
  REQUIRE(read);
  CHECK(read->tokens.size() == 2);
  CHECK(runner.session().cache_length("kv") == 2);
  runner.run(step({2, 2}));
}

TEST_CASE("a session with sequences of different lengths cannot be saved") {
  Runner runner(kBatch);
  runner.run(step({-1, 0, 0, 1}));
  const File file;
  const auto written = write_saved_session(file.path, of_tokens(2), runner.session());
  REQUIRE_FALSE(written);
  CHECK(written.error().code == diag::kNotGenerative);
  CHECK(written.error().message ==
        "cache '@kv' holds sequences of different lengths; a saved session has one length for all");
  CHECK_FALSE(std::filesystem::exists(file.path));
}

TEST_CASE("hostile saved sessions with right hashes are read or refused") {
  Runner runner(kBatch);
  runner.run(step({0, 1, 0, 1}));
  const File file;
  REQUIRE(write_saved_session(file.path, of_tokens(2), runner.session()));
  const std::string sound = file.bytes();
  const json header = json::parse(header_of(sound));
  REQUIRE(file_of(header.dump(), body_of(sound)) == sound);
  std::size_t read = 0, refused = 0;
  for (const std::uint64_t seed : seeds_of(4000, About::kMemory)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    json changed = header;
    for (std::uint64_t i = random() % 3 + 1; i > 0; --i) mutate(changed, random);
    std::string body = body_of(sound);
    if (random() % 4 == 0) body.resize(random() % (body.size() + 1));
    std::string text = changed.dump(-1, ' ', false, json::error_handler_t::replace);
    if (random() % 8 == 0 && !text.empty())
      text[random() % text.size()] = static_cast<char>(random() % 256);
    file.write(file_of(text, body));
    const auto found = read_saved_session(file.path, std::string(kModel), runner.session());
    ++(found ? read : refused);
    if (!found) {
      CHECK(runner.session().cache_length("kv").value_or(0) == 0);
      CHECK(found.error().message.starts_with(fmt::format("'{}' ", file.path)));
      continue;
    }
    // The caches that were read serve a step, or it is refused.
    Diagnostics problems;
    const auto length = runner.session().cache_length("kv").value_or(0);
    const auto outputs = runner.session().run(step({length, length}), problems, {});
    CHECK(outputs.has_value() != problems.has_errors());
  }
  CHECK(read > 0);
  CHECK(refused > read);
}

TEST_CASE("a saved cache without a dimension for its tokens is refused") {
  Runner runner(kBatch);
  runner.run(step({0, 0}));
  const File file;
  REQUIRE(write_saved_session(file.path, of_tokens(1), runner.session()));
  json header = json::parse(header_of(file.bytes()));
  header["caches"][0]["token_axis"] = 6;
  header["caches"][0]["length"] = 0;
  file.write(file_of(header.dump(), body_of(file.bytes())));
  const auto found = read_saved_session(file.path, std::string(kModel), runner.session());
  REQUIRE_FALSE(found);
  CHECK(found.error().code == diag::kSavedSessionMalformed);
}

}  // namespace mir::test
