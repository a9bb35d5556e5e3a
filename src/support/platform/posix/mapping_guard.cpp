// A SIGBUS handler that replaces lost pages of guarded mappings by zeros.
#include "support/platform/posix/mapping_guard.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace mir {
namespace {

struct Guarded {
  std::atomic<std::uintptr_t> begin{0};  ///< 0: free, 1: being filled
  std::atomic<std::size_t> size{0};
  std::atomic<int> descriptor{-1};
  std::atomic<bool> lost{false};

  bool contains(std::uintptr_t address) const {
    const auto first = begin.load(std::memory_order_acquire);
    return first > 1 && address >= first && address - first < size.load();
  }
};

/// State of the handler, usable without locks and without allocation.
struct GuardTable {
  std::array<Guarded, 1024> entries;
  std::uintptr_t page = 4096;
  struct sigaction before {};

  Guarded* find(std::uintptr_t address) {
    for (Guarded& entry : entries) {
      if (entry.contains(address)) return &entry;
    }
    return nullptr;
  }
};

void install_handler(GuardTable& table);

GuardTable& table() {
  static GuardTable instance;
  [[maybe_unused]] static const bool installed = [] {
    install_handler(instance);
    return true;
  }();
  return instance;
}

/// Every page from the one touched to the end of the mapping is gone.
bool replace_pages(GuardTable& table, Guarded& entry, std::uintptr_t address) {
  const std::uintptr_t first = address / table.page * table.page;
  const std::uintptr_t end = entry.begin.load() + entry.size.load();
  void* const at = reinterpret_cast<void*>(first);
  entry.lost.store(true);
  return ::mmap(at, end - first, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == at;
}

void hand_on(const struct sigaction& before, int signal, siginfo_t* information, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, information, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    // Delivered when the handler returns: ends the program as it would have ended without us.
    struct sigaction fatal {};
    fatal.sa_handler = SIG_DFL;
    ::sigaction(signal, &fatal, nullptr);
    ::raise(signal);
  }
}

void on_bus_error(int signal, siginfo_t* information, void* context) {
  const int error = errno;
  GuardTable& guarded = table();
  const auto address = reinterpret_cast<std::uintptr_t>(information->si_addr);
  const bool is_fault = information->si_code == BUS_ADRERR;
  Guarded* entry = is_fault ? guarded.find(address) : nullptr;
  if (entry == nullptr || !replace_pages(guarded, *entry, address))
    hand_on(guarded.before, signal, information, context);
  errno = error;
}

void install_handler(GuardTable& table) {
  table.page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &table.before);
}

}  // namespace

bool guard_mapping(std::span<const std::byte> bytes, int descriptor) {
  for (Guarded& entry : table().entries) {
    std::uintptr_t free = 0;
    if (!entry.begin.compare_exchange_strong(free, 1)) continue;
    entry.size.store(bytes.size());
    entry.descriptor.store(descriptor);
    entry.lost.store(false);
    entry.begin.store(reinterpret_cast<std::uintptr_t>(bytes.data()), std::memory_order_release);
    return true;
  }
  return false;
}

void release_mapping(std::span<const std::byte> bytes) {
  Guarded* entry = table().find(reinterpret_cast<std::uintptr_t>(bytes.data()));
  if (entry == nullptr) return;
  const int descriptor = entry->descriptor.load();
  entry->begin.store(0, std::memory_order_release);
  ::close(descriptor);
}

std::span<const std::byte> guarded_mapping(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const Guarded* entry = table().find(reinterpret_cast<std::uintptr_t>(bytes.data()));
  if (entry == nullptr) return {};
  return {reinterpret_cast<const std::byte*>(entry->begin.load()), entry->size.load()};
}

bool lies_in_shortened_file(std::span<const std::byte> bytes) {
  if (bytes.empty()) return false;
  const Guarded* entry = table().find(reinterpret_cast<std::uintptr_t>(bytes.data()));
  if (entry == nullptr) return false;
  struct stat status {};
  return entry->lost.load() || ::fstat(entry->descriptor.load(), &status) != 0 ||
         static_cast<std::uint64_t>(status.st_size) < entry->size.load();
}

std::optional<MappingStamp> mapping_stamp(std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::nullopt;
  const Guarded* entry = table().find(reinterpret_cast<std::uintptr_t>(bytes.data()));
  struct stat status {};
  if (entry == nullptr || ::fstat(entry->descriptor.load(), &status) != 0) return std::nullopt;
  const auto nanoseconds = [](const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return MappingStamp{.device = static_cast<std::uint64_t>(status.st_dev),
                      .inode = static_cast<std::uint64_t>(status.st_ino),
                      .size = static_cast<std::uint64_t>(status.st_size),
                      .modified = nanoseconds(status.st_mtim),
                      .changed = nanoseconds(status.st_ctim)};
}

void forget_pages(std::span<const std::byte> bytes) {
  const GuardTable& guarded = table();
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = (begin + guarded.page - 1) / guarded.page * guarded.page;
  const std::uintptr_t end = (begin + bytes.size()) / guarded.page * guarded.page;
  if (bytes.empty() || first >= end || table().find(begin) == nullptr) return;
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace mir
