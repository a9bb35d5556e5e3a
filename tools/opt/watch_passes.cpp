// Observers that print, dump or tabulate modules and times while passes run.
#include "watch_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "diff/module_diff.hpp"
#include "ir/declares_dialect.hpp"
#include "mir/codes/files.hpp"
#include "mir/dialects.hpp"
#include "mir/print.hpp"
#include "standard_error.hpp"
#include "support/platform/atomic_file.hpp"
#include "text_table.hpp"

namespace mir::tools {

// -- printing -------------------------------------------------------------------------------------

namespace {

bool is_asked(const OptionList<PassNames>& option, const PassStep& step) {
  return std::ranges::any_of(*option,
                             [&](const PassNames& each) { return each.has(step.pass().name); });
}

void show(std::string_view when, const PassStep& step, std::string_view text) {
  write_error_text(fmt::format("// {} {}\n{}", when, step.spelling(), text));
}

}  // namespace

void PassPrinter::will_run(const PassStep& step, Module& module) {
  if (is_asked(settings_.print_before, step)) show("before", step, print(module));
  if (is_asked(settings_.print_before_change, step)) before_ = print(module);
}

bool PassPrinter::did_run(const PassStep& step, Module& module, const PassReport& report,
                          Diagnostics&) {
  const bool changed = report.result == PassResult::kChanged;
  if (changed && is_asked(settings_.print_before_change, step)) show("before", step, before_);
  const bool shows_change = changed && is_asked(settings_.print_after_change, step);
  if (shows_change || is_asked(settings_.print_after, step)) show("after", step, print(module));
  return true;
}

// -- files ----------------------------------------------------------------------------------------

namespace {

/// Returns the difference of two texts of one module, as mllm-diff shows it. `dialects` declares
/// the dialects that the texts use.
std::string difference(const std::string& dialects, const std::string& before,
                       const std::string& after, const DiffStyle& names) {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics ignored;
  if (const SourceFile* file = context.sources().add("dialects", dialects)) {
    for (Module* each : read_modules(*file, context, ignored)) context.release(*each);
  }
  std::vector<Module*> sides[2];
  const std::string* texts[] = {&before, &after};
  for (const int side : {0, 1}) {
    const SourceFile* file = context.sources().add("module", *texts[side]);
    if (file == nullptr) return "";
    sides[side] = read_modules(*file, context, ignored);
  }
  return diff_text(diff_modules(sides[0], sides[1]), context, names);
}

/// Replaces a link or device of that name, too: others may have put it into the folder.
Result<void> write_over(const std::string& path, std::string_view text) {
  auto file = AtomicFile::create(path, AtomicFile::Existing::kReplace);
  if (!file) return std::move(file).error();
  if (auto written = file->write(text); !written) return written;
  return file->commit();
}

}  // namespace

Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return Error{diag::kFileNotWritable,
               fmt::format("cannot make folder '{}': {}", folder, error.message())};
}

Result<void> PassDumper::prepare() const {
  return make_folder(folder_);
}

bool PassDumper::write(const std::string& name, const std::string& text, Diagnostics& diagnostics) {
  const auto written = write_over(fmt::format("{}/{}", folder_, name), text);
  if (!written) diagnostics.error(written.error().code, {}, written.error().message);
  return written.ok();
}

void PassDumper::will_begin(Module& module, Diagnostics& diagnostics) {
  first_ = next_++;
  last_ = print(module);
  write(fmt::format("{:03}.mir", first_), last_, diagnostics);
}

bool PassDumper::did_run(const PassStep& step, Module& module, const PassReport& report,
                         Diagnostics& diagnostics) {
  const std::size_t number = first_ + step.number;
  next_ = number + 1;
  if (report.result != PassResult::kChanged) return true;
  const std::string text = print(module);
  const std::string name = fmt::format("{:03}-{}", number, step.pass().name);
  const DiffStyle names{.before_name = "before", .after_name = "after"};
  const bool good =
      write(name + ".mir", text, diagnostics) &&
      write(name + ".diff",
            difference(text_of_declared_dialects(module.context()), last_, text, names),
            diagnostics);
  last_ = text;
  return good;
}

// -- tables ---------------------------------------------------------------------------------------

bool PassRecord::did_run(const PassStep& step, Module& module, const PassReport& report,
                         Diagnostics&) {
  entries_.push_back({std::string(module.context().text(module.name())), step.spelling(), report});
  return true;
}

std::string PassRecord::times(TableFormat format) const {
  double all = 0;
  for (const Entry& each : entries_) all += each.report.seconds;
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  TextTable table("rrl");
  for (const Entry& each : entries_) {
    const double seconds = each.report.seconds;
    document.push_back({{"module", each.module}, {"pass", each.pass}, {"seconds", seconds}});
    table.add({fmt::format("{:.6f} s", seconds),
               fmt::format("{:.1f} %", all > 0 ? 100 * seconds / all : 0.0), each.pass});
  }
  if (format == TableFormat::kJson)
    return nlohmann::ordered_json{{"timing", document}}.dump(-1, ' ', true) + '\n';
  table.add({fmt::format("{:.6f} s", all), "", "all"});
  return table.render("");
}

std::string PassRecord::statistics(TableFormat format) const {
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  TextTable table("lrl");
  for (const Entry& each : entries_) {
    const bool changed = each.report.result == PassResult::kChanged;
    nlohmann::ordered_json counts = nlohmann::ordered_json::object();
    table.add(
        {each.pass, fmt::to_string(each.report.anchors), changed ? "anchors, changed" : "anchors"});
    for (const auto& [what, amount] : each.report.statistics) {
      counts[std::string(what)] = amount;
      table.add({"", fmt::to_string(amount), std::string(what)});
    }
    document.push_back({{"module", each.module},
                        {"pass", each.pass},
                        {"changed", changed},
                        {"anchors", each.report.anchors},
                        {"counts", std::move(counts)}});
  }
  if (format == TableFormat::kJson)
    return nlohmann::ordered_json{{"statistics", document}}.dump(-1, ' ', true) + '\n';
  return table.render("");
}

}  // namespace mir::tools
