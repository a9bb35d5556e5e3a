// Spawns a shell, collects its output within limits and kills its process group.
#include "support/platform/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include "mir/codes/limits.hpp"

namespace mir {

namespace {

using Clock = std::chrono::steady_clock;

Error trouble(std::string_view what, int number) {
  return {diag::kLimitExceeded,
          fmt::format("{}: {}", what, std::generic_category().message(number))};
}

class OpenFile {
 public:
  explicit OpenFile(int number = -1) : number_(number) {}
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OpenFile() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (is_open()) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

/// Becomes readable when the process ends. C++ programs cannot call glibc 2.36's own function.
int open_process(pid_t process) {
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
}

struct Pipe {
  OpenFile reader;
  OpenFile writer;
};

std::optional<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  // Only the end that is read here waits for nothing.
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{OpenFile(ends[0]), OpenFile(ends[1])};
}

/// File actions of posix_spawn(); freed with the object.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// A process group of its own, no signal blocked or ignored. False when memory is short.
  bool prepare(const std::string& folder, int out, int err) {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    constexpr short kFlags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    return ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str()) == 0 &&
           ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0) == 0 &&
           ::posix_spawn_file_actions_adddup2(&actions_, out, 1) == 0 &&
           ::posix_spawn_file_actions_adddup2(&actions_, err, 2) == 0 &&
           ::posix_spawnattr_setsigmask(&attributes_, &none) == 0 &&
           ::posix_spawnattr_setsigdefault(&attributes_, &all) == 0 &&
           ::posix_spawnattr_setflags(&attributes_, kFlags) == 0;
  }
  /// The error number of posix_spawn().
  int spawn(std::vector<std::string> words, std::vector<std::string> environment,
            pid_t& process) const {
    std::vector<char*> arguments, variables;
    for (std::string& word : words) arguments.push_back(word.data());
    for (std::string& variable : environment) variables.push_back(variable.data());
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    return ::posix_spawnp(&process, arguments.front(), &actions_, &attributes_, arguments.data(),
                          variables.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A running shell. The destructor kills its group and waits for it.
class Shell {
 public:
  Shell(pid_t process, OpenFile out, OpenFile err, const CommandSetting& setting)
      : process_(process),
        watch_(open_process(process)),
        out_(std::move(out)),
        err_(std::move(err)),
        setting_(setting),
        deadline_(Clock::now() + setting.time_limit) {}
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() { finish(); }

  Result<CommandResult> run() {
    if (!watch_.is_open()) return trouble("cannot watch a command", errno);
    CommandResult result;
    while (!wait(result)) {
    }
    result.status = finish();
    // Text written before the end may still be in the pipes.
    take(out_, result, result.out);
    take(err_, result, result.err);
    return result;
  }

 private:
  /// Waits for something to happen; true when it is the end.
  bool wait(CommandResult& result) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    if (left.count() <= 0) return end(result, CommandEnd::kTimeLimit);
    std::array<pollfd, 4> watched = {{{watch_.number(), POLLIN, 0},
                                      {setting_.interrupt, POLLIN, 0},
                                      {out_.number(), POLLIN, 0},
                                      {err_.number(), POLLIN, 0}}};
    constexpr std::chrono::milliseconds kLongest{60'000};
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::min(left, kLongest).count())) <
        0) {
      return errno != EINTR;
    }
    if (watched[1].revents != 0) return end(result, CommandEnd::kInterrupted);
    if (watched[2].revents != 0) take(out_, result, result.out);
    if (watched[3].revents != 0) take(err_, result, result.err);
    return result.end != CommandEnd::kExited || watched[0].revents != 0;
  }

  static bool end(CommandResult& result, CommandEnd how) {
    result.end = how;
    return true;
  }

  /// Appends what a pipe holds; closes it at its end.
  void take(OpenFile& pipe, CommandResult& result, std::string& text) {
    std::array<char, 1 << 16> buffer;
    while (pipe.is_open()) {
      if (result.out.size() + result.err.size() > setting_.output_limit) {
        if (result.end == CommandEnd::kExited) result.end = CommandEnd::kOutputLimit;
        return;
      }
      const ssize_t count = ::read(pipe.number(), buffer.data(), buffer.size());
      if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
      if (count < 0 && errno == EAGAIN) return;
      if (count == 0 || (count < 0 && errno != EINTR)) pipe.close();
    }
  }

  /// Ends the group; the status of the shell. The group's number is its own until it is waited for.
  int finish() {
    if (process_ < 0) return 0;
    ::kill(-process_, SIGKILL);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  pid_t process_;
  OpenFile watch_;
  OpenFile out_;
  OpenFile err_;
  const CommandSetting& setting_;
  Clock::time_point deadline_;
};

std::vector<std::string> words_of(CommandShell shell) {
  if (shell == CommandShell::kPosix) return {"sh", "-c"};
  return {"bash", "-o", "pipefail", "-c"};
}

}  // namespace

Result<CommandResult> run_command(const std::string& line, const CommandSetting& setting) {
  std::vector<std::string> words = words_of(setting.shell);
  const std::string no_shell = fmt::format("cannot run '{}'", words.front());
  words.push_back(line);
  auto out = open_pipe(), err = open_pipe();
  if (!out || !err) return trouble("cannot open a pipe", errno);
  SpawnPlan plan;
  if (!plan.prepare(setting.folder, out->writer.number(), err->writer.number())) {
    return trouble(no_shell, ENOMEM);
  }
  pid_t process = -1;
  const int number = plan.spawn(std::move(words), setting.environment, process);
  if (number != 0) return trouble(no_shell, number);
  out->writer.close();
  err->writer.close();
  return Shell(process, std::move(out->reader), std::move(err->reader), setting).run();
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) {
    variables.emplace_back(*each);
  }
  return variables;
}

}  // namespace mir
