// Ops and their bodies, by both sets of kernels: the patterns of `decompose`, the bodies of
// declared ops, and the regions of fused ops. Element types and extents are drawn from what each
// admits.
#include <fmt/format.h>

#include <filesystem>
#include <regex>

#include "../ir/read.hpp"
#include "../project_files.hpp"
#include "interp/divergence.hpp"
#include "ir/declares_dialect.hpp"
#include "mir/pass.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "passes/rewrite/pattern_text.hpp"
#include "validate/instance.hpp"
#include "validate/values.hpp"

using namespace mir;
using mir::validate::Draw;

namespace bodies_test {

namespace {

/// A module of its own context, with the dialects that declare its ops.
class Program {
 public:
  Program(const std::string& dialect, const std::string& text) {
    register_builtin_dialects(context_);
    if (!dialect.empty()) read(dialect);
    module_ = read(text);
  }

  Module& module() { return *module_; }
  bool verifies() {
    Diagnostics ignored(1);
    return module_ != nullptr && verify(*module_, ignored);
  }

  /// Applies a pipeline, of whose rewrites only the first is made if `is_single`. Returns the
  /// pattern of the last rewrite.
  std::string apply(std::string_view pipeline, bool is_single = false) {
    PassRegistry registry;
    register_standard_passes(registry);
    Diagnostics problems;
    const auto passes =
        registry.read_pipeline(SourceFile("-p", std::string(pipeline), 1), problems);
    REQUIRE(passes);
    std::string last;
    RewriteWatch watch;
    if (is_single) watch.limit = 1;
    watch.trace = [&](std::uint64_t, std::string_view pattern, std::string_view) {
      last = pattern;
    };
    REQUIRE(run_pipeline(*module_, *passes, {.rewrites = &watch}, problems));
    return last;
  }

  std::optional<Session> session(KernelSet kernels, bool fuses = false) {
    WeightSet weights;
    REQUIRE(weights.add("random:1"));
    Diagnostics ignored(1);
    SessionOptions how;
    how.weights = &weights;
    how.kernels = kernels;
    how.fuses = fuses;
    auto made = Session::create(*module_, how, ignored);
    return made ? std::optional(*std::move(made)) : std::nullopt;
  }

  std::optional<std::vector<Tensor>> run(std::span<const Tensor> inputs, KernelSet kernels,
                                         bool fuses = false) {
    auto made = session(kernels, fuses);
    Diagnostics ignored(1);
    return made ? made->run(inputs, ignored) : std::nullopt;
  }

  /// The first step whose fast kernel is beyond its bound; empty: none is.
  std::string beyond_bounds(std::span<const Tensor> inputs) {
    auto reference = session(KernelSet::kRef), fast = session(KernelSet::kFast);
    REQUIRE(reference);
    REQUIRE(fast);
    Diagnostics problems;
    auto search = search_beyond_bounds(*reference, *fast, Activations::kFloat32, {}, problems);
    REQUIRE(search);
    RunOptions options;
    options.observe = [&](const StepResults& step) { return (*search)->observe(step); };
    REQUIRE((*search)->begin(0, 0, inputs));
    const bool is_good = fast->run(inputs, problems, options).has_value() && (*search)->end();
    return is_good ? "" : problems.sorted().empty() ? "?" : problems.sorted().front().message;
  }

  bool has_fused_ops() { return print(*module_).find("graph.FusedOp") != std::string::npos; }

 private:
  Module* read(const std::string& text) {
    Diagnostics problems(1);
    const SourceFile* file = context_.sources().add("test.mir", text);
    const auto modules = read_modules(*file, context_, problems);
    return modules.empty() || problems.has_errors() ? nullptr : modules.front();
  }

  IRContext context_;
  Module* module_ = nullptr;
};

/// How a body is put in the place of its op, and how near it must stay.
struct Subject {
  std::string name;
  std::string dialect;    ///< text that declares it; empty: none
  std::string_view pass;  ///< that puts the body in its place
  const Op& pattern;      ///< whose first region has the op alone, with variables
  RewriteClaim claim{};   ///< of results by reference kernels
};

constexpr RewriteClaim kBits{};
/// Instances of each subject.
constexpr std::size_t kWanted = 4;

/// What was compared.
struct BodyTally {
  std::size_t instances = 0, fused = 0, odd = 0, empty = 0;
};

void note_extents(const validate::Instance& instance, BodyTally& tally) {
  for (const auto& input : instance.inputs) {
    const auto count = *element_count(input.shape);
    tally.empty += count == 0 ? 1 : 0;
    tally.odd += count % 8 != 0 ? 1 : 0;
  }
}

/// Compares an instance with its body in all ways. Returns false if it does not run.
bool compare(const Subject& subject, const validate::Instance& instance, Draw& draw,
             BodyTally& tally) {
  constexpr std::int64_t kMostElements = 2000;
  std::int64_t elements = 0;
  for (const auto& each : instance.inputs) elements += *element_count(each.shape);
  if (elements > kMostElements) return false;
  Program before(subject.dialect, instance.text);
  if (!before.verifies()) return false;
  Program after(subject.dialect, instance.text), fused(subject.dialect, instance.text),
      exact(subject.dialect, instance.text);
  const std::string applied = after.apply(subject.pass, true);
  // Another pattern of the pass may match first.
  if (!applied.empty() && applied != subject.name) return false;
  const double largest = std::min(subject.claim.largest, validate::kUsualLargest);
  std::vector<Tensor> inputs;
  for (const auto& each : instance.inputs) {
    auto tensor =
        validate::draw_tensor(each.dtype, each.shape, validate::ValueStyle::kFinite, largest, draw);
    if (!tensor) return false;
    inputs.push_back(*std::move(tensor));
  }
  const auto wanted = before.run(inputs, KernelSet::kRef);
  if (!wanted) return false;
  INFO(instance.text);
  // The body by reference kernels, within the bound of its pattern.
  REQUIRE(after.verifies());
  const auto meant = after.run(inputs, KernelSet::kRef);
  REQUIRE(meant);
  const auto body_difference = validate::difference(*wanted, *meant, subject.claim);
  CHECK((body_difference ? body_difference->text : "") == "");
  // Fast kernels, of the op and of each op of the body, within the bounds of their pages.
  CHECK(before.beyond_bounds(inputs) == "");
  CHECK(after.beyond_bounds(inputs) == "");
  // Fused ops of the body: the same bits, unless attention sums in another order.
  exact.apply(subject.pass, true);
  exact.apply("fusion-exact");
  fused.apply(subject.pass, true);
  fused.apply("fusion-all");
  if (exact.has_fused_ops()) {
    ++tally.fused;
    const auto single = after.run(inputs, KernelSet::kFast);
    const auto together = exact.run(inputs, KernelSet::kFast, true);
    REQUIRE(single);
    REQUIRE(together);
    const auto difference = validate::difference(*single, *together, kBits);
    CHECK((difference ? difference->text : "") == "");
  }
  if (fused.has_fused_ops()) {
    const auto regions = fused.run(inputs, KernelSet::kRef);
    REQUIRE(regions);
    const auto difference = validate::difference(*meant, *regions, kBits);
    CHECK((difference ? difference->text : "") == "");
    const auto together = fused.run(inputs, KernelSet::kFast, true);
    REQUIRE(together);
    if (subject.claim.kind == RewriteClaim::Kind::kBound) {
      const auto far = validate::difference(*wanted, *together, subject.claim);
      CHECK((far ? far->text : "") == "");
    }
  }
  note_extents(instance, tally);
  ++tally.instances;
  return true;
}

/// Tries instances of growing extents.
BodyTally try_subject(const Subject& subject, IRContext& context) {
  constexpr std::size_t kTries = 5000;
  Diagnostics problems;
  const auto pattern = patterns::read_pattern(subject.pattern, problems);
  REQUIRE(pattern);
  Draw draw(7);
  validate::InstanceDrawer drawer(*pattern, context, draw);
  BodyTally tally;
  for (std::size_t i = 0; i < kTries && tally.instances < kWanted; ++i) {
    const auto instance = drawer.draw(static_cast<int>(tally.instances * 4 / (kWanted - 1)));
    if (instance) compare(subject, *instance, draw, tally);
  }
  return tally;
}

/// Where text after `at` ends that is in braces or brackets.
std::size_t closing(const std::string& text, std::size_t at, char open, char close) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == open) ++depth;
    if (text[at] == close && --depth == 0) return at;
  }
  return text.npos;
}

/// Patterns whose first regions are single declared ops: one for each signature with a body.
std::string patterns_of(const Module& dialect, const std::string& printed) {
  const IRContext& context = dialect.context();
  static const std::regex kValue("%\\w+(?=[:,)])");
  std::string text = "@instances [mir_version:1] () -> () {\n";
  for (const Op* op : dialect.body().only_block().ops()) {
    if (op->region_count() == 0) continue;
    const std::string name(context.text(op->symbol()));
    std::string attributes;
    if (const Attr* declared = op->attribute("attributes")) {
      for (const NamedAttr& each : declared->entries()) {
        attributes +=
            fmt::format("{0}{1}:${1}", attributes.empty() ? "" : ", ", context.text(each.key));
      }
    }
    const bool has_name = op->attribute("weights") != nullptr;
    std::size_t number = 0;
    for (std::size_t at = printed.find("dialect.OpOp @" + name + " "); number < op->region_count();
         ++number) {
      at = printed.find("        (", at);
      const std::size_t body = printed.find(" {\n", at);
      const std::string signature = printed.substr(at, body - at);
      at = closing(printed, body, '{', '}');
      const std::size_t arrow = signature.find(" -> ");
      // Of any number of tensors, of other types, or without a body.
      const bool has_body = printed.substr(body, at - body).find("cf.ReturnOp") != printed.npos;
      if (signature.find("many:") != printed.npos || signature.find('!') != printed.npos ||
          !has_body) {
        continue;
      }
      const auto values = [&](const std::string& part) {
        std::string list;
        for (std::sregex_iterator it(part.begin(), part.end(), kValue), end; it != end; ++it) {
          list += (list.empty() ? "" : ", ") + it->str();
        }
        return list;
      };
      const std::string results = values(signature.substr(arrow));
      const std::string region =
          fmt::format("{} {{\n{}.{}{} [{}] ({}) -> ({})\ncf.ReturnOp ({}) -> ()\n}}\n", signature,
                      context.text(dialect.name()), name, has_name ? " <name=\"$n\">" : "",
                      attributes, values(signature.substr(0, arrow)), results, results);
      text += fmt::format("pattern.RewriteOp @{}.{} {{\n{}{}}}\n", name, number, region, region);
    }
  }
  return text + "}\n";
}

void check(const BodyTally& tally) {
  CHECK(tally.instances == kWanted);
  CHECK(tally.odd > 0);
}

}  // namespace

TEST_SUITE("bodies") {
  TEST_CASE("compound ops, their bodies and both sets of kernels agree within stated bounds") {
    test::Reading reading(test::read_whole(test::kRoot / "src/passes/patterns/decompose.mir"));
    std::size_t subjects = 0, fused = 0, empty = 0;
    for (const Op* op : reading.module().body().only_block().ops()) {
      if (op->has(Trait::kTerminator)) continue;
      Diagnostics problems;
      const auto pattern = patterns::read_pattern(*op, problems);
      REQUIRE(pattern);
      CAPTURE(pattern->name);
      const BodyTally tally = try_subject({.name = pattern->name,
                                           .dialect = "",
                                           .pass = "decompose",
                                           .pattern = *op,
                                           .claim = claim_of(*pattern)},
                                          reading.context);
      check(tally);
      fused += tally.fused;
      empty += tally.empty;
      ++subjects;
    }
    CHECK(subjects > 20);
    CHECK(fused > 12);
    CHECK(empty > 0);
  }

  TEST_CASE("declared ops, their bodies and both sets of kernels agree within stated bounds") {
    std::size_t subjects = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(test::kRoot / "testdata/examples/dialects")) {
      CAPTURE(entry.path().string());
      const std::string dialect = test::read_whole(entry.path());
      test::Reading reading(dialect);
      if (!declares_dialect(reading.module())) continue;
      const std::string text = patterns_of(reading.module(), dialect);
      Diagnostics problems;
      const SourceFile* file = reading.context.sources().add("instances.mir", text);
      const auto modules = read_modules(*file, reading.context, problems);
      INFO(text);
      REQUIRE_FALSE(problems.has_errors());
      for (const Op* op : modules.front()->body().only_block().ops()) {
        if (op->has(Trait::kTerminator)) continue;
        CAPTURE(reading.context.text(op->symbol()));
        check(try_subject({.name = "",
                           .dialect = dialect,
                           .pass = "decompose{only-bodies}",
                           .pattern = *op,
                           .claim = kBits},
                          reading.context));
        ++subjects;
      }
    }
    CHECK(subjects > 3);
  }
}

}  // namespace bodies_test
