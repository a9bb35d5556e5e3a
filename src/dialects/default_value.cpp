#include "dialects/default_value.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "mir/ops.hpp"
#include "mir/rewriter.hpp"

namespace mir {

namespace {

const Attr* integers(IRContext& context, std::string_view text) {
  std::vector<const Attr*> list;
  for (auto at = text.find_first_of("-0123456789"); at != text.npos;
       at = text.find_first_of("-0123456789", at)) {
    const auto end = std::min(text.find_first_of(",]", at), text.size());
    list.push_back(context.scalar(AttrKind::kInt, text.substr(at, end - at)));
    at = end;
  }
  return context.array(list);
}

/// Words and quoted strings of one text say the same.
bool is_same(const Attr& a, const Attr& b) {
  if (a.kind() != b.kind()) return false;
  return &a == &b || (a.kind() == AttrKind::kString && a.text() == b.text()) ||
         (a.kind() == AttrKind::kFloat && a.number() == b.number());
}

}  // namespace

const Attr* default_value(IRContext& context, const AttrRow& row) {
  const std::string_view text = row.default_text;
  if (text.empty() || text == "?") return nullptr;
  switch (row.type) {
    case AttrType::kInt:
      return context.scalar(AttrKind::kInt, text);
    case AttrType::kFloat:
      return context.scalar(AttrKind::kFloat, text);
    case AttrType::kBool:
      return context.boolean(text == "true");
    case AttrType::kInts:
      return integers(context, text);
    case AttrType::kString:
    case AttrType::kDType:
    case AttrType::kDevice:
      return context.word(text);
    default:
      return nullptr;
  }
}

void leave_defaults_out(Module& module) {
  IRContext& context = module.context();
  Rewriter rewriter(module);
  IRWriter(module).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
    const std::span<const AttrRow> rows =
        op->row() == nullptr ? std::span<const AttrRow>() : op->row()->attributes;
    for (const AttrRow& row : rows) {
      const Symbol key = context.intern(row.name);
      const Attr* stated = op->attribute(key);
      const Attr* otherwise = stated == nullptr ? nullptr : default_value(context, row);
      const bool is_default = otherwise != nullptr && is_same(*stated, *otherwise);
      if (is_default) rewriter.remove_attribute(*op.op(), key);
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

}  // namespace mir
