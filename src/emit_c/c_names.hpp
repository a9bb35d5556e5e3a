// Identifiers of C for names of a module.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace mir::c {

/// The identifiers of one scope. A copy is a scope inside of it.
class CNames {
 public:
  CNames();
  /// Returns the name with other characters as '_', or with a number after it if it is taken or
  /// a word of C.
  std::string fresh(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// The text with other characters than letters, digits and '_' replaced by '_'.
std::string identifier(std::string_view text);
/// True if the identifier occurs in a text of C.
bool mentions(std::string_view text, std::string_view identifier);
/// The text as the inside of a comment in one line.
std::string comment_text(std::string_view text);

}  // namespace mir::c
