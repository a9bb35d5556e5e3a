#include "weights/formats/npz.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/usage.hpp"
#include "mir/codes/weights.hpp"
#include "temporary.hpp"
#include "weights/formats/npy.hpp"
#include "weights/write_tensors.hpp"

using namespace mir;
using namespace mir::test;

namespace npz_test {

namespace {

/// One member of an archive as a test wants it stated, right or wrong.
struct Member {
  std::string name = "x.npy";
  std::string data;        // as stored
  std::uint64_t size = 0;  // stated, inflated
  std::uint64_t crc = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::uint64_t local_size = ~0ull;  // stated in the local header; the same when all ones
  std::string extra = {};
};

std::string fields_of(const Member& member, std::uint64_t size) {
  return little(20, 2) + little(member.flags, 2) + little(member.method, 2) + little(0, 4) +
         little(member.crc, 4) + little(member.data.size(), 4) + little(size, 4) +
         little(member.name.size(), 2) + little(member.extra.size(), 2);
}

std::string local_part(const Member& member) {
  const bool same = member.local_size == ~0ull;
  return "PK\3\4" + fields_of(member, same ? member.size : member.local_size) + member.name +
         member.extra + member.data;
}

std::string directory_part(const Member& member, std::uint64_t offset) {
  return "PK\1\2" + little(20, 2) + fields_of(member, member.size) + std::string(10, '\0') +
         little(offset, 4) + member.name + member.extra;
}

std::string with_directory(std::string bytes, std::string_view directory, std::size_t count,
                           std::string_view comment = "", std::uint16_t disk = 0) {
  const auto begin = bytes.size();
  return bytes.append(directory) + "PK\5\6" + little(disk, 2) + little(disk, 2) + little(count, 2) +
         little(count, 2) + little(directory.size(), 4) + little(begin, 4) +
         little(comment.size(), 2) + std::string(comment);
}

std::string zip(const std::vector<Member>& members, std::string_view comment = "",
                std::uint16_t disk = 0) {
  std::string bytes;
  std::string directory;
  for (const auto& member : members) {
    directory += directory_part(member, bytes.size());
    bytes += local_part(member);
  }
  return with_directory(bytes, directory, members.size(), comment, disk);
}

std::uint64_t crc_of(const std::string& bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

std::string deflated(const std::string& bytes) {
  std::string packed(bytes.size() + 100, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  auto copy = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string npy_bytes(const Tensor& tensor) {
  return *npy_header(tensor) + bytes_of(tensor);
}

Member stored_member(std::string name, const std::string& data) {
  return {.name = std::move(name), .data = data, .size = data.size(), .crc = crc_of(data)};
}

Member deflated_member(std::string name, const std::string& data) {
  return {.name = std::move(name),
          .data = deflated(data),
          .size = data.size(),
          .crc = crc_of(data),
          .method = 8};
}

Result<NpzFile> parsed(std::string bytes, const NpzLimits& limits = {}) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return NpzFile::parse(std::as_bytes(std::span(*owner)), owner, "memory", limits);
}

const Tensor kRamp = tensor_of<std::int32_t>(DType::kInt32, {2, 2}, {1, 2, 3, 4});

DiagCode code_of(std::string bytes) {
  const auto file = parsed(std::move(bytes));
  REQUIRE_FALSE(file);
  return file.error().code;
}

DiagCode member_code_of(const Member& member) {
  const auto file = parsed(zip({member}));
  REQUIRE(file);
  const auto tensor = file->find("x");
  REQUIRE_FALSE(tensor);
  return tensor.error().code;
}

}  // namespace

TEST_CASE("tensors written to an archive are read back") {
  const TemporaryDirectory directory;
  const auto path = directory.file("x.npz");
  const NamedTensor tensors[] = {
      {"a.weight", tensor_of<float>(DType::kFloat32, {3}, {1, 2, 3})},
      {"ü", kRamp},
      {"empty", tensor_of<double>(DType::kFloat64, {0}, {})},
  };
  REQUIRE(write_npz(path, tensors));
  const auto file = NpzFile::open(path);
  REQUIRE(file);
  CHECK(file->names() == std::vector<std::string>{"a.weight", "ü", "empty"});
  for (const auto& [name, tensor] : tensors) {
    const auto found = file->find(name);
    REQUIRE(found);
    REQUIRE(found->has_value());
    CHECK((*found)->dtype() == tensor.dtype());
    CHECK((*found)->shape() == tensor.shape());
    CHECK(bytes_of(**found) == bytes_of(tensor));
  }
  CHECK_FALSE(file->contains("a.weight.npy"));
  CHECK(file->find("b")->has_value() == false);
}

TEST_CASE("equal tensors give equal archives") {
  const TemporaryDirectory directory;
  const NamedTensor tensors[] = {{"a", kRamp}};
  REQUIRE(write_npz(directory.file("1"), tensors));
  REQUIRE(write_npz(directory.file("2"), tensors));
  CHECK(contents(directory.file("1")) == contents(directory.file("2")));
}

TEST_CASE("an archive without members is legal") {
  const TemporaryDirectory directory;
  REQUIRE(write_npz(directory.file("x.npz"), {}));
  const auto file = NpzFile::open(directory.file("x.npz"));
  REQUIRE(file);
  CHECK(file->names().empty());
  CHECK(parsed(zip({})));
}

TEST_CASE("entries for folders are skipped") {
  const auto folder = stored_member("w/", "");
  const auto file = parsed(zip({folder, stored_member("w/x.npy", npy_bytes(kRamp))}));
  REQUIRE(file);
  CHECK(file->names() == std::vector<std::string>{"w/x"});
}

TEST_CASE("the archive writer refuses names that the reader refuses, and types NPY lacks") {
  const TemporaryDirectory directory;
  const auto path = directory.file("x.npz");
  const auto code = [&](std::initializer_list<NamedTensor> tensors) {
    const auto written = write_npz(path, std::vector(tensors));
    REQUIRE_FALSE(written);
    return written.error().code;
  };
  for (const char* name : {"../a", "a/../b", "/a", "a/", "a//b", "a\\b", "."})
    CHECK(code({{name, kRamp}}) == diag::kTensorNameInvalid);
  CHECK(code({{std::string(4093, 'n'), kRamp}}) == diag::kTensorNameInvalid);
  CHECK(code({{"", kRamp}}) == diag::kTensorNameInvalid);
  CHECK(code({{"a", kRamp}, {"a", kRamp}}) == diag::kTensorNameInvalid);
  CHECK(code({{"a", *Tensor::allocate(DType::kBFloat16, {1})}}) == diag::kTensorDtypeUnsupported);
  CHECK_FALSE(std::filesystem::exists(path));
  const NamedTensor longest[] = {{std::string(4092, 'n'), kRamp}};
  REQUIRE(write_npz(path, longest));
  CHECK(NpzFile::open(path));
}

TEST_CASE("the archive writer refuses more than the reader inflates") {
  const TemporaryDirectory directory;
  const auto code = [&](std::int64_t count, std::int64_t bytes) {
    std::vector<TensorPlan> plans;
    for (std::int64_t i = 0; i < count; ++i)
      plans.push_back({std::to_string(i), DType::kUInt8, {bytes}, [] {
                         return Result<Tensor>(Error{diag::kUsage, "asked for"});
                       }});
    return write_tensors(directory.file("x.npz"), TensorFormat::kNpz, plans).error().code;
  };
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  CHECK(code(1, 16 * kGiB) == diag::kLimitExceeded);
  CHECK(code(5, 15 * kGiB) == diag::kLimitExceeded);
  CHECK(code(1, 15 * kGiB) == diag::kUsage);
}

TEST_CASE("keys with slashes and padded extra fields, as NumPy and aligning programs write them") {
  auto member = stored_member("layers/0/w.npy", npy_bytes(kRamp));
  for (std::size_t padding = 0; padding < 9; ++padding) {
    CAPTURE(padding);
    // A field of another program, then bytes that are too few for one, or zeros.
    member.extra = padding % 2 == 0 ? std::string("FB\2\0zz", 6) : std::string();
    member.extra.append(padding, '\0');
    const auto file = parsed(zip({member}));
    REQUIRE(file);
    CHECK(bytes_of(**file->find("layers/0/w")) == bytes_of(kRamp));
  }
  member.extra = std::string("FB\2\0z", 5);
  CHECK(code_of(zip({member})) == diag::kNpzMalformed);
}

TEST_CASE("deflated and stored members are read") {
  const auto bytes = npy_bytes(kRamp);
  const auto file = parsed(zip({stored_member("s.npy", bytes), deflated_member("d.npy", bytes)}));
  REQUIRE(file);
  for (const auto* name : {"s", "d"}) {
    const auto tensor = file->find(name);
    REQUIRE(tensor);
    CHECK(bytes_of(**tensor) == bytes_of(kRamp));
  }
}

TEST_CASE("archives with a damaged directory are refused") {
  const auto good = stored_member("x.npy", npy_bytes(kRamp));
  const auto with = [&](auto change) {
    auto member = good;
    change(member);
    return zip({member});
  };
  struct Case {
    const char* what;
    std::string bytes;
  };
  const Case cases[] = {
      {"no bytes", ""},
      {"no end record", zip({good}).substr(0, 100)},
      {"bytes after the end record", zip({good}) + "x"},
      {"a comment", zip({good}, "hello")},
      {"another disk", zip({good}, "", 1)},
      {"an encrypted member", with([](Member& m) { m.flags = 1; })},
      {"a masked member", with([](Member& m) { m.flags = 1 << 13; })},
      {"an unknown method", with([](Member& m) { m.method = 12; })},
      {"a stored member of another size", with([](Member& m) { m.size += 1; })},
      {"a local size that differs", with([](Member& m) { m.local_size = 1; })},
      {"a size deflate cannot reach", with([](Member& m) { m.method = 8, m.size = 1 << 30; })},
      {"a path out of the archive", with([](Member& m) { m.name = "a/../../x.npy"; })},
      {"a folder out of the archive", with([](Member& m) { m.name = "../"; })},
      {"a folder with data", with([](Member& m) { m.name = "a/"; })},
      {"an absolute path", with([](Member& m) { m.name = "/x.npy"; })},
      {"a back slash", with([](Member& m) { m.name = "a\\x.npy"; })},
      {"a NUL in a name", with([](Member& m) { m.name = std::string("a\0.npy", 6); })},
      {"a name that is not UTF-8", with([](Member& m) { m.name = "\xFF.npy"; })},
      {"an empty name", with([](Member& m) { m.name = ""; })},
      {"a name of 5000 bytes", with([](Member& m) { m.name = std::string(5000, 'a') + ".npy"; })},
      {"a member that is no NPY file", with([](Member& m) { m.name = "x.txt"; })},
      {"a suffix alone", with([](Member& m) { m.name = ".npy"; })},
      {"a name twice", zip({good, good})},
  };
  for (const auto& test : cases) {
    CAPTURE(test.what);
    CHECK(code_of(test.bytes) == diag::kNpzMalformed);
  }
}

TEST_CASE("members that share bytes are refused") {
  const auto inner = stored_member("inner.npy", npy_bytes(kRamp));
  const auto outer = stored_member("outer.npy", local_part(inner));
  const auto bytes = local_part(outer);
  const auto inner_offset = bytes.size() - outer.data.size();
  const auto nested =
      with_directory(bytes, directory_part(outer, 0) + directory_part(inner, inner_offset), 2);
  CHECK(code_of(nested) == diag::kNpzMalformed);
  CHECK(parsed(with_directory(bytes, directory_part(inner, inner_offset), 1)));
}

TEST_CASE("a member whose local header has another name, method or flags is refused") {
  const auto good = stored_member("x.npy", npy_bytes(kRamp));
  const auto with_local = [&](const Member& local) {
    return with_directory(local_part(local), directory_part(good, 0), 1);
  };
  CHECK(parsed(with_local(good)));
  auto local = good;
  local.name = "y.npy";
  CHECK(code_of(with_local(local)) == diag::kNpzMalformed);
  local = good;
  local.method = 8;
  CHECK(code_of(with_local(local)) == diag::kNpzMalformed);
  local = good;
  local.flags = 1 << 11;
  CHECK(code_of(with_local(local)) == diag::kNpzMalformed);
  local = good;
  local.crc ^= 1;
  CHECK(code_of(with_local(local)) == diag::kNpzMalformed);
}

TEST_CASE("directories that lie about their place are refused") {
  const auto good = stored_member("x.npy", npy_bytes(kRamp));
  const auto bytes = local_part(good);
  const auto entry = directory_part(good, 0);
  CHECK(parsed(with_directory(bytes, entry, 1)));
  CHECK(code_of(with_directory(bytes, entry, 0)) == diag::kNpzMalformed);
  CHECK(code_of(with_directory(bytes, entry, 2)) == diag::kNpzMalformed);
  CHECK(code_of(with_directory(bytes, entry, 65535)) == diag::kNpzMalformed);
  CHECK(code_of(with_directory(bytes, entry + "x", 1)) == diag::kNpzMalformed);
  CHECK(code_of("x" + with_directory(bytes, entry, 1)) == diag::kNpzMalformed);
  for (const std::uint64_t offset : {std::uint64_t{1}, bytes.size(), ~std::uint64_t{0}})
    CHECK(code_of(with_directory(bytes, directory_part(good, offset), 1)) == diag::kNpzMalformed);
}

TEST_CASE("members whose content is not as stated are refused") {
  const auto bytes = npy_bytes(kRamp);
  auto member = stored_member("x.npy", bytes);
  member.crc ^= 1;
  CHECK(member_code_of(member) == diag::kNpzMalformed);

  member = deflated_member("x.npy", bytes);
  member.crc ^= 1;
  CHECK(member_code_of(member) == diag::kNpzMalformed);

  member = deflated_member("x.npy", bytes);
  member.size -= 1;  // inflates to more
  member.crc = crc_of(bytes.substr(0, bytes.size() - 1));
  CHECK(member_code_of(member) == diag::kNpzMalformed);

  member = deflated_member("x.npy", bytes);
  member.size += 1;  // inflates to less
  CHECK(member_code_of(member) == diag::kNpzMalformed);

  member = deflated_member("x.npy", bytes);
  member.data += "more";
  CHECK(member_code_of(member) == diag::kNpzMalformed);

  member = deflated_member("x.npy", bytes);
  member.data.pop_back();
  CHECK(member_code_of(member) == diag::kNpzMalformed);

  CHECK(member_code_of(stored_member("x.npy", "not NPY")) == diag::kNpyMalformed);
}

TEST_CASE("archives over a stated limit are refused before anything is inflated") {
  const auto bytes = npy_bytes(*Tensor::allocate(DType::kUInt8, {1 << 20}));
  const auto archive = zip({deflated_member("a.npy", bytes), deflated_member("b.npy", bytes)});
  REQUIRE(archive.size() < 10'000);
  CHECK(parsed(archive));
  const auto member = parsed(archive, {.member_bytes = 1 << 20, .total_bytes = 1 << 30});
  REQUIRE_FALSE(member);
  CHECK(member.error().code == diag::kLimitExceeded);
  const auto total = parsed(archive, {.member_bytes = 1 << 21, .total_bytes = 1 << 21});
  REQUIRE_FALSE(total);
  CHECK(total.error().code == diag::kLimitExceeded);
}

TEST_CASE("every cut and every flipped bit of an archive is survived") {
  const TemporaryDirectory directory;
  const NamedTensor written[] = {{"w", kRamp}};
  REQUIRE(write_npz(directory.file("w.npz"), written));
  const auto bytes = npy_bytes(kRamp);
  for (const auto& good : {zip({stored_member("s.npy", bytes), deflated_member("d.npy", bytes)}),
                           contents(directory.file("w.npz"))}) {
    REQUIRE(parsed(good));
    for (std::size_t i = 0; i < 8 * good.size(); ++i) {
      CAPTURE(i);
      auto flipped = good;
      flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
      if (i % 8 == 0) CHECK_FALSE(parsed(good.substr(0, i / 8)));
      const auto file = parsed(flipped);
      if (!file) continue;
      for (const auto& name : file->names()) {
        const auto tensor = file->find(name);
        if (tensor) CHECK(bytes_of(**tensor) == bytes_of(kRamp));
      }
    }
  }
}

}  // namespace npz_test
