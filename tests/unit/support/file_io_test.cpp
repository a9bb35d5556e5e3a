#include "support/file_io.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "mir/codes/files.hpp"

namespace fs = std::filesystem;
namespace diag = mir::diag;
using mir::MappedFile;
using mir::read_file;
using mir::write_file_atomically;

namespace {

/// A directory of its own, removed at the end.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "mir-file-io-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(root_); }
  std::string operator/(const char* name) const { return (root_ / name).string(); }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(root_), fs::directory_iterator());
  }

 private:
  fs::path root_;
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("what was written is read and mapped") {
  const Scratch dir;
  std::string text(300'000, 'x');
  text[1] = '\0';
  REQUIRE(write_file_atomically(dir / "f", text));
  CHECK(*read_file(dir / "f", text.size()) == text);
  auto mapped = MappedFile::open(dir / "f");
  REQUIRE(mapped);
  CHECK((*mapped)->bytes().size() == text.size());
  CHECK((*mapped)->bytes()[2] == std::byte{'x'});
  CHECK(dir.entries() == 1);
}

TEST_CASE("an empty file is read and mapped as nothing") {
  const Scratch dir;
  REQUIRE(write_file_atomically(dir / "f", ""));
  CHECK(read_file(dir / "f", 0)->empty());
  CHECK((*MappedFile::open(dir / "f"))->bytes().empty());
}

TEST_CASE("a file over the limit is refused, whether its size is known or not") {
  const Scratch dir;
  REQUIRE(write_file_atomically(dir / "f", "12345"));
  CHECK(read_file(dir / "f", 4).error().code == diag::kFileTooLarge);
  CHECK(read_file(dir / "f", 5));
  CHECK(read_file("/dev/zero", 100'000).error().code == diag::kFileTooLarge);
  CHECK(read_file("/dev/null", 0)->empty());
}

TEST_CASE("a file whose size is over the limit is refused before it is read") {
  const Scratch dir;
  REQUIRE(write_file_atomically(dir / "f", ""));
  fs::resize_file(dir / "f", std::uintmax_t{1} << 40);
  const auto read = read_file(dir / "f", (std::uint64_t{1} << 40) - 1);
  CHECK(read.error().code == diag::kFileTooLarge);
}

TEST_CASE("missing files and directories are errors that name the path") {
  const Scratch dir;
  const auto missing = read_file(dir / "none", 10);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == diag::kFileNotReadable);
  CHECK(missing.error().message == mir::test::Part{"none'"});
  CHECK_FALSE(read_file(dir / "", 10));
  CHECK_FALSE(MappedFile::open(dir / "none"));
  CHECK_FALSE(MappedFile::open(dir / ""));
}

TEST_CASE("a FIFO is read to its end and never mapped") {
  const Scratch dir;
  const std::string fifo = dir / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_FALSE(MappedFile::open(fifo));
  const std::string text(200'000, 'y');
  std::thread writer([&] { CHECK(write_file_atomically(fifo, text)); });
  const auto read = read_file(fifo, 1 << 20);
  writer.join();
  REQUIRE(read);
  CHECK(*read == text);
  CHECK(fs::is_fifo(fifo));
}

TEST_CASE("the mode of a replaced file is kept") {
  const Scratch dir;
  REQUIRE(write_file_atomically(dir / "f", "old"));
  REQUIRE(::chmod((dir / "f").c_str(), 0640) == 0);
  REQUIRE(write_file_atomically(dir / "f", "new"));
  CHECK(mode_of(dir / "f") == 0640);
  CHECK(*read_file(dir / "f", 10) == "new");
}

TEST_CASE("a new file gets the mode that the umask leaves") {
  const Scratch dir;
  const mode_t old = ::umask(027);
  const auto written = write_file_atomically(dir / "f", "x");
  ::umask(old);
  REQUIRE(written);
  CHECK(mode_of(dir / "f") == 0640);
}

TEST_CASE("a symbolic link stays and its target is replaced") {
  const Scratch dir;
  fs::create_directory(dir / "sub");
  REQUIRE(write_file_atomically(dir / "sub/target", "old"));
  fs::create_symlink("sub/target", dir / "link");
  fs::create_symlink("link", dir / "outer");
  fs::create_symlink("fresh", dir / "dangling");
  REQUIRE(write_file_atomically(dir / "outer", "new"));
  REQUIRE(write_file_atomically(dir / "dangling", "made"));
  CHECK(fs::is_symlink(dir / "outer"));
  CHECK(fs::is_symlink(dir / "link"));
  CHECK(fs::is_symlink(dir / "dangling"));
  CHECK(*read_file(dir / "sub/target", 10) == "new");
  CHECK(*read_file(dir / "fresh", 10) == "made");
}

TEST_CASE("links in a circle are an error") {
  const Scratch dir;
  fs::create_symlink("b", dir / "a");
  fs::create_symlink("a", dir / "b");
  CHECK(write_file_atomically(dir / "a", "x").error().code == diag::kFileNotWritable);
}

TEST_CASE("a failed write leaves no temporary file") {
  const Scratch dir;
  fs::create_directory(dir / "sub");
  CHECK(write_file_atomically(dir / "sub", "x").error().code == diag::kFileNotWritable);
  CHECK_FALSE(write_file_atomically(dir / "none/f", "x"));
  const auto full = write_file_atomically("/dev/full", "x");
  REQUIRE_FALSE(full);
  CHECK(full.error().message == mir::test::Part{"/dev/full"});
  CHECK(dir.entries() == 1);
}

TEST_CASE("the longest legal file name can be written") {
  const Scratch dir;
  const std::string name(255, 'n');
  CHECK(write_file_atomically(dir / name.c_str(), "x"));
}

TEST_CASE("a device that is reached through a link is written, not replaced") {
  const Scratch dir;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string path = "/proc/self/fd/" + std::to_string(ends[1]);
  CHECK(write_file_atomically(path, "through"));
  ::close(ends[1]);
  CHECK(*read_file("/proc/self/fd/" + std::to_string(ends[0]), 100) == "through");
  ::close(ends[0]);
}
