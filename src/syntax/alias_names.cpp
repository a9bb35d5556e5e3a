// Makes names of aliases from the spelling of types and QuantSpecs.
#include "syntax/alias_names.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/characters.hpp"

namespace mir {

namespace {

/// Long words of element types and kinds of quantisation.
constexpr std::pair<std::string_view, std::string_view> kShortWords[] = {
    {"BFloat", "bf"},    {"Float", "f"},       {"UInt", "u"},      {"Int", "i"},   {"Bool", "b"},
    {"PerTensor", "pt"}, {"PerChannel", "pc"}, {"PerBlock", "pb"}, {"Sym", "sym"}, {"Asym", "asym"},
};

/// `UInt16PerTensor` is `u16pt`.
std::string shortened(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const auto* const word = std::ranges::find_if(
        kShortWords, [&](const auto& each) { return text.starts_with(each.first); });
    const bool is_known = word != std::end(kShortWords);
    name += is_known ? std::string(word->second) : lower_case(text.substr(0, 1));
    text.remove_prefix(is_known ? word->first.size() : 1);
  }
  return name;
}

std::string without_spaces(std::string_view text) {
  std::string result(text);
  std::erase_if(result, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
  return result;
}

/// Returns what follows `begin` up to one of `ends`; empty if there is none.
std::string_view after(std::string_view text, std::string_view begin, std::string_view ends) {
  const std::size_t at = text.find(begin);
  if (at == text.npos) return "";
  text.remove_prefix(at + begin.size());
  return text.substr(0, text.find_first_of(ends));
}

/// Makes what follows the first character a word.
std::string as_word(std::string name) {
  std::ranges::replace_if(
      name.begin() + 1, name.end(), [](char c) { return !is_name_character(c); }, '_');
  if (name.size() == 1 || is_digit(name[1])) name.insert(1, "_");
  return name;
}

}  // namespace

std::string alias_of_type(std::string_view type) {
  const std::string text = without_spaces(type);
  const std::string_view extents = after(text, "[", "]");
  const std::string_view dtype = after(text, "],", ",>");
  std::string name = "!" + shortened(dtype);
  if (!extents.empty()) name += '_';
  for (const char c : extents) {
    if (c != '$') name += c == ',' ? 'x' : c == '?' ? 'u' : c;
  }
  const std::string_view rest =
      std::string_view(text).substr(std::min(text.find("],"), text.size()));
  const std::string_view device =
      after(rest.substr(std::min(rest.size(), dtype.size() + 2)), ",", ",>");
  if (!device.empty() && device != "CPU") name.append("_").append(device);
  return as_word(std::move(name));
}

std::string alias_of_quant_spec(std::string_view spec) {
  const std::string text = without_spaces(spec);
  const std::string_view kind = after(text, "QuantSpec(", "(,)");
  const std::string_view stored = after(text, "quant_to_type:", ",)");
  const std::string_view raw = after(text, "(type:", ",)");
  const std::string_view uuid = after(text, ",uuid=", ",)");
  std::string name = "#q";
  for (const std::string& part :
       {shortened(stored.empty() ? raw : stored),
        shortened(kind.ends_with("PerTensor") ? kind.substr(0, kind.size() - 9) : kind),
        std::string(uuid.starts_with('-') ? "" : uuid)}) {
    if (!part.empty()) name.append("_").append(part);
  }
  return as_word(std::move(name));
}

}  // namespace mir
