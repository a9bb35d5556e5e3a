#include "weights/formats/gguf_split.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>

#include "gguf_bytes.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/weights.hpp"
#include "weights/tensor_file.hpp"

namespace mir::gguf_split_test {

using namespace mir::test;

constexpr std::uint64_t kUInt16 = 2;
constexpr std::uint64_t kInt32 = 5;
constexpr std::uint64_t kText = 8;

/// What one file states, right or wrong.
struct Part {
  std::string tensor = "x";
  std::uint64_t number = 0;
  std::uint64_t count = 3;
  std::uint64_t tensors = 3;
  std::vector<std::string> pairs = {};
  std::uint64_t number_type = kUInt16;
  std::uint64_t count_type = kUInt16;

  std::string bytes() const {
    auto all = pairs;
    const std::size_t width = number_type == kText ? 8 : 2;
    all.push_back(gguf_pair("split.no", number_type, little(number, width)));
    all.push_back(
        gguf_pair("split.count", count_type, little(count, count_type == kInt32 ? 4 : 2)));
    all.push_back(gguf_pair("split.tensors.count", kInt32, little(tensors, 4)));
    return GgufParts{.pairs = all, .tensors = {{.name = tensor}}}.bytes();
  }
};

std::string part_name(int number, const std::string& stem = "m") {
  return fmt::format("{}-{:05}-of-00003.gguf", stem, number);
}

/// A folder with the three files of a model.
class Split {
 public:
  Split() {
    write(1, {.tensor = "a", .number = 0, .pairs = {gguf_pair("n", kUInt16, little(7, 2))}});
    write(2, {.tensor = "b", .number = 1});
    write(3, {.tensor = "c", .number = 2});
  }
  void write(int number, const Part& part) const {
    directory.write(part_name(number), part.bytes());
  }
  Result<TensorFile> open(int number) const {
    return TensorFile::open(directory.file(part_name(number)));
  }
  std::string refusal() const {
    const auto file = open(1);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == diag::kGgufMalformed);
    return file.error().message.substr(file.error().message.rfind('/') + 1);
  }

  TemporaryDirectory directory;
};

TEST_CASE("each file of a split model opens as the whole model") {
  const Split split;
  for (int number = 1; number <= 3; ++number) {
    const auto file = split.open(number);
    REQUIRE(file);
    CHECK(file->format() == TensorFormat::kGguf);
    CHECK(file->names() == std::vector<std::string>{"a", "b", "c"});
    CHECK(file->tensors()->size() == 3);
    CHECK(values_of<std::int8_t>(**file->find("c")) == std::vector<std::int8_t>{1, 1});
    REQUIRE(file->gguf_metadata().size() == 1);
    CHECK(file->gguf_metadata()[0].key == "n");
    CHECK(file->gguf_metadata()[0].text() == "7");
  }
}

TEST_CASE(
    "the parts of a split model are found by name, in a folder or where the opener has them") {
  const Split split;
  const std::vector<std::string> names{part_name(1), part_name(2), part_name(3)};
  const auto parts = TensorFile::parts(split.directory.file(part_name(2)));
  REQUIRE(parts);
  CHECK(*parts == names);
  const auto file = TensorFile::open(part_name(3), [&](const std::string& name) {
    const auto text = std::make_shared<std::string>(contents(split.directory.file(name)));
    return Result<FileBytes>(FileBytes{std::as_bytes(std::span(*text)), text, "pack:" + name});
  });
  REQUIRE(file);
  CHECK(file->names().size() == 3);
  std::filesystem::create_symlink(split.directory.file(part_name(2)), split.directory.file("link"));
  std::filesystem::rename(split.directory.file("link"), split.directory.file(part_name(1, "l")));
  CHECK(TensorFile::open(split.directory.file(part_name(1, "l"))).error().message.find("part 2") !=
        std::string::npos);
}

TEST_CASE("a part that is missing, or of another model, is named") {
  const Split split;
  split.write(3, {.tensor = "c", .number = 1});
  CHECK(split.refusal() == part_name(3) + "': it says it is part 2 of 3, expected 3 of 3");
  split.write(3, {.tensor = "c", .number = 2, .count = 4});
  CHECK(split.refusal() == part_name(3) + "': it says it is part 3 of 4, expected 3 of 3");
  split.write(3, {.tensor = "c", .number = 2, .tensors = 5});
  CHECK(split.refusal() == part_name(3) +
                               "': it states another number of tensors than the other parts: it "
                               "is of another model");
  split.write(3, {.tensor = "c", .number = 0, .count = 1});
  CHECK(split.refusal() == part_name(3) + "': it is a whole model, expected part 3 of 3");
  split.write(3, {.tensor = "a", .number = 2});
  CHECK(split.refusal() == part_name(1) + "', too");
  std::filesystem::remove(split.directory.file(part_name(3)));
  const auto missing = split.open(1);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == diag::kFileNotReadable);
  CHECK(missing.error().message.find(part_name(3)) != std::string::npos);
}

TEST_CASE("numbers of parts that are none are refused") {
  const Split split;
  split.write(1, {.tensor = "a", .number = 3});
  CHECK(split.refusal() == part_name(1) + "': 'split.no' and 'split.count' are 3 and 3");
  // Names have five digits.
  split.write(1, {.tensor = "a", .count = 100000, .count_type = kInt32});
  CHECK(split.refusal() == part_name(1) + "': 'split.no' and 'split.count' are 0 and 100000");
  split.write(1, {.tensor = "a", .count = 99999, .count_type = kInt32});
  CHECK(split.refusal() == part_name(1) +
                               "': it is part 1 of 99999, but its name does not end in "
                               "'-00001-of-99999.gguf', so the other parts cannot be found");
  split.write(1, {.tensor = "a", .number_type = kText});
  CHECK(split.refusal() == part_name(1) + "': 'split.no' is \"\", expected a number");
  split.write(1, {.tensor = "a", .number = 1});
  CHECK(split.refusal() ==
        part_name(1) +
            "': it is part 2 of 3, but its name does not end in '-00002-of-00003.gguf', "
            "so the other parts cannot be found");
  for (const int total : {2, 4}) {
    for (int number = 1; number <= 3; ++number)
      split.write(number, {.tensor = std::to_string(number),
                           .number = static_cast<std::uint64_t>(number) - 1,
                           .tensors = static_cast<std::uint64_t>(total)});
    CHECK(split.refusal() ==
          part_name(1) + fmt::format("': its 3 parts have 3 tensors, expected {}", total));
  }
}

TEST_CASE("a file that says it is one of one is a whole model, without that remark") {
  const TemporaryDirectory directory;
  const auto file = TensorFile::open(
      directory.write("m.gguf", Part{.number = 0, .count = 1, .tensors = 1}.bytes()));
  REQUIRE(file);
  CHECK(file->names() == std::vector<std::string>{"x"});
  CHECK(file->gguf_metadata().empty());
}

}  // namespace mir::gguf_split_test
