// Finds the embedded example of a pass and reads the comments at its head.
#include "passes/pass_texts.hpp"

#include <algorithm>

namespace mir {

namespace {

constexpr PassText kPassTexts[] = {
#include "passes/embedded_passes.inc"
};
static_assert(std::ranges::is_sorted(kPassTexts, {}, &PassText::name));

/// The rest of a comment at the head of a text, with this key; empty if the text has another line.
std::string_view take_line(std::string_view& text, std::string_view key) {
  constexpr std::string_view kComment = "// ";
  if (!text.starts_with(kComment) || !text.substr(kComment.size()).starts_with(key)) return {};
  const std::size_t end = text.find('\n');
  const std::size_t begin = kComment.size() + key.size();
  const std::string_view rest = text.substr(begin, end - begin);
  text.remove_prefix(end + 1);
  return rest;
}

}  // namespace

std::span<const PassText> pass_texts() {
  return kPassTexts;
}

void add_text(Pass& pass) {
  const auto found = std::ranges::lower_bound(kPassTexts, pass.name, {}, &PassText::name);
  if (found == std::end(kPassTexts) || found->name != pass.name) return;
  std::string_view text = found->text;
  pass.example_options = take_line(text, "options: ");
  for (auto fact = take_line(text, "fact: "); !fact.empty(); fact = take_line(text, "fact: ")) {
    pass.example_facts.emplace_back(fact);
  }
  for (auto line = take_line(text, "claim: "); !line.empty(); line = take_line(text, "claim: ")) {
    pass.claim.append(pass.claim.empty() ? "" : " ").append(line);
  }
  pass.example = text;
}

}  // namespace mir
