// Parses and analyses a document on demand, and updates tree and findings after edits.
#include "lsp/document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "mir/verify.hpp"
#include "passes/estimate/cost.hpp"
#include "syntax/damage.hpp"
#include "verify/doubts.hpp"

namespace mir::lsp {

namespace {

constexpr std::size_t kLargeText = std::size_t{256} * 1024;

/// One edit that does what `first` and then `next` do.
TextEdit joined(TextEdit first, const TextEdit& next) {
  const std::uint32_t end = first.begin + first.inserted;  // in the text between
  if (next.end > end) {
    first.end += next.end - end;
    first.inserted += next.end - end;
  }
  if (next.begin < first.begin) {
    first.inserted += first.begin - next.begin;
    first.begin = next.begin;
  }
  first.inserted += next.inserted - (next.end - next.begin);
  return first;
}

}  // namespace

Snapshot::Snapshot(std::string name, std::string text, const DialectTexts& dialects,
                   std::optional<Syntax> before, const TextEdit& edit)
    : dialects_(dialects),
      file_(context_.sources().add(std::move(name), std::move(text))),
      tree_(*file_) {
  if (before) {
    if (auto again = reparse(std::move(before->units), before->errors, edit, *file_)) {
      tree_ = std::move(again->tree);
      change_ = again->change;
      syntax_errors_ = std::move(again->errors);
      return;
    }
  }
  Diagnostics found(0);
  tree_ = parse_damaged(*file_, found);
  syntax_errors_ = std::move(found).sorted();
}

bool Snapshot::may_declare() {
  const auto declares = [&](const Unit& unit) {
    const auto name = std::ranges::find(unit.nodes(), NodeKind::kOpName, &Node::kind);
    return name != unit.nodes().end() && may_declare_dialect(tree_.text(unit, name->token));
  };
  if (!may_declare_) may_declare_ = std::ranges::any_of(tree_.units(), declares);
  return *may_declare_;
}

IRContext& Snapshot::rows(IRContext& shared) {
  if (!may_declare()) return shared;
  findings();
  return context_;
}

const Outline& Snapshot::outline(IRContext& rows) {
  if (!outline_) outline_ = make_outline(tree_, rows, [&] { check_stop(); });
  return *outline_;
}

Excerpt* Snapshot::excerpt(Span range) {
  if (may_declare()) return nullptr;  // for other modules
  if (!excerpt_ || !excerpt_->covers(range)) excerpt_ = Excerpt::of(tree_, range);
  return excerpt_ ? &*excerpt_ : nullptr;
}

bool Snapshot::analyse_changes() {
  if (findings_) return true;
  if (last_ == nullptr || std::exchange(has_tried_changes_, true) || may_declare()) return false;
  // With errors of syntax, findings of whole modules would stay as they were.
  if (!is_whole() && text().size() < kLargeText) return false;
  register_dialects();
  auto partial = lsp::analyse_changes(tree_, syntax_errors_, *last_, context_);
  if (!partial) return false;
  if (is_whole() && !partial->is_certain) {
    last_->set_findings(std::move(partial->findings), true);
    is_analysed_in_part_ = true;
    return false;
  }
  if (partial->is_certain) last_->accept();
  findings_ = std::move(partial->findings);
  return true;
}

const std::vector<Diagnostic>& Snapshot::findings() {
  if (!analyse_changes()) analyse();
  return *findings_;
}

void Snapshot::register_dialects() {
  if (std::exchange(has_dialects_, true)) return;
  dialects_.register_in(context_, path_of_uri(file_->name()).value_or(""));
}

bool Snapshot::resolve() {
  if (modules_) return true;
  if (resolution_ == nullptr) {
    register_dialects();
    resolution_ = std::make_unique<Resolution>(context_, *file_);
    for (const Diagnostic& each : syntax_errors_) {
      resolution_->found.error(each.code, each.at, {}) = each;
    }
  }
  const std::span<const Unit> units = tree_.units();
  while (resolution_->next < units.size()) {
    resolution_->resolver.add(units[resolution_->next++]);
    if (is_stopped()) return false;  // after a unit, so that every call gets further
  }
  modules_ = resolution_->resolver.finish();
  if (!findings_) found_ = std::move(resolution_->found);
  resolution_.reset();
  return true;
}

const std::vector<Module*>& Snapshot::modules() {
  if (!resolve()) throw Stopped{};
  return *modules_;
}

void Snapshot::release_modules() {
  for (Module* module : *modules_) context_.release(*module);
  modules_.reset();
  ops_.reset();
}

void Snapshot::analyse() {
  modules();
  Diagnostics found = std::exchange(found_, Diagnostics(0));
  if (found.has_errors()) {
    const bool keeps = last_ != nullptr && !is_whole();
    verify_unsound(*modules_, found, {.findings_per_code = 0},
                   keeps ? std::span(last_->whole_findings()) : std::span<const Diagnostic>());
  } else {
    for (const Module* module : *modules_) verify(*module, found, {.findings_per_code = 0});
  }
  // Dumps state their types and have no costs, so their modules are hardly ever asked for again.
  // Modules of a large text take more memory than the text. Costs resolve the text again, other
  // answers use excerpts.
  const bool has_dump =
      std::ranges::any_of(*modules_, [](const Module* module) { return !module->is_portable(); });
  if (has_dump || text().size() >= kLargeText) release_modules();
  findings_ = std::move(found).sorted();
  if (last_ == nullptr) return;
  last_->forget();
  if (!may_declare()) last_->begin(tree_, *findings_, context_);
}

Snapshot::~Snapshot() = default;

bool Snapshot::is_sound() {
  return std::ranges::none_of(
      findings(), [](const Diagnostic& each) { return each.severity == Severity::kError; });
}

const std::vector<std::unique_ptr<CostEstimate>>& Snapshot::costs() {
  if (costs_) return *costs_;
  std::vector<std::unique_ptr<CostEstimate>> costs;
  const bool sound = is_sound();
  for (const Module* module : modules()) {
    check_stop();
    const bool has_cost = sound && module->is_portable();
    costs.push_back(has_cost ? std::make_unique<CostEstimate>(*module) : nullptr);
  }
  costs_ = std::move(costs);
  return *costs_;
}

const Op* Snapshot::op_named_at(SourcePos name) {
  if (!ops_) ops_.emplace(modules());
  return ops_->named_at(name);
}

Document::Document(std::string uri, std::int64_t version, std::string text,
                   PositionEncoding encoding, const DialectTexts& dialects)
    : uri_(std::move(uri)),
      version_(version),
      text_(std::move(text)),
      lines_(text_),
      encoding_(encoding),
      dialects_(dialects) {
  // Edits are made in place: a longer text would leave a gap of its size in the heap.
  text_.reserve(text_.size() + text_.size() / 8);
}

void Document::edit(const std::optional<Range>& range, std::string_view replacement) {
  if (snapshot_ != nullptr) {
    if (is_analysed()) last_.set_findings(snapshot_->take_findings(), snapshot_->is_whole());
    before_ = snapshot_->take_syntax();
    edit_ = {};
    drop_snapshot();
  }
  const std::string_view old = text_;
  std::uint32_t begin = 0;
  auto end = static_cast<std::uint32_t>(old.size());
  if (range) {
    begin = lines_.offset_of(old, range->begin, encoding_);
    end = std::max(begin, lines_.offset_of(old, range->end, encoding_));
  }
  text_.replace(begin, end - begin, replacement);
  const bool is_first = before_ && edit_.inserted == 0 && edit_.end == edit_.begin;
  shown_ = false;
  const auto inserted = static_cast<std::uint32_t>(replacement.size());
  const TextEdit edit{begin, end, inserted};
  edit_ = is_first ? edit : joined(edit_, edit);
  if (range) {
    lines_.edit(text_, begin, end, inserted);
  } else {
    lines_ = LineIndex(text_);
    before_.reset();
  }
  last_.edit({kBase + begin, kBase + end}, inserted);
}

void Document::drop_snapshot() {
  text_ = snapshot_->take_text();
  snapshot_.reset();
}

Snapshot& Document::now() {
  if (snapshot_ == nullptr) {
    snapshot_ = std::make_unique<Snapshot>(uri_, std::exchange(text_, {}), dialects_,
                                           std::exchange(before_, std::nullopt), edit_);
    snapshot_->change() ? last_.follow(*snapshot_->change()) : last_.forget();
    snapshot_->set_last(last_);
  }
  return *snapshot_;
}

std::vector<const Diagnostic*> Document::shown_findings() {
  std::vector<const Diagnostic*> shown;
  const auto add = [&](const std::vector<Diagnostic>& findings) {
    for (const Diagnostic& each : findings) shown.push_back(&each);
  };
  add(is_analysed() ? snapshot_->findings() : now().syntax_errors());
  if (!is_analysed()) add(last_.findings());
  return shown;
}

void Document::forget_analysis() {
  if (snapshot_ != nullptr) drop_snapshot();
  before_.reset();
  last_.forget();
  shown_ = false;
}

bool Document::analyse_changes() {
  if (is_analysed() || now().is_analysed_in_part()) return false;
  now().drop_outlines();
  if (now().analyse_changes()) last_.take_findings(now().is_whole());
  return is_analysed() || now().is_analysed_in_part();
}

bool Document::analyse() {
  // Analysis takes the most memory. Outlines are made fast, and it replaces the last findings.
  if (is_analysed()) return true;
  now().drop_outlines();
  if (!now().analyse_changes()) {
    if (!now().resolve()) return false;
    if (now().is_whole()) last_.take_findings(true);
    now().findings();
  }
  last_.take_findings(now().is_whole());
  return true;
}

nlohmann::json Document::range(Span span) const {
  const auto position = [&](SourcePos at) {
    const Position is = position_of(at);
    return nlohmann::json{{"line", is.line}, {"character", is.column}};
  };
  return {{"start", position(span.begin)}, {"end", position(span.end)}};
}

}  // namespace mir::lsp
