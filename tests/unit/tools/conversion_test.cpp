#include "tools/weights/conversion.hpp"

#include <doctest/doctest.h>

#include <map>

#include "../weights/gguf_bytes.hpp"
#include "../weights/mllm_bytes.hpp"
#include "../weights/temporary.hpp"
#include "mir/codes/weights.hpp"
#include "weights/checks.hpp"

namespace mir::tools::conversion_test {

using namespace mir::test;

constexpr std::uint64_t kText = 8;
constexpr std::uint64_t kUInt32 = 4;

std::vector<NamedTensor> sample() {
  return {{"model.a.weight", tensor_of<float>(DType::kFloat32, {2, 3}, {1, -2, 3, -0.0f, 5, 6})},
          {"b", tensor_of<std::int8_t>(DType::kInt8, {3}, {1, -2, 3})},
          {"layer/c", tensor_of<std::uint16_t>(DType::kFloat16, {1, 2}, {0x3C00, 0x4000})}};
}

/// One file of every format that is read, by the format's name.
std::map<std::string, std::string> files_of_all_formats(const TemporaryDirectory& directory) {
  std::map<std::string, std::string> paths;
  for (const TensorFormatRow& row : tensor_formats()) {
    const auto path = directory.file("from." + std::string(row.name));
    paths[std::string(row.name)] = path;
    WriteOptions options;
    options.metadata["model_name"] = "tiny";
    if (row.write != nullptr)
      REQUIRE(write_tensors(path, row.format, plans_of(sample()), options));
    else
      directory.write("from." + std::string(row.name), mllm_v1({{.name = "b", .dtype = 16}}, 2));
  }
  return paths;
}

std::string gguf_file(const TemporaryDirectory& directory, const std::string& name,
                      const std::string& tensor, std::vector<std::string> pairs) {
  return directory.write(
      name, GgufParts{.pairs = std::move(pairs), .tensors = {{.name = tensor}}}.bytes());
}

std::vector<TensorFile> opened(const std::vector<std::string>& paths) {
  std::vector<TensorFile> files;
  for (const auto& path : paths) {
    auto file = TensorFile::open(path);
    REQUIRE(file);
    files.push_back(*std::move(file));
  }
  return files;
}

Result<void> try_convert(const std::vector<std::string>& from, const std::string& to,
                         TensorFormat format, std::map<std::string, std::string> metadata = {}) {
  ConversionRules rules{.format = format,
                        .renamings = {},
                        .types = {},
                        .only = {},
                        .unpacked = {},
                        .metadata = std::move(metadata)};
  auto conversion = Conversion::plan(opened(from), std::move(rules));
  REQUIRE(conversion);
  return conversion->run(to, {});
}

TensorFile converted(const std::vector<std::string>& from, const std::string& to,
                     TensorFormat format, std::map<std::string, std::string> metadata = {}) {
  const auto written = try_convert(from, to, format, std::move(metadata));
  if (!written) FAIL(written.error().message);
  auto file = TensorFile::open(to);
  if (!file) FAIL(file.error().message);
  return *std::move(file);
}

/// Everything that a file says about itself, in its order.
std::vector<std::string> metadata_of(const TensorFile& file) {
  std::vector<std::string> all;
  for (const auto& pair : file.gguf_metadata()) all.push_back(pair.key + "=" + pair.text());
  for (const auto& [key, text] : file.metadata()) all.push_back(key + "=" + quoted_text(text));
  return all;
}

void check_same_tensors(const TensorFile& expected, const TensorFile& found) {
  CHECK(found.names().size() == expected.names().size());
  for (const auto& name : expected.names()) {
    CAPTURE(name);
    const auto before = **expected.find(name);
    const auto after = found.find(name);
    REQUIRE(after);
    REQUIRE(after->has_value());
    CHECK((*after)->dtype() == before.dtype());
    CHECK((*after)->shape() == before.shape());
    CHECK(bytes_of(**after) == bytes_of(before));
  }
}

TEST_CASE("files of every format go into every written format and again, to the same bytes") {
  const TemporaryDirectory directory;
  for (const auto& each : files_of_all_formats(directory)) {
    const auto &from_name = each.first, &from = each.second;
    for (const auto& to : written_formats()) {
      CAPTURE(from_name);
      CAPTURE(std::string(to.word));
      const auto once = directory.file("once");
      const auto file = converted({from}, once, to.value);
      const auto original = opened({from});
      check_same_tensors(original.front(), file);
      const bool states_name = metadata_of(original.front()).size() != 0;
      if (to.value == TensorFormat::kMllm2)
        CHECK(metadata_of(file) == (states_name ? std::vector<std::string>{"model_name=\"tiny\""}
                                                : std::vector<std::string>{}));
      converted({once}, directory.file("twice"), to.value);
      CHECK(contents(once) == contents(directory.file("twice")));
      // The file twice: its tensors and what it says about itself are there once.
      const auto merged = converted({once, once}, directory.file("merged"), to.value);
      CHECK(metadata_of(merged) == metadata_of(file));
      CHECK(contents(once) == contents(directory.file("merged")));
    }
  }
}

TEST_CASE("of metadata with one key the last file's count, and those of the command line") {
  const TemporaryDirectory directory;
  const auto one = gguf_file(
      directory, "one", "x",
      {gguf_pair("general.architecture", kText, gguf_string("llama")),
       gguf_pair("n", kUInt32, little(1, 4)), gguf_pair("who", kText, gguf_string("one"))});
  const auto two =
      gguf_file(directory, "two", "y",
                {gguf_pair("n", kText, gguf_string("two")), gguf_pair("m", kUInt32, little(2, 4))});
  const auto plain = directory.file("plain");
  WriteOptions options;
  options.metadata = {{"who", "plain"}, {"model_name", "p"}};
  REQUIRE(write_tensors(plain, TensorFormat::kSafetensors, {}, options));
  using Metadata = std::vector<std::string>;
  const auto out = directory.file("out");
  CHECK(metadata_of(converted({one, two, plain}, out, TensorFormat::kGguf)) ==
        Metadata{"general.architecture=\"llama\"", "n=\"two\"", "m=2", "model_name=\"p\"",
                 "who=\"plain\""});
  CHECK(
      metadata_of(converted({plain, two, one}, out, TensorFormat::kGguf)) ==
      Metadata{"n=1", "m=2", "general.architecture=\"llama\"", "who=\"one\"", "model_name=\"p\""});
  CHECK(
      metadata_of(converted({plain, one}, out, TensorFormat::kGguf, {{"n", "given"}})) ==
      Metadata{"general.architecture=\"llama\"", "who=\"one\"", "model_name=\"p\"", "n=\"given\""});
  // Numbers have no place among texts.
  CHECK(metadata_of(converted({plain, one}, out, TensorFormat::kSafetensors)) ==
        Metadata{"general.architecture=\"llama\"", "model_name=\"p\"", "who=\"one\""});
  CHECK(metadata_of(converted({plain, one}, out, TensorFormat::kMllm2, {{"model_name", "q"}})) ==
        Metadata{"model_name=\"q\""});
}

TEST_CASE("metadata that the reader of a format would refuse are not written") {
  const TemporaryDirectory directory;
  const auto one = gguf_file(directory, "one", "x", {});
  const auto refused = [&](TensorFormat format, const std::string& key, const std::string& text) {
    const auto written = try_convert({one}, directory.file("out"), format, {{key, text}});
    REQUIRE_FALSE(written);
    CHECK(written.error().code == diag::kTensorNameInvalid);
  };
  refused(TensorFormat::kGguf, "", "x");
  refused(TensorFormat::kGguf, "two words", "x");
  refused(TensorFormat::kGguf, std::string(65536, 'k'), "x");
  refused(TensorFormat::kGguf, "k", "\xFF");
  refused(TensorFormat::kSafetensors, "k", "\xFF");
  refused(TensorFormat::kMllm2, "model_name", "a\nb");
  refused(TensorFormat::kMllm2, "model_name", std::string(512, 'n'));
  converted({one}, directory.file("out"), TensorFormat::kGguf, {{std::string(65535, 'k'), "x"}});
  converted({one}, directory.file("out"), TensorFormat::kMllm2,
            {{"model_name", std::string(511, 'n')}});
}

}  // namespace mir::tools::conversion_test
