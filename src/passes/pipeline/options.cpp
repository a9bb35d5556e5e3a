// Values of the options of a pass.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "mir/pass.hpp"

namespace mir {

namespace {

template <class T>
std::optional<T> read(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What a row takes instead of a value that it does not; empty: it takes the value.
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
  const auto found = std::ranges::find(rows_, name, &PassOption::name);
  if (found == rows_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rows_.begin());
}

Result<void> PassOptions::take(std::size_t row, std::string_view value) {
  const PassOption& option = rows_[row];
  if (const std::string wanted = wanted_instead(option, value); !wanted.empty()) {
    return Error{DiagCode::kPipeline,
                 fmt::format("'{}' takes {}, found '{}'", option.name, wanted, value)};
  }
  std::optional<std::vector<std::string>>& given = given_[row];
  if (given && !option.is_list) {
    return Error{DiagCode::kPipeline, fmt::format("'{}' is given twice", option.name)};
  }
  if (!given) given.emplace();
  given->emplace_back(value);
  return {};
}

std::size_t PassOptions::row_of(std::string_view name) const {
  const auto row = find(name);
  assert(row);
  return *row;
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

}  // namespace mir
