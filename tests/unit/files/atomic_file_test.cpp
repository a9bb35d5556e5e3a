#include "mir/support/atomic_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "temporary.hpp"

using namespace mir;
using mir::test::contents;
using mir::test::TemporaryDirectory;

namespace {

std::size_t files_in(const std::string& directory) {
  const std::filesystem::directory_iterator files(directory);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

bool has_unnamed_files() {
  const TemporaryDirectory directory;
  const int descriptor = ::open(directory.file("").c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

/// The signal that ended a process which wrote to `path` and sent it to itself before committing.
int end_while_writing(const std::string& path, int signal) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(signal, SIG_DFL);
    auto file = AtomicFile::create(path);
    if (file && file->write("new")) ::kill(::getpid(), signal);
    ::_exit(1);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return 0;
  return WTERMSIG(status);
}

}  // namespace

TEST_CASE("an atomic file appears at commit and not before") {
  const TemporaryDirectory directory;
  const auto path = directory.file("out");
  auto file = AtomicFile::create(path);
  REQUIRE(file);
  REQUIRE(file->write("ab"));
  REQUIRE(file->write("cd"));
  CHECK(file->size() == 4);
  CHECK_FALSE(std::filesystem::exists(path));
  REQUIRE(file->commit());
  CHECK(contents(path) == "abcd");
  CHECK(files_in(directory.file("")) == 1);
}

TEST_CASE("an atomic file that is not committed leaves the old one and nothing else") {
  const TemporaryDirectory directory;
  const auto path = directory.write("out", "old");
  {
    auto file = AtomicFile::create(path);
    REQUIRE(file);
    REQUIRE(file->write("new"));
    AtomicFile moved = *std::move(file);
    REQUIRE(moved.write("er"));
  }
  CHECK(contents(path) == "old");
  CHECK(files_in(directory.file("")) == 1);
}

TEST_CASE("an atomic file keeps the mode and the symbolic link at its path") {
  const TemporaryDirectory directory;
  const auto target = directory.write("target", "old");
  REQUIRE(::chmod(target.c_str(), 0640) == 0);
  const auto link = directory.file("link");
  std::filesystem::create_symlink("target", link);
  auto file = AtomicFile::create(link);
  REQUIRE(file);
  REQUIRE(file->write("new"));
  REQUIRE(file->commit());
  CHECK(std::filesystem::is_symlink(link));
  CHECK(contents(target) == "new");
  CHECK(std::filesystem::status(target).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("an atomic file needs a directory that exists and a path that is no directory") {
  const TemporaryDirectory directory;
  const auto missing = AtomicFile::create(directory.file("none/out"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == DiagCode::kFileNotWritable);
  CHECK_FALSE(AtomicFile::create(directory.file("")));
}

TEST_CASE("a device is written directly") {
  auto file = AtomicFile::create("/dev/null");
  REQUIRE(file);
  CHECK(file->write("abc"));
  CHECK(file->commit());
}

TEST_CASE("a program that is ended while it writes leaves the old file and nothing else" *
          doctest::skip(!has_unnamed_files())) {
  const TemporaryDirectory directory;
  const auto path = directory.write("out", "old");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    CHECK(end_while_writing(path, signal) == signal);
    CHECK(contents(path) == "old");
    CHECK(files_in(directory.file("")) == 1);
  }
}
