// Joins the matches and gaps of a split.
#include "tokenizer/pre_tokenizer.hpp"

namespace mir::tokenizer {

Result<void> SplitParts::put(ByteRange range) {
  if (range.begin == range.end) return {};
  return out_.take({piece_.text.substr(range.begin, range.end - range.begin),
                    piece_.is_first && range.begin == 0});
}

Result<void> SplitParts::add(ByteRange range, bool is_match) {
  bool joins = false;
  switch (behavior_) {
    case SplitBehavior::kRemoved:
      return is_match ? Result<void>() : put(range);
    case SplitBehavior::kIsolated:
      return put(range);
    case SplitBehavior::kMergedWithPrevious:
      joins = is_match && !was_match_;
      break;
    case SplitBehavior::kMergedWithNext:
      joins = !is_match && was_match_;
      break;
    case SplitBehavior::kContiguous:
      joins = is_match == was_match_;
      break;
  }
  was_match_ = is_match;
  if (joins && is_waiting_) {
    waiting_.end = range.end;
    return {};
  }
  auto passed = finish();
  waiting_ = range;
  is_waiting_ = true;
  return passed;
}

Result<void> SplitParts::finish() {
  if (!is_waiting_) return {};
  is_waiting_ = false;
  return put(waiting_);
}

}  // namespace mir::tokenizer
