// The table of guarded mappings. How a kernel survives a file that shrinks is tested with the
// readers of tensor files.
#include "support/platform/posix/mapping_guard.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

using namespace mir;

namespace {

/// A file without a name, mapped whole and guarded.
class Mapped {
 public:
  explicit Mapped(std::size_t bytes) : descriptor_(::memfd_create("mapped", 0)) {
    resize(bytes);
    void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, 0);
    REQUIRE(at != MAP_FAILED);
    bytes_ = {static_cast<const std::byte*>(at), bytes};
    REQUIRE(guard_mapping(bytes_, descriptor_));
  }
  ~Mapped() {
    release_mapping(bytes_);
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  void resize(std::size_t bytes) {
    REQUIRE(::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0);
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  std::span<const std::byte> bytes_;
};

}  // namespace

TEST_CASE("bytes lie in the guarded mapping whose first or last byte they are") {
  const Mapped one(10000), other(5000);
  for (const Mapped* each : {&one, &other}) {
    const auto bytes = each->bytes();
    for (const auto part : {bytes, bytes.first(1), bytes.last(1), bytes.subspan(4096, 3)}) {
      const auto found = guarded_mapping(part);
      CHECK(found.data() == bytes.data());
      CHECK(found.size() == bytes.size());
    }
    CHECK(guarded_mapping(bytes.first(0)).empty());
    CHECK(guarded_mapping({bytes.data() + bytes.size(), 1}).empty());
  }
  const std::byte local{};
  CHECK(guarded_mapping({&local, 1}).empty());
}

TEST_CASE("a mapping lies in a shortened file as soon as the file lacks a byte") {
  Mapped mapped(10000);
  CHECK_FALSE(lies_in_shortened_file(mapped.bytes()));
  mapped.resize(10001);
  CHECK_FALSE(lies_in_shortened_file(mapped.bytes()));
  mapped.resize(9999);
  CHECK(lies_in_shortened_file(mapped.bytes()));
  CHECK(lies_in_shortened_file(mapped.bytes().first(1)));
  CHECK_FALSE(lies_in_shortened_file(mapped.bytes().first(0)));
  mapped.resize(10000);
  CHECK_FALSE(lies_in_shortened_file(mapped.bytes()));
  const std::byte local{};
  CHECK_FALSE(lies_in_shortened_file({&local, 1}));
}

TEST_CASE("a released mapping closes its file, and its place is free for another one") {
  const std::vector<std::byte> memory(5000);
  const auto bytes_at = [&](std::size_t at) { return std::span(memory).subspan(at, 1); };
  std::size_t guarded = 0;
  while (guarded < memory.size() && guard_mapping(bytes_at(guarded), -1)) ++guarded;
  CHECK(guarded > 1000);
  REQUIRE(guarded < memory.size());
  for (int round = 0; round < 3; ++round) {
    CHECK_FALSE(guard_mapping(bytes_at(guarded), -1));
    const std::size_t freed = static_cast<std::size_t>(round) * 100;
    release_mapping(bytes_at(freed));
    CHECK(guarded_mapping(bytes_at(freed)).empty());
    CHECK(guard_mapping(bytes_at(freed), -1));
    CHECK(guarded_mapping(bytes_at(freed)).size() == 1);
  }
  for (std::size_t i = 0; i < guarded; ++i) release_mapping(bytes_at(i));
  int descriptor = -1;
  {
    const Mapped mapped(100);
    descriptor = mapped.descriptor();
    CHECK(::fcntl(descriptor, F_GETFD) != -1);
  }
  CHECK(::fcntl(descriptor, F_GETFD) == -1);
}

TEST_CASE("only whole pages of a guarded mapping are forgotten") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  // What is written into private pages is gone when they are forgotten.
  const std::size_t bytes = 4 * page;
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(at != MAP_FAILED);
  auto* const memory = static_cast<std::byte*>(at);
  const auto fill = [&] {
    for (std::size_t i = 0; i < bytes; ++i) memory[i] = std::byte{1};
  };
  const auto left = [&](std::size_t first, std::size_t end) {
    fill();
    forget_pages({memory + first, end - first});
    std::string pages;
    for (std::size_t i = 0; i < 4; ++i) pages += memory[i * page] == std::byte{1} ? '1' : '0';
    return pages;
  };
  CHECK(left(0, bytes) == "1111");  // not guarded
  REQUIRE(guard_mapping({memory, bytes}, -1));
  CHECK(left(0, bytes) == "0000");
  CHECK(left(1, bytes) == "1000");
  CHECK(left(0, bytes - 1) == "0001");
  CHECK(left(page, 3 * page) == "1001");
  CHECK(left(page + 1, 3 * page - 1) == "1111");
  CHECK(left(page - 1, 2 * page) == "1011");
  CHECK(left(0, 0) == "1111");
  release_mapping({memory, bytes});
  ::munmap(at, bytes);
}
