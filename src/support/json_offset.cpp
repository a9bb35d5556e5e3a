// Finds the byte offset of the value that a JSON pointer names, by counting the reader's progress.
#include "support/json_offset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace mir {

namespace {

using Json = nlohmann::json;

/// Tells how far the JSON reader has got, which copies the iterators that it is given.
class CountedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedText(const char* at, std::size_t* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  CountedText& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  bool operator==(const CountedText& other) const { return at_ == other.at_; }
  bool operator!=(const CountedText& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

/// Stops at the value that the pointer names.
class PlaceFinder {
 public:
  PlaceFinder(std::string_view pointer, const std::size_t& count)
      : pointer_(pointer),
        depth_(static_cast<std::size_t>(std::ranges::count(pointer, '/'))),
        count_(count) {}

  std::optional<std::size_t> found() const { return found_; }

  bool null() { return scalar(); }
  bool boolean(bool) { return scalar(); }
  bool number_integer(Json::number_integer_t) { return scalar(); }
  bool number_unsigned(Json::number_unsigned_t) { return scalar(); }
  bool number_float(Json::number_float_t, const Json::string_t&) { return scalar(); }
  bool string(Json::string_t&) { return scalar(); }
  bool binary(Json::binary_t&) { return scalar(); }
  bool start_object(std::size_t) { return open(false); }
  bool start_array(std::size_t) { return open(true); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(Json::string_t& name) {
    path_.back().name = name;
    return true;
  }
  template <class Problem>
  bool parse_error(std::size_t position, const std::string&, const Problem&) {
    found_ = position == 0 ? 0 : position - 1;
    return false;
  }

 private:
  struct Level {
    bool is_array = false;
    std::size_t next = 0;
    std::string name;
  };

  void count_element() {
    if (path_.empty() || !path_.back().is_array) return;
    path_.back().name = fmt::to_string(path_.back().next++);
  }
  bool scalar() {
    count_element();
    return true;
  }
  bool open(bool is_array) {
    count_element();
    if (is_meant()) {
      found_ = count_ - 1;  // its bracket was the last that was read
      return false;
    }
    path_.push_back({.is_array = is_array, .next = 0, .name = {}});
    return true;
  }
  bool is_meant() const {
    if (path_.size() != depth_) return false;
    std::string here;
    for (const Level& level : path_) here += "/" + level.name;
    return here == pointer_;
  }
  bool close() {
    path_.pop_back();
    return true;
  }

  std::string_view pointer_;
  std::size_t depth_;
  const std::size_t& count_;
  std::optional<std::size_t> found_;
  std::vector<Level> path_;
};

/// Stops at a key that its object has already.
class SecondKeyFinder {
 public:
  SecondKeyFinder(std::string_view json, const std::size_t& count) : json_(json), count_(count) {}

  std::size_t found() const { return found_; }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(Json::number_integer_t) { return true; }
  bool number_unsigned(Json::number_unsigned_t) { return true; }
  bool number_float(Json::number_float_t, const Json::string_t&) { return true; }
  bool string(Json::string_t&) { return true; }
  bool binary(Json::binary_t&) { return true; }
  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(Json::string_t& name) {
    if (keys_.back().insert(name).second) return true;
    found_ = opening_quote(count_ - 1);
    return false;
  }
  template <class Problem>
  bool parse_error(std::size_t position, const std::string&, const Problem&) {
    found_ = position == 0 ? 0 : position - 1;
    return false;
  }

 private:
  bool open() {
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }
  /// The quote that opens the string whose closing one is at `end`.
  std::size_t opening_quote(std::size_t end) const {
    std::size_t at = end;
    while (at > 0) {
      if (json_[--at] != '"') continue;
      std::size_t escapes = 0;
      while (escapes < at && json_[at - 1 - escapes] == '\\') ++escapes;
      if (escapes % 2 == 0) break;
    }
    return at;
  }

  std::string_view json_;
  const std::size_t& count_;
  std::size_t found_ = 0;
  std::vector<std::set<std::string>> keys_;
};

/// Passes the events of a text to a handler, which has the count of bytes that were read.
template <class Handler>
bool read_events(std::string_view json, std::size_t& count, Handler& handler) {
  return Json::sax_parse(CountedText(json.data(), &count),
                         CountedText(json.data() + json.size(), &count), &handler);
}

}  // namespace

std::optional<std::size_t> json_offset(std::string_view json, std::string_view pointer) {
  std::size_t count = 0;
  PlaceFinder finder(pointer, count);
  return read_events(json, count, finder) ? std::nullopt : finder.found();
}

std::size_t refused_json_offset(std::string_view json) {
  if (const std::size_t at = json.find('\0'); at != json.npos) return at;
  std::size_t count = 0;
  SecondKeyFinder finder(json, count);
  read_events(json, count, finder);
  return finder.found();
}

}  // namespace mir
