// Identifiers of C for names of a module.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace mir::c {

/// The identifiers of one scope.
class CNames {
 public:
  CNames() = default;
  /// A scope inside `outer`, which must outlive it and must not take names meanwhile.
  explicit CNames(const CNames* outer) : outer_(outer) {}

  /// Returns identifier() of the name, with a number after it if it is taken here or outside.
  std::string fresh(std::string_view wanted);

 private:
  bool is_taken(const std::string& name) const;
  int next_number(const std::string& stem) const;
  void take(const std::string& name);

  const CNames* outer_ = nullptr;
  std::unordered_set<std::string> taken_;
  /// For each name, a number that exceeds those of all taken names that end in '_' and a number.
  std::unordered_map<std::string, int> next_;
};

/// The text with other characters than letters, digits and '_' replaced by '_'. The result begins
/// with 'v' where a word or a macro of C or C++, or a name of the written text, would be hidden. No
/// result begins with "mir_".
std::string identifier(std::string_view text);
/// The identifiers and numbers in a text of C outside of its comments.
std::unordered_set<std::string_view> words_of(std::string_view text);
/// The text as the inside of a comment in one line.
std::string comment_text(std::string_view text);

}  // namespace mir::c
