// Tests if a text is interesting by running a command on it in a scratch folder.
#include "tools/reduce/command_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "mir/codes/runs.hpp"
#include "support/file_io.hpp"

namespace mir::tools {

namespace {

constexpr int kFirstSignal = 128;

bool is_wanted(const CommandResult& result, WantedEnd wanted) {
  switch (wanted) {
    case WantedEnd::kTimeLimit:
      return result.end == CommandEnd::kTimeLimit;
    case WantedEnd::kSignal:
      return result.end == CommandEnd::kExited && result.status >= kFirstSignal;
    case WantedEnd::kSuccess:
      break;
  }
  return result.end == CommandEnd::kExited && result.status == 0;
}

/// Describes how the command ended, with the first line of its standard error.
std::string description(const CommandResult& result) {
  if (result.end == CommandEnd::kTimeLimit) return "the command reached --timeout";
  if (result.end == CommandEnd::kOutputLimit) return "the command wrote too much";
  const std::string status = fmt::format("the command exits with {}", result.status);
  const std::string first = result.err.substr(0, result.err.find('\n'));
  return first.empty() ? status : fmt::format("{}: '{}'", status, first);
}

}  // namespace

class CommandTest::Files {
 public:
  /// Returns the first number that is not in use.
  std::size_t take() {
    const std::scoped_lock lock(mutex_);
    const auto free = std::ranges::find(used_, false);
    const auto number = static_cast<std::size_t>(free - used_.begin());
    if (free == used_.end()) used_.push_back(false);
    used_[number] = true;
    return number;
  }
  void give_back(std::size_t number) {
    const std::scoped_lock lock(mutex_);
    used_[number] = false;
  }

 private:
  std::mutex mutex_;
  std::vector<bool> used_;
};

CommandTest::CommandTest(ScratchFolder folder, std::string command, WantedEnd wanted,
                         CommandSetting setting)
    : folder_(std::move(folder)),
      files_(std::make_shared<Files>()),
      command_(std::move(command)),
      wanted_(wanted),
      setting_(std::move(setting)) {}

Result<CommandTest> CommandTest::create(std::string command, WantedEnd wanted,
                                        std::chrono::seconds time_limit, int interrupt) {
  auto folder = ScratchFolder::create("mllm-reduce");
  if (!folder) return std::move(folder).error();
  CommandSetting setting{.shell = CommandShell::kPosix,
                         .folder = ".",
                         .environment = own_environment(),
                         .time_limit = time_limit,
                         .interrupt = interrupt};
  return CommandTest(*std::move(folder), std::move(command), wanted, std::move(setting));
}

Result<reduce::Answer> CommandTest::judge(const std::string& text) const {
  const std::size_t number = files_->take();
  const std::string file =
      fmt::format("{}/candidate{}.mir", folder_.path(), number == 0 ? "" : fmt::to_string(number));
  auto written = write_file_atomically(file, text);
  auto result = written ? run_command(fill_placeholders(command_, {{'s', file}}), setting_)
                        : Result<CommandResult>(std::move(written).error());
  files_->give_back(number);
  if (!result) return result.error();
  if (result->end == CommandEnd::kInterrupted) return Error{diag::kCancelled, "interrupted"};
  return reduce::Answer{is_wanted(*result, wanted_), description(*result)};
}

}  // namespace mir::tools
