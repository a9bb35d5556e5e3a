// Finds the byte offset of the value that a JSON pointer names, by counting the reader's progress.
#include "support/json_offset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
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

}  // namespace

std::optional<std::size_t> json_offset(std::string_view json, std::string_view pointer) {
  std::size_t count = 0;
  PlaceFinder finder(pointer, count);
  const bool good = Json::sax_parse(CountedText(json.data(), &count),
                                    CountedText(json.data() + json.size(), &count), &finder);
  return good ? std::nullopt : finder.found();
}

}  // namespace mir
