// Functions of chat templates: ranges, namespaces, dates and errors of their own.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "chat/operations.hpp"

namespace mir::chat {
namespace {

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};

Result<Value> range(const Arguments& arguments, Budget& budget) {
  std::int64_t bounds[3] = {0, 0, 1};
  const std::size_t count = arguments.positional.size();
  if (count == 0 || count > 3 || !arguments.named.empty())
    return template_failed("'range' takes one to three integers");
  for (std::size_t i = 0; i < count; ++i) {
    const auto bound = arguments.positional[i].integer();
    if (!bound) return template_failed("'range' takes integers");
    bounds[count == 1 ? 1 : i] = *bound;
  }
  const auto [begin, end, step] = bounds;
  // Jinja's sandbox has the same limit.
  constexpr std::uint64_t kMost = 100'000;
  if (step == 0) return template_failed("the step of 'range' is 0");
  std::vector<Value> items;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end;) {
    if (items.size() == kMost)
      return template_failed(fmt::format("'range' has more than {} integers", kMost));
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return budget.list(std::move(items));
}

/// The parts of a date and a time of day in UTC.
Result<Value> date_text(const std::string& form, std::int64_t now, Budget& budget) {
  // The longest part is the 9 letters of a month or a day for 2 characters of the form.
  if (const auto good = budget.bytes(5 * form.size() + sizeof(std::string)); !good)
    return good.error();
  const std::chrono::sys_seconds at{std::chrono::seconds(now)};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  const auto month = static_cast<unsigned>(date.month()),
             of_month = static_cast<unsigned>(date.day());
  const std::string_view month_name = kMonths[month - 1];
  const std::string_view day_name = kDays[std::chrono::weekday(day).c_encoding()];
  const auto first = std::chrono::sys_days(date.year() / std::chrono::January / 1);
  std::string text;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '%') {
      text += form[i];
      continue;
    }
    const bool has_padding = i + 1 >= form.size() || form[i + 1] != '-';
    i += has_padding ? 1 : 2;
    const char part = i < form.size() ? form[i] : '\0';
    const auto number = [&](auto value) {
      return fmt::format("{:0{}}", static_cast<std::int64_t>(value), has_padding ? 2 : 1);
    };
    switch (part) {
      case 'Y':
        text += fmt::format("{}", static_cast<int>(date.year()));
        break;
      case 'y':
        text += number(static_cast<int>(date.year()) % 100);
        break;
      case 'm':
        text += number(month);
        break;
      case 'd':
        text += number(of_month);
        break;
      case 'H':
        text += number(time.hours().count());
        break;
      case 'I':
        text += number((time.hours().count() + 11) % 12 + 1);
        break;
      case 'M':
        text += number(time.minutes().count());
        break;
      case 'S':
        text += number(time.seconds().count());
        break;
      case 'p':
        text += time.hours().count() < 12 ? "AM" : "PM";
        break;
      case 'j':
        text += fmt::format("{:0{}}", (day - first).count() + 1, has_padding ? 3 : 1);
        break;
      case 'B':
        text += month_name;
        break;
      case 'b':
        text += month_name.substr(0, 3);
        break;
      case 'A':
        text += day_name;
        break;
      case 'a':
        text += day_name.substr(0, 3);
        break;
      case '%':
        text += '%';
        break;
      default:
        return template_unsupported(
            "'strftime_now' supports %Y %y %m %d %H %I %M %S %p %j %B %b "
            "%A %a");
    }
  }
  return Value(std::move(text));
}

}  // namespace

bool is_function(std::string_view name) {
  return name == "range" || name == "dict" || name == "namespace" || name == "strftime_now" ||
         name == "raise_exception";
}

Result<Value> call_function(std::string_view name, const Arguments& arguments, std::int64_t now,
                            Budget& budget) {
  if (name == "range") return range(arguments, budget);
  if (name == "raise_exception" || name == "strftime_now") {
    ArgumentReader reader(name, arguments);
    const auto given = reader.needed("message");
    if (!given) return given;
    const auto text = text_of(*given, budget);
    if (!text) return text.error();
    if (name == "strftime_now") return date_text(*text, now, budget);
    constexpr std::size_t kMostShown = 4096;
    std::size_t shown = std::min(text->size(), kMostShown);
    while (shown < text->size() && shown > 0 && ((*text)[shown] & 0xC0) == 0x80) --shown;
    return template_failed(
        fmt::format("the template refuses the messages: {}", text->substr(0, shown)));
  }
  std::vector<std::pair<Value, Value>> members;
  if (!arguments.positional.empty()) {
    const Dict* other = arguments.positional.front().dict();
    if (other == nullptr || arguments.positional.size() > 1)
      return template_unsupported(fmt::format("'{}' takes names with values, or an object", name));
    members = other->members;
  }
  for (const auto& [key, value] : arguments.named) members.emplace_back(Value(key), value);
  if (name == "dict") return budget.dict(std::move(members));
  auto space = std::make_shared<Namespace>();
  if (const auto good = budget.bytes(members.size() * sizeof(Value)); !good) return good.error();
  if (const auto good = budget.work(members.size() * members.size()); !good) return good.error();
  for (auto& [key, value] : members) {
    if (key.string() == nullptr) return template_failed("a name of a namespace must be a string");
    if (value.is_object() || value.holds_objects())
      return template_unsupported(
          "a namespace that holds a namespace, loop or macro is not "
          "supported");
    space->set(*key.string(), std::move(value));
  }
  return Value(std::move(space));
}

}  // namespace mir::chat
