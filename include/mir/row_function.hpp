// Functions of rows: a plain function, or a callable with data that somebody else owns.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace mir {

template <class Signature>
class RowFunction;

/// A function that a row refers to and does not own. Rows that are constants name a plain function;
/// rows that are made at run time refer to a callable, which must outlive them. Two are equal if
/// they are the same function, or the same callable.
template <class R, class... Args>
class RowFunction<R(Args...)> {
 public:
  using Plain = R (*)(Args...);

  constexpr RowFunction() = default;
  constexpr RowFunction(std::nullptr_t) {}
  /// A function, or a lambda without captures.
  template <std::convertible_to<Plain> F>
  constexpr RowFunction(F function) : plain_(function) {}

  /// Refers to `callable`, which must outlive the row.
  template <class F>
  static RowFunction refer_to(const F& callable) {
    RowFunction made;
    made.data_ = &callable;
    made.with_data_ = [](const void* data, Args... args) -> R {
      return (*static_cast<const F*>(data))(static_cast<Args>(args)...);
    };
    return made;
  }

  /// Must not be empty.
  R operator()(Args... args) const {
    return plain_ != nullptr ? plain_(static_cast<Args>(args)...)
                             : with_data_(data_, static_cast<Args>(args)...);
  }
  /// True if there is a function to call.
  constexpr explicit operator bool() const { return plain_ != nullptr || with_data_ != nullptr; }
  friend constexpr bool operator==(const RowFunction&, const RowFunction&) = default;

 private:
  Plain plain_ = nullptr;
  R (*with_data_)(const void*, Args...) = nullptr;
  const void* data_ = nullptr;
};

}  // namespace mir
