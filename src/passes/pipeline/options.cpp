// Values of the options of a pass.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "mir/codes/passes.hpp"
#include "mir/pass.hpp"
#include "passes/pipeline/words.hpp"

namespace mir {

namespace {

template <class T>
std::optional<T> read(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Describes the values that a row takes, if it does not take `value`; empty if it does.
std::string wanted_instead(const PassOption& row, std::string_view value) {
  using Kind = PassOption::Kind;
  switch (row.kind) {
    case Kind::kFlag:
      return value.empty() ? "" : "no value";
    case Kind::kInteger: {
      const auto number = read<std::int64_t>(value);
      if (number && *number >= row.least && *number <= row.most) return "";
      const bool is_bounded = row.least != PassOption().least || row.most != PassOption().most;
      return is_bounded ? fmt::format("an integer from {} to {}", row.least, row.most)
                        : "an integer";
    }
    case Kind::kNumber:
      return read<double>(value) ? "" : "a number";
    case Kind::kText: {
      const bool fits =
          row.choices.empty() || std::ranges::find(row.choices, value) != row.choices.end();
      return fits ? "" : fmt::format("one of {}", fmt::join(row.choices, ", "));
    }
  }
  return "";
}

}  // namespace

std::optional<std::size_t> PassOptions::find(std::string_view name) const {
  auto found = std::ranges::find_if(
      rows_, [&](const PassOption& row) { return row.name == name && !row.is_keyed; });
  if (found == rows_.end()) found = std::ranges::find(rows_, true, &PassOption::is_keyed);
  if (found == rows_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rows_.begin());
}

Result<void> PassOptions::take(std::size_t row, std::string_view value, std::string_view key) {
  const PassOption& option = rows_[row];
  const std::string_view name = option.is_keyed ? key : std::string_view(option.name);
  if (const std::string wanted = wanted_instead(option, value); !wanted.empty()) {
    return Error{diag::kPipeline, fmt::format("'{}' takes {}, found '{}'", name, wanted, value)};
  }
  std::optional<std::vector<std::string>>& given = given_[row];
  const auto has_key = [&](std::string_view text) {
    return pipeline_text::key_and_value(text).first == key;
  };
  const bool is_given = given && (!option.is_keyed || std::ranges::any_of(*given, has_key));
  if (is_given && !option.is_list) {
    return Error{diag::kPipeline, fmt::format("'{}' is given twice", name)};
  }
  if (!given) given.emplace();
  given->push_back(option.is_keyed ? fmt::format("{}={}", key, value) : std::string(value));
  return {};
}

std::size_t PassOptions::row_of(std::string_view name) const {
  const auto row = std::ranges::find(rows_, name, &PassOption::name);
  assert(row != rows_.end());
  return static_cast<std::size_t>(row - rows_.begin());
}

std::string_view PassOptions::one(std::string_view name) const {
  const std::size_t row = row_of(name);
  assert(!rows_[row].is_list);
  return given_[row] ? std::string_view(given_[row]->front()) : rows_[row].by_default;
}

bool PassOptions::flag(std::string_view name) const {
  return given_[row_of(name)].has_value();
}

std::int64_t PassOptions::integer(std::string_view name) const {
  return read<std::int64_t>(one(name)).value_or(0);
}

double PassOptions::number(std::string_view name) const {
  return read<double>(one(name)).value_or(0);
}

std::string_view PassOptions::text(std::string_view name) const {
  return one(name);
}

std::vector<std::string_view> PassOptions::texts(std::string_view name) const {
  const auto& given = given_[row_of(name)];
  if (!given) return {};
  return {given->begin(), given->end()};
}

std::vector<std::int64_t> PassOptions::integers(std::string_view name) const {
  std::vector<std::int64_t> list;
  for (const std::string_view each : texts(name))
    list.push_back(read<std::int64_t>(each).value_or(0));
  return list;
}

std::vector<std::pair<std::string_view, std::int64_t>> PassOptions::keyed_integers(
    std::string_view name) const {
  std::vector<std::pair<std::string_view, std::int64_t>> list;
  for (const std::string_view each : texts(name)) {
    const auto [key, value] = pipeline_text::key_and_value(each);
    list.emplace_back(key, read<std::int64_t>(value).value_or(0));
  }
  return list;
}

}  // namespace mir
