// Unique strings as 32-bit handles.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace mir {

/// Handle of an interned string. Equal handles of one interner mean equal text. Handle 0 is the
/// empty string, so a default Symbol means "none" wherever an empty name has no meaning.
struct Symbol {
  std::uint32_t id = 0;
  auto operator<=>(const Symbol&) const = default;
  explicit operator bool() const { return id != 0; }
};

/// The key of an attribute of the build (mir/attribute_keys.hpp), which has the same handle in each
/// context.
struct AttrKey {
  Symbol symbol;
  std::string_view text;
  constexpr operator Symbol() const { return symbol; }
  constexpr operator std::string_view() const { return text; }
};

/// A key as a parameter: one of the build, or a text.
struct KeyRef {
  constexpr KeyRef(AttrKey key) : text(key.text), symbol(key.symbol) {}
  constexpr KeyRef(std::string_view key) : text(key) {}
  constexpr KeyRef(const char* key) : text(key) {}

  std::string_view text;
  Symbol symbol{};  ///< of a key of the build
};

/// Thread-safe. Text lives as long as the interner; handles are dense and start at 0. Their order
/// is first-come and carries no meaning: nothing may be printed or decided by it.
class StringInterner {
 public:
  /// The handles from 1 on are those of `first`.
  explicit StringInterner(std::span<const std::string_view> first = {});
  ~StringInterner();
  StringInterner(const StringInterner&) = delete;
  StringInterner& operator=(const StringInterner&) = delete;

  Symbol intern(std::string_view text);
  /// The handle of `text` if it was interned before; otherwise the empty handle.
  Symbol find(std::string_view text) const;
  std::string_view text(Symbol symbol) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mir

template <>
struct std::hash<mir::Symbol> {
  std::size_t operator()(mir::Symbol symbol) const noexcept { return symbol.id; }
};
