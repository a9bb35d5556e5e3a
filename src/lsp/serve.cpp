// Runs the server on two threads: one reads messages, the other handles and analyses.
#include "lsp/serve.hpp"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "lsp/framing.hpp"
#include "lsp/server.hpp"

// note [threads]
// One thread reads and never works, so a cancellation is seen while the server works. The other one
// owns the state. It handles messages in their order, and analyses texts when no message waits.

namespace mir::lsp {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTick = std::chrono::milliseconds(200);
constexpr auto kLongestDrain = std::chrono::milliseconds(500);

/// Messages that were read and not handled yet.
class Inbox {
 public:
  Inbox(int input, CancelledRequests& cancelled)
      : input_(input), cancelled_(cancelled), reader_([this] { read_all(); }) {}
  ~Inbox() {
    stopped_ = true;
    reader_.join();
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// The next message. Without `wait`, only one that is there; else after a while none.
  std::optional<Frame> next(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) changed_.wait_for(lock, kTick, [&] { return has_news_.load(); });
    if (frames_.empty()) return std::nullopt;
    Frame frame = std::move(frames_.front());
    frames_.pop_front();
    has_news_ = !frames_.empty() || closed_;
    return frame;
  }
  /// True if a message waits, or the input has ended.
  const std::atomic<bool>& has_news() const { return has_news_; }
  /// When the input ended; none: it has not.
  std::optional<Clock::time_point> closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  void read_all() {
    FrameReader reader;
    std::array<char, 1 << 16> bytes;
    while (!stopped_) {
      pollfd ready{.fd = input_, .events = POLLIN, .revents = 0};
      const int count = ::poll(&ready, 1, static_cast<int>(kTick.count()));
      if (count == 0 || (count < 0 && errno == EINTR)) continue;
      const ssize_t size = count < 0 ? -1 : ::read(input_, bytes.data(), bytes.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      reader.add({bytes.data(), static_cast<std::size_t>(size)});
      while (auto frame = reader.next()) {
        cancelled_.look_at(frame->body);
        const std::lock_guard lock(mutex_);
        frames_.push_back(std::move(*frame));
        has_news_ = true;
        changed_.notify_one();
      }
    }
    const std::lock_guard lock(mutex_);
    closed_ = Clock::now();
    has_news_ = true;
    changed_.notify_one();
  }

  int input_;
  CancelledRequests& cancelled_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Frame> frames_;
  std::optional<Clock::time_point> closed_;
  std::atomic<bool> has_news_ = false;
  std::atomic<bool> stopped_ = false;
  std::thread reader_;  // last: it uses all others
};

bool write_all(int output, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(output, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

/// Long bodies are not copied.
bool write_message(int output, std::string_view body) {
  constexpr std::size_t kLong = std::size_t{1} << 16;
  if (body.size() < kLong) return write_all(output, framed(body));
  return write_all(output, header_of(body)) && write_all(output, body);
}

bool is_gone(std::int64_t process) {
  return process > 0 && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

/// Gives the pages of freed memory back to the system. An analysis leaves many, and returning them
/// delays no reply.
void return_free_memory() {
#if defined(__GLIBC__)
  (void)malloc_trim(0);
#endif
}

}  // namespace

int serve(int input, int output, const std::string& version, std::vector<DialectText> dialects) {
  CancelledRequests cancelled;
  bool is_writable = true;
  Server server([&](std::string_view body) { is_writable &= write_message(output, body); }, version,
                cancelled, std::move(dialects));
  Inbox inbox(input, cancelled);
  bool has_worked = false;
  const auto handle = [&](Frame frame) {
    has_worked = true;
    frame.error.empty() ? server.receive(std::move(frame.body)) : server.refuse_frame(frame.error);
    if (server.has_freed_memory()) return_free_memory();
  };
  while (!server.has_exited() && is_writable) {
    if (auto frame = inbox.next(false)) {
      handle(*std::move(frame));
      if (const auto closed = inbox.closed(); closed && Clock::now() - *closed > kLongestDrain)
        break;
      continue;
    }
    if (inbox.closed()) break;
    if (server.work(&inbox.has_news())) {
      if (server.has_freed_memory()) return_free_memory();
      continue;
    }
    if (auto waited = inbox.next(true)) {
      handle(*std::move(waited));
    } else if (is_gone(server.client_process())) {
      break;
    } else if (std::exchange(has_worked, false)) {
      return_free_memory();
    }
  }
  return server.has_exited() ? server.exit_status() : 1;
}

}  // namespace mir::lsp
