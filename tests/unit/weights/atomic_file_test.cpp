#include "support/platform/atomic_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>

#include "mir/codes/files.hpp"
#include "support/file_io.hpp"
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

/// From now on the kernel refuses this process files without a name, as some file systems do.
bool refuse_unnamed_files() {
  constexpr auto kUnnamed = static_cast<std::uint32_t>(O_TMPFILE & ~O_DIRECTORY);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kUnnamed, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{.len = std::size(program), .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 && !has_unnamed_files();
}

/// From now on the kernel answers this call of the process with EIO and does nothing.
bool refuse_call(std::uint32_t call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog filter{.len = std::size(program), .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// The wait status of a process that does `work` and ends with 1 when it gives false.
int status_of(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child ? status : -1;
}

/// The signal that ended a process which wrote to `path` and sent it to itself before committing.
int end_while_writing(const std::string& path, int signal, bool unnamed_files) {
  const int status = status_of([&] {
    std::signal(signal, SIG_DFL);
    if (!unnamed_files && !refuse_unnamed_files()) return false;
    auto file = AtomicFile::create(path);
    if (file && file->write("new")) ::kill(::getpid(), signal);
    return false;
  });
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
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
  CHECK(missing.error().code == diag::kFileNotWritable);
  CHECK_FALSE(AtomicFile::create(directory.file("")));
}

TEST_CASE("a device is written directly") {
  auto file = AtomicFile::create("/dev/null");
  REQUIRE(file);
  CHECK(file->write("abc"));
  CHECK(file->commit());
}

TEST_CASE("a program that is ended while it writes leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const auto path = directory.write("out", "old");
  for (const bool unnamed_files : {true, false}) {
    if (unnamed_files && !has_unnamed_files()) continue;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
      CAPTURE(unnamed_files);
      CHECK(end_while_writing(path, signal, unnamed_files) == signal);
      CHECK(contents(path) == "old");
      CHECK(files_in(directory.file("")) == 1);
    }
  }
}

TEST_CASE("an atomic file is put in place where no file can be without a name") {
  const TemporaryDirectory directory;
  const auto path = directory.write("out", "old");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  const auto write = [&] {
    if (!refuse_unnamed_files()) return false;
    auto file = AtomicFile::create(path);
    return file && file->write("ab") && file->write("cd") && files_in(directory.file("")) == 1 &&
           contents(path) == "old" && file->commit();
  };
  CHECK(status_of(write) == 0);
  CHECK(contents(path) == "abcd");
  CHECK(files_in(directory.file("")) == 1);
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0640));
}

TEST_CASE(
    "each call that fails while a file is written is an error and leaves the old file alone") {
  struct Call {
    const char* name;
    std::uint32_t number;
    bool unnamed, copied;  // whether it is made where files can be without a name, and elsewhere
  };
  constexpr Call kCalls[] = {
      {"write", SYS_write, true, true},    {"fchmod", SYS_fchmod, true, true},
      {"fsync", SYS_fsync, true, true},    {"close", SYS_close, true, true},
      {"linkat", SYS_linkat, true, false}, {"sendfile", SYS_sendfile, false, true},
#ifdef SYS_rename
      {"rename", SYS_rename, true, true},
#else
      {"rename", SYS_renameat, true, true},
#endif
  };
  const TemporaryDirectory directory;
  const auto path = directory.write("out", "old");
  for (const bool unnamed_files : {true, false}) {
    if (unnamed_files && !has_unnamed_files()) continue;
    for (const Call& call : kCalls) {
      if (!(unnamed_files ? call.unnamed : call.copied)) continue;
      CAPTURE(call.name);
      CAPTURE(unnamed_files);
      const int status = status_of([&] {
        if (!unnamed_files && !refuse_unnamed_files()) return false;
        if (!refuse_call(call.number)) return false;
        const auto written = write_file_atomically(path, "new");
        return !written && written.error().code == diag::kFileNotWritable &&
               written.error().message == "cannot write '" + path + "': Input/output error";
      });
      CHECK(status == 0);
      CHECK(contents(path) == "old");
      CHECK(files_in(directory.file("")) == 1);
    }
  }
}

TEST_CASE("an interrupt while an atomic file is copied leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const auto path = directory.write("out", "old");
  const std::string text(std::size_t{1} << 24, 'x');
  for (const int milliseconds : {0, 1, 2, 4, 8}) {
    const int status = status_of([&] {
      if (!refuse_unnamed_files()) return false;
      auto file = AtomicFile::create(path);
      if (!file || !file->write(text)) return false;
      // Before the other process is there: it may be quick, and doctest has a handler of its own.
      std::signal(SIGINT, SIG_DFL);
      const pid_t interrupted = ::getpid();
      if (::fork() == 0) {
        ::usleep(static_cast<useconds_t>(1000 * milliseconds));
        ::kill(interrupted, SIGINT);
        ::_exit(0);
      }
      const bool committed = static_cast<bool>(file->commit());
      ::pause();
      return committed;
    });
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
    const auto found = contents(path);
    CHECK((found == "old" || found == text));
    CHECK(files_in(directory.file("")) == 1);
  }
}
