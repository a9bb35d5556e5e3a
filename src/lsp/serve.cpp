// Runs the server on two threads: one reads messages, the other handles and analyses.
#include "lsp/serve.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "lsp/framing.hpp"
#include "lsp/server.hpp"
#include "support/platform/memory.hpp"
#include "support/platform/streams.hpp"
#include "support/platform/threads.hpp"

// note [threads]
// One thread reads and never works, so a cancellation is seen while the server works. The other one
// owns the state. It handles messages in their order, and analyses texts when no message waits.
// Without threads it reads when nothing is left to do.

namespace mir::lsp {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kTick = std::chrono::milliseconds(200);
constexpr auto kLongestDrain = std::chrono::milliseconds(500);

/// Messages that were read and not handled yet.
class Inbox {
 public:
  Inbox(int input, CancelledRequests& cancelled)
      : input_(input), cancelled_(cancelled), reader_(Thread::start([this] { read_all(); })) {}
  ~Inbox() {
    stopped_ = true;
    reader_.reset();
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// The next message. Without `wait`, only one that is there; else after a while none.
  std::optional<Frame> next(bool wait) {
    if (wait && !reader_ && !has_news_) read_some();
    std::unique_lock lock(mutex_);
    if (wait && reader_) changed_.wait_for(lock, kTick, [&] { return has_news_.load(); });
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
    while (!stopped_ && read_some()) {
    }
  }

  /// Takes what has arrived, after waiting for it for a tick. False if nothing will come any more.
  bool read_some() {
    if (!wait_for_bytes(input_, kTick)) return true;
    const auto size = read_bytes(input_, bytes_);
    const bool is_open = size && *size != 0;
    if (is_open) frame_reader_.add({bytes_.data(), *size});
    while (auto frame = is_open ? frame_reader_.next() : std::nullopt) {
      cancelled_.look_at(frame->body);
      const std::lock_guard lock(mutex_);
      frames_.push_back(std::move(*frame));
      has_news_ = true;
      changed_.notify_one();
    }
    if (is_open) return true;
    const std::lock_guard lock(mutex_);
    closed_ = Clock::now();
    has_news_ = true;
    changed_.notify_one();
    return false;
  }

  int input_;
  CancelledRequests& cancelled_;
  FrameReader frame_reader_;
  std::array<char, 1 << 16> bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Frame> frames_;
  std::optional<Clock::time_point> closed_;
  std::atomic<bool> has_news_ = false;
  std::atomic<bool> stopped_ = false;
  std::optional<Thread> reader_;  // last: it uses all others
};

/// Long bodies are not copied.
bool write_message(int output, std::string_view body) {
  constexpr std::size_t kLong = std::size_t{1} << 16;
  if (body.size() < kLong) return write_bytes(output, framed(body));
  return write_bytes(output, header_of(body)) && write_bytes(output, body);
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
    } else if (has_ended(server.client_process())) {
      break;
    } else if (std::exchange(has_worked, false)) {
      return_free_memory();
    }
  }
  return server.has_exited() ? server.exit_status() : 1;
}

}  // namespace mir::lsp
