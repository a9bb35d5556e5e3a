// Kinds of arguments of options: reading, description and completion.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "reference.hpp"

namespace mir::tools {

/// Completions that a shell offers for an argument.
struct Completion {
  std::vector<std::string> words{};  ///< one that ends in `=`, `.` or `@` is continued by the user
  std::string_view files{};          ///< ends of file names with one space between; `*`: any name
  bool folders = false;
  bool is_list = false;  ///< takes several words with commas between
};

/// A kind of argument. `read` is given the option's name for its errors.
template <class T>
struct Argument {
  std::function<Result<T>(std::string_view option, std::string_view text)> read;
  /// Returns the end of the help text, given the default or null: the choices, the default.
  std::function<std::string(const T* by_default)> note;
  std::function<Completion()> completion = [] { return Completion{}; };
  References<T> refers{};
};

/// "; did you mean 'known'?" for the one of `known` that `word` is nearly; else nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);
/// The error of a command line that cannot be read.
Error usage_error(std::string message);
/// " (default: text)"
std::string default_note(std::string_view text);
/// "a, b or c"
std::string alternatives(std::span<const std::string> words);

/// The note of arguments whose default prints as itself.
template <class T>
std::string plain_note(const T* by_default) {
  return by_default == nullptr ? std::string() : default_note(fmt::to_string(*by_default));
}

/// Any text. Completion only suggests words; others are accepted.
Argument<std::string> any_text(References<std::string> refers,
                               std::function<Completion()> completion = {});
/// The name of a module or graph, with or without `@`.
Argument<std::string> symbol_name(ReferenceKind kind);
/// The name of a value, with or without `%`.
Argument<std::string> value_name();
/// The name of a file, for which those that end so are offered: `npy npz`.
Argument<std::string> any_file(References<std::string> refers, std::string_view ends = "*");
/// A file that the command reads. `-` is standard input.
Argument<std::string> read_file_name(std::string_view ends = "*");
/// A file that the command writes. `-` is standard output.
Argument<std::string> written_file(std::string_view ends = "*");
/// The name of a folder that is read; `-` is none.
Argument<std::string> read_folder();
/// A folder in which files are written; `may_write` is true for the names that they can have.
Argument<std::string> written_folder(bool (*may_write)(std::string_view name));

/// Numbers of `--name`; a bound that is not stated is that of the type.
template <class T>
struct Range {
  std::optional<T> least{};
  std::optional<T> most{};
};

/// "--name is a number from 1 to 8, found 'x'"
Error refused_number(std::string_view option, std::string_view least, std::string_view most,
                     std::string_view found);

/// A number in decimal.
template <class T>
requires std::integral<T> || std::floating_point<T> Argument<T> number(Range<T> range = {}) {
  const auto bound = [](const std::optional<T>& value) {
    return value ? fmt::to_string(*value) : std::string();
  };
  const auto read = [=](std::string_view option, std::string_view text) -> Result<T> {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (is_number && value >= range.least.value_or(value) && value <= range.most.value_or(value))
      return value;
    return refused_number(option, bound(range.least), bound(range.most), text);
  };
  return {.read = read, .note = plain_note<T>};
}

/// Bytes, or a number of units of 1024, 1024^2 or 1024^3 bytes: `64MiB`.
Argument<std::uint64_t> byte_size();

/// One word that an argument can be.
template <class T>
struct Choice {
  std::string_view word;
  T value;
  std::string_view meaning{};  ///< if the word does not tell it
};

/// A word and its meaning, as help texts list them.
struct ChoiceText {
  std::string_view word;
  std::string_view meaning;
  bool is_default = false;
};
/// ": a (meaning; default), b or c"
std::string choice_note(std::span<const ChoiceText> choices);
/// "--name is a, b or c, found 'x'"
Error refused_choice(std::string_view option, std::span<const std::string_view> words,
                     std::string_view found);

/// One of a few words, each of which selects a value.
template <class T>
Argument<T> choice_of(std::vector<Choice<T>> choices) {
  const auto read = [choices](std::string_view option, std::string_view text) -> Result<T> {
    const auto found = std::ranges::find(choices, text, &Choice<T>::word);
    if (found != choices.end()) return found->value;
    std::vector<std::string_view> words;
    for (const Choice<T>& each : choices) words.push_back(each.word);
    return refused_choice(option, words, text);
  };
  const auto note = [choices](const T* by_default) {
    std::vector<ChoiceText> texts;
    for (const Choice<T>& each : choices)
      texts.push_back({each.word, each.meaning, by_default && each.value == *by_default});
    return choice_note(texts);
  };
  const auto completion = [choices] {
    Completion offered;
    for (const Choice<T>& each : choices) offered.words.emplace_back(each.word);
    return offered;
  };
  return {.read = read, .note = note, .completion = completion};
}
/// Like choice_of(), for a table of rows.
template <class T, std::size_t N>
Argument<T> choice(const Choice<T> (&choices)[N]) {
  return choice_of(std::vector<Choice<T>>(std::begin(choices), std::end(choices)));
}

/// An empty note, for arguments without choices and default.
template <class T>
std::string no_note(const T*) {
  return {};
}

/// An argument that a function of the library reads. Its error is shown as it is.
template <class T>
Argument<T> read_by(
    Result<T> (*parse)(std::string_view), std::type_identity_t<References<T>> refers,
    std::function<Completion()> completion = [] { return Completion{}; }) {
  const auto read = [parse](std::string_view, std::string_view text) -> Result<T> {
    auto value = parse(text);
    if (!value) return usage_error(std::move(value).error().message);
    return value;
  };
  return {.read = read,
          .note = no_note<T>,
          .completion = std::move(completion),
          .refers = std::move(refers)};
}

/// Like the above, with an error of its own: "--name is `form`, found 'x'".
template <class T>
Argument<T> read_by(
    std::optional<T> (*parse)(std::string_view), std::string form,
    std::type_identity_t<References<T>> refers,
    std::function<Completion()> completion = [] { return Completion{}; }) {
  const auto read = [parse, form](std::string_view option, std::string_view text) -> Result<T> {
    if (auto value = parse(text)) return *std::move(value);
    return usage_error(fmt::format("--{} is {}, found '{}'", option, form, text));
  };
  return {.read = read,
          .note = no_note<T>,
          .completion = std::move(completion),
          .refers = std::move(refers)};
}

}  // namespace mir::tools
