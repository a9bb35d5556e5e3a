// Finds stop texts across the boundaries of tokens.
#include "generation/stop_texts.hpp"

#include <algorithm>
#include <utility>

namespace mir::generation {

StopTexts::StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::erase(texts_, std::string());
}

std::string StopTexts::add(std::string_view piece) {
  if (is_found_) return {};
  held_ += piece;
  std::size_t first = std::string::npos;
  for (const std::string& text : texts_) first = std::min(first, held_.find(text));
  if (first != std::string::npos) {
    is_found_ = true;
    return std::exchange(held_, {}).substr(0, first);
  }
  std::size_t kept = 0;  // bytes at the end that may begin a stop text
  for (const std::string& text : texts_) {
    std::size_t size = std::min(text.size() - 1, held_.size());
    while (size > kept && !held_.ends_with(std::string_view(text).substr(0, size))) --size;
    kept = std::max(kept, size);
  }
  std::string certain = held_.substr(0, held_.size() - kept);
  held_.erase(0, certain.size());
  return certain;
}

std::string StopTexts::finish() {
  return std::exchange(held_, {});
}

}  // namespace mir::generation
