// Determines which types a text may omit because reading infers them.
#include "text/type_mentions.hpp"

#include <algorithm>

#include "syntax/spellings.hpp"
#include "syntax/token_stream.hpp"
#include "text/resolver.hpp"

namespace mir {

void TypeMentions::listen(Resolver& resolver) {
  resolver.state_->note_types(*this);
}

void TypeMentions::add_free(const TypeMention& mention) {
  free_[mention.value].push_back(list_.size());
  list_.push_back(mention);
}

void TypeMentions::settle(const Value& value, const Value& defined) {
  const auto found = free_.find(&value);
  if (found == free_.end()) return;
  const std::vector<std::size_t> mentions = std::move(found->second);
  free_.erase(found);
  for (const std::size_t index : mentions) list_[index].value = &defined;
  if (!defined.is_free()) return;
  std::vector<std::size_t>& known = free_[&defined];
  known.insert(known.end(), mentions.begin(), mentions.end());
}

std::vector<TypeMention> TypeMentions::take() {
  std::ranges::sort(list_, {}, &TypeMention::at);
  return std::move(list_);
}

namespace {

using K = TokenKind;

/// One past the type that begins at `at`.
std::size_t type_end(const std::vector<StreamItem>& items, std::size_t at) {
  if (!items[at].is(K::kTensor)) return at + 1;
  std::size_t depth = 0;
  for (++at; at < items.size(); ++at) {
    depth += items[at].is(K::kLess) ? 1 : 0;
    if (items[at].is(K::kGreater) && --depth == 0) return at + 1;
  }
  return at;
}

/// Copies a stream with other types on some of its mentions.
class TypeEdit {
 public:
  TypeEdit(TokenStream& stream, const SourceFile& file, const std::vector<TypeMention>& mentions)
      : file_(file), stream_(stream), mentions_(mentions) {}

  void remove_redundant() {
    edit([&](std::size_t at, const TypeMention& mention) {
      return mention.is_redundant ? remove_type(at) : at;
    });
  }

  void add_missing() {
    edit([&](std::size_t at, const TypeMention& mention) {
      const bool is_missing = mention.stated == nullptr && mention.value->type() != nullptr;
      return is_missing ? add_type(at, *mention.value->type()) : at;
    });
  }

 private:
  /// Calls `change(index, mention)` at each mention; it writes to result_ what replaces the items
  /// up to the index that it returns.
  template <class Change>
  void edit(const Change& change) {
    auto next = mentions_.begin();
    for (std::size_t at = 0; at < stream_.items.size();) {
      const StreamItem& item = stream_.items[at];
      std::size_t after = at;
      if (item.is(K::kTypedValue) || item.is(K::kValue)) {
        const auto position = static_cast<SourcePos>(item.text.data() - file_.text().data());
        while (next != mentions_.end() && next->at < file_.base() + position) ++next;
        const bool is_mention = next != mentions_.end() && next->at == file_.base() + position;
        if (is_mention) after = change(at, *next);
      }
      if (after == at) result_.push_back(stream_.items[after++]);
      at = after;
    }
    stream_.items = std::move(result_);
  }

  std::size_t remove_type(std::size_t at) {
    const StreamItem& item = stream_.items[at];
    const std::string_view name = item.text.substr(0, item.text.find(':'));
    if (!is_value_name(name.substr(1), false)) return at;
    result_.push_back({name, K::kValue});
    if (item.is(K::kTypedValue)) return at + 1;
    const std::size_t colon = stream_.next_token(at + 1);
    const std::size_t end = type_end(stream_.items, stream_.next_token(colon + 1));
    for (std::size_t i = at + 1; i < end; ++i) {  // comments stay
      if (stream_.items[i].role != StreamItem::Role::kToken) result_.push_back(stream_.items[i]);
    }
    return end;
  }

  std::size_t add_type(std::size_t at, const Type& type) {
    result_.push_back(stream_.items[at]);
    result_.push_back({":", K::kColon});
    result_.push_back({type.spelling(), K::kType});
    return at + 1;
  }

  const SourceFile& file_;
  TokenStream& stream_;
  const std::vector<TypeMention>& mentions_;
  std::vector<StreamItem> result_;
};

}  // namespace

MentionedTypes type_mentions(const SyntaxTree& tree, IRContext& context, Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  TypeMentions mentions;
  Resolver resolver(context, tree.file(), diagnostics);
  mentions.listen(resolver);
  for (const Unit& unit : tree.units()) resolver.add(unit);
  std::vector<Module*> modules = resolver.finish();
  if (diagnostics.error_count() != errors) return {};
  std::ranges::stable_sort(mentions.shorter, {}, &FormEdit::at);
  std::ranges::stable_sort(mentions.longer, {}, &FormEdit::at);
  return {mentions.take(), std::move(mentions.shorter), std::move(mentions.longer),
          std::move(modules)};
}

void leave_types_out(TokenStream& stream, const SourceFile& file,
                     const std::vector<TypeMention>& mentions) {
  TypeEdit(stream, file, mentions).remove_redundant();
}

void write_types(TokenStream& stream, const SourceFile& file,
                 const std::vector<TypeMention>& mentions) {
  TypeEdit(stream, file, mentions).add_missing();
}

}  // namespace mir
