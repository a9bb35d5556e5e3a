// A descriptor of an open file.
#pragma once

#include <unistd.h>

#include <utility>

namespace mir {

/// Closes its descriptor, unless it belongs to someone else.
class Descriptor {
 public:
  explicit Descriptor(int number, bool owned = true) : number_(number), owned_(owned) {}
  Descriptor(Descriptor&& other) noexcept
      : number_(other.number_), owned_(std::exchange(other.owned_, false)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (owned_ && number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  /// It is no longer closed here.
  void release() { owned_ = false; }

 private:
  int number_;
  bool owned_;
};

}  // namespace mir
