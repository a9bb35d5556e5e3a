// Splits a byte stream into messages by `Content-Length` headers, and frames replies.
#include "lsp/framing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace mir::lsp {

namespace {

/// Headers may state more than what comes.
constexpr std::size_t kLongestReserved = std::size_t{1} << 26;

bool is_content_length(std::string_view name) {
  constexpr std::string_view kName = "content-length";
  return std::ranges::equal(name, kName, {}, [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The length that the headers state; an empty error text if they do.
std::string read_headers(std::string_view headers, std::size_t& length) {
  bool is_stated = false;
  while (!headers.empty()) {
    const auto end = std::min(headers.find("\r\n"), headers.size());
    const std::string_view line = headers.substr(0, end);
    headers.remove_prefix(std::min(end + 2, headers.size()));
    const auto colon = line.find(':');
    if (colon == line.npos) return fmt::format("header line '{}' has no colon", line.substr(0, 80));
    if (!is_content_length(line.substr(0, colon))) continue;
    const std::string_view digits = trimmed(line.substr(colon + 1));
    const auto [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (error != std::errc() || stop != digits.data() + digits.size()) {
      return fmt::format("Content-Length '{}' is not a number", digits.substr(0, 80));
    }
    if (length > FrameReader::kMaxBody)
      return fmt::format("a body of {} bytes is too long", length);
    is_stated = true;
  }
  return is_stated ? "" : "the headers have no Content-Length";
}

}  // namespace

std::optional<Frame> FrameReader::next() {
  constexpr std::string_view kBlank = "\r\n\r\n";
  if (!body_size_) {
    const auto blank = buffer_.find(kBlank, begin_);
    if (blank == buffer_.npos) {
      if (buffer_.size() - begin_ <= kMaxHeader) return std::nullopt;
      buffer_.clear();
      begin_ = 0;
      return Frame{"", "no blank line ends the headers"};
    }
    std::size_t length = 0;
    std::string error =
        read_headers(std::string_view(buffer_).substr(begin_, blank - begin_), length);
    begin_ = blank + kBlank.size();
    if (!error.empty()) return Frame{"", std::move(error)};
    body_size_ = length;
    if (buffer_.size() - begin_ < length) {
      buffer_.erase(0, std::exchange(begin_, 0));
      buffer_.reserve(std::min(length, kLongestReserved) + kMaxHeader);
    }
  }
  if (buffer_.size() - begin_ < *body_size_) return std::nullopt;
  const std::size_t size = *std::exchange(body_size_, std::nullopt);
  if (size >= buffer_.size() / 2) {
    // A long body is not copied, and the buffer does not keep its memory.
    std::string rest = buffer_.substr(begin_ + size);
    buffer_.resize(begin_ + size);
    buffer_.erase(0, std::exchange(begin_, 0));
    return Frame{std::exchange(buffer_, std::move(rest)), ""};
  }
  Frame frame{buffer_.substr(begin_, size), ""};
  begin_ += size;
  if (begin_ == buffer_.size() || begin_ > kMaxHeader) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return frame;
}

std::string header_of(std::string_view body) {
  return fmt::format("Content-Length: {}\r\n\r\n", body.size());
}

std::string framed(std::string_view body) {
  return header_of(body).append(body);
}

}  // namespace mir::lsp
