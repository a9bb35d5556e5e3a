// Renaming in several texts.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/shared_names.hpp"
#include "mir/diagnostic.hpp"

namespace mir::lsp {

/// Why a name cannot be changed.
Error rename_refusal(std::string message);

/// Texts beside a document that a rename may change.
class OtherTexts {
 public:
  /// Files of folders that are searched at most.
  static constexpr std::size_t kMostFiles = 10'000;

  OtherTexts(const std::vector<std::string>& folders, std::vector<Document*> open)
      : folders_(folders), open_(std::move(open)) {}

  /// Calls `visit(there, is_open)` for the other open documents and the `.mir` files below the
  /// folders whose texts contain `word`. Returns the first error of a visit, or why a file cannot
  /// be read.
  Result<void> for_each(const View& view, std::string_view word,
                        const std::function<Result<void>(const View&, bool)>& visit) const;

 private:
  const std::vector<std::string>& folders_;
  std::vector<Document*> open_;
};

/// Renames what a text declares for others, in all texts. Returns an error if no text declares it,
/// if one has the new name, or if one cannot be read.
Result<nlohmann::json> rename_shared(const View& view, const SharedName& shared,
                                     const std::string& name, bool document_changes,
                                     const OtherTexts& others);

}  // namespace mir::lsp
