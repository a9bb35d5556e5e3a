// Parses `INPUT=SOURCE` feeds and makes the inputs of each run from the outputs of the run before.
#include "interp/feed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "interp/schedule_ports.hpp"
#include "interp/session_access.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/tensors.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

constexpr std::string_view kArgmax = "argmax(";

Error bad_feed(std::string_view text, std::string_view expected) {
  return {diag::kTensorSpecInvalid, fmt::format("'{}': {}", text, expected)};
}

/// Returns the position of the port of this name. No value, and no error, if there is no such port.
std::optional<std::size_t> position_of(std::span<const Port> ports, std::string_view target) {
  const auto found = find_port(ports, target, "port");
  return found ? std::optional(*found) : std::nullopt;
}

/// `count` elements of `dtype`, element i encoded from value(i).
template <class Value>
Result<Tensor> whole_numbers(DType dtype, Shape shape, Value value) {
  auto tensor = Tensor::allocate(dtype, std::move(shape));
  if (!tensor) return tensor;
  const std::size_t width = info(dtype).unit_bytes;
  for (std::int64_t i = 0; i < tensor->elements(); ++i) {
    const Result<std::uint64_t> bits = encode_element(dtype, static_cast<double>(value(i)));
    if (!bits) return bits.error();
    std::memcpy(tensor->mutable_bytes() + static_cast<std::size_t>(i) * width, &*bits, width);
  }
  return tensor;
}

/// The index of the largest of `width` elements from `first` on.
std::int64_t largest(const Tensor& tensor, std::int64_t first, std::int64_t width) {
  std::int64_t best = 0;
  // Doubles round integers of 64 bits.
  if (is_integer(tensor.dtype()) && info(tensor.dtype()).unit_bytes == 8) {
    for (std::int64_t i = 1; i < width; ++i) {
      if (is_ranked_before(tensor, first + i, first + best)) best = i;
    }
    return best;
  }
  double most = std::numeric_limits<double>::quiet_NaN();
  std::array<double, 1024> room{};
  constexpr auto kRoom = static_cast<std::int64_t>(room.size());
  for (std::int64_t at = 0; at < width; at += kRoom) {
    const auto block = std::span(room).first(static_cast<std::size_t>(std::min(kRoom, width - at)));
    elements_as_doubles(tensor, first + at, block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!(block[i] > most) && !(std::isnan(most) && !std::isnan(block[i]))) continue;
      best = at + static_cast<std::int64_t>(i);
      most = block[i];
    }
  }
  return best;
}

Result<Tensor> argmax(const Tensor& output, DType dtype) {
  const Shape& shape = output.shape();
  const std::int64_t width = shape.empty() ? 0 : shape.back();
  const std::int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  if (width == 0 || rows == 0 || !is_real(storage_type(output.dtype()))) {
    return Error{diag::kTensorTypeConflict,
                 fmt::format("{} [{}] has no row of numbers with a largest one",
                             name_of(output.dtype()), fmt::join(shape, ", "))};
  }
  Shape result(shape.begin(), shape.end() - (shape.size() < 2 ? 1 : 2));
  if (shape.size() > 1) result.push_back(1);
  return whole_numbers(dtype, std::move(result), [&](std::int64_t i) {
    return largest(output, ((i + 1) * rows - 1) * width, width);
  });
}

}  // namespace

Result<Feed> parse_feed(std::string_view text, const FileOpener& files) {
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    return bad_feed(text, "expected INPUT=SOURCE such as ids=argmax(%logits)");
  }
  Feed feed;
  feed.text = text;
  feed.input = text.substr(0, equals);
  const std::string_view source = text.substr(equals + 1);
  if (source.starts_with('%')) {
    feed.kind = Feed::Kind::kOutput;
    feed.name = source;
  } else if (source.starts_with('$')) {
    feed.kind = Feed::Kind::kCount;
    feed.name = source.substr(1);
  } else if (source.starts_with(kArgmax) && source.ends_with(')')) {
    feed.kind = Feed::Kind::kArgmax;
    feed.name = source.substr(kArgmax.size(), source.size() - kArgmax.size() - 1);
  } else {
    feed.kind = Feed::Kind::kTensor;
    auto spec = parse_tensor_spec(source, files);
    if (!spec) return std::move(spec).error();
    feed.spec = *std::move(spec);
    return feed;
  }
  if (feed.name.empty()) return bad_feed(text, "a name is missing after '='");
  return feed;
}

Result<FeedPlan> FeedPlan::create(const Session& session, std::span<const std::size_t> entries,
                                  std::span<const Feed> feeds) {
  FeedPlan plan;
  plan.entries_.assign(entries.begin(), entries.end());
  plan.feeds_.assign(feeds.begin(), feeds.end());
  for (std::size_t run = 1; run < entries.size(); ++run) {
    const auto same = [&](const Transition& each) {
      return each.from == entries[run - 1] && each.to == entries[run];
    };
    if (std::ranges::any_of(plan.transitions_, same)) continue;
    const auto added = plan.add_transition(session, entries[run - 1], entries[run]);
    if (!added) return added.error();
  }
  for (std::size_t feed = 0; feed < plan.feeds_.size(); ++feed) {
    const bool used = std::ranges::any_of(plan.transitions_, [&](const Transition& each) {
      return std::ranges::find(each.sources, feed, &Source::feed) != each.sources.end();
    });
    if (used) continue;
    return Error{diag::kPortUnknown,
                 fmt::format("feed '{}' fits no two runs: the earlier one needs the output, the "
                             "later one the input",
                             plan.feeds_[feed].text)};
  }
  return plan;
}

Result<void> FeedPlan::add_transition(const Session& session, std::size_t from, std::size_t to) {
  Transition added{.from = from, .to = to, .sources = {}};
  for (std::size_t i = 0; i < session.inputs(to).size(); ++i) {
    const auto source = source_of(session, from, to, i);
    if (!source) return source.error();
    added.sources.push_back(*source);
  }
  transitions_.push_back(std::move(added));
  return {};
}

Result<FeedPlan::Source> FeedPlan::source_of(const Session& session, std::size_t from,
                                             std::size_t to, std::size_t input) const {
  const auto inputs = session.inputs(to);
  const auto outputs = session.outputs(from);
  std::optional<Source> found;
  for (std::size_t number = 0; number < feeds_.size(); ++number) {
    const Feed& feed = feeds_[number];
    if (position_of(inputs, feed.input) != input) continue;
    const bool of_output = feed.kind == Feed::Kind::kOutput || feed.kind == Feed::Kind::kArgmax;
    const auto output = of_output ? position_of(outputs, feed.name) : std::optional<std::size_t>(0);
    if (!output) continue;
    if (found) {
      return Error{diag::kInputMissing,
                   fmt::format("input '%{}' has two feeds: '{}', '{}'", inputs[input].name,
                               feeds_[*found->feed].text, feed.text)};
    }
    found = Source{.feed = number, .position = *output};
  }
  if (found) return *found;
  const auto kept = position_of(session.inputs(from), "%" + inputs[input].name);
  if (kept) return Source{.feed = std::nullopt, .position = *kept};
  return Error{diag::kInputMissing,
               fmt::format("input '%{}' of {} has no feed, and {} has no input of this name",
                           inputs[input].name, SessionAccess::schedule(session, to).title(),
                           SessionAccess::schedule(session, from).title())};
}

const FeedPlan::Transition& FeedPlan::transition(std::size_t run) const {
  return *std::ranges::find_if(transitions_, [&](const Transition& each) {
    return each.from == entries_[run - 1] && each.to == entries_[run];
  });
}

std::vector<std::size_t> FeedPlan::fed_inputs(std::size_t run) const {
  std::vector<std::size_t> fed;
  const auto& sources = transition(run).sources;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].feed) fed.push_back(i);
  }
  return fed;
}

namespace {

/// Makes the inputs of one run.
class Feeder {
 public:
  Feeder(const Session& session, std::size_t entry)
      : schedule_(SessionAccess::schedule(session, entry)),
        context_(schedule_.module().context()),
        from_caches_(session.cache_bindings(entry)),
        binder_(context_, from_caches_) {}

  /// The tensor of a feed for input `input`, which is `port`; `output` is the former output that it
  /// names, if any.
  Result<Tensor> make(const Feed& feed, std::size_t input, const Port& port,
                      const Tensor* output) const {
    if (feed.kind == Feed::Kind::kOutput) return *output;
    DeclaredTensor wanted = declared(port, context_.dims(), binder_.bindings());
    if (feed.kind == Feed::Kind::kArgmax) return argmax(*output, wanted.dtype);
    if (is_generated(feed) &&
        std::ranges::find(*wanted.shape, kUnknownExtent) != wanted.shape->end()) {
      return Error{diag::kSymbolUnbound,
                   fmt::format("{}: {}", port.type->spelling(),
                               why_unknown(port, context_, binder_.bindings()))};
    }
    if (feed.kind == Feed::Kind::kTensor) {
      wanted.bound =
          index_bounds(schedule_, binder_.bindings())[schedule_.inputs()[input]].value_or(2);
      return load_tensor(feed.spec, wanted);
    }
    const auto start = from_caches_.find(context_.intern(feed.name));
    if (!start) {
      return Error{diag::kSymbolUnbound, fmt::format("no cache gives '${}' a value", feed.name)};
    }
    return whole_numbers(wanted.dtype, *wanted.shape, [&](std::int64_t i) { return *start + i; });
  }

  /// True if the feed takes its extents from the declared type.
  static bool is_generated(const Feed& feed) {
    return feed.kind == Feed::Kind::kCount ||
           (feed.kind == Feed::Kind::kTensor && needs_extents(feed.spec));
  }

  void bind(const Port& port, const Tensor& tensor) {
    const std::size_t rank = std::min(port.type->rank(), tensor.shape().size());
    for (std::size_t dim = 0; dim < rank; ++dim) {
      binder_.bind_if_it_fits(port.type->dims()[dim], tensor.shape()[dim]);
    }
  }

 private:
  const Schedule& schedule_;
  IRContext& context_;
  DimBindings from_caches_;
  Binder binder_;
};

}  // namespace

Result<std::vector<Tensor>> FeedPlan::inputs(const Session& session, std::size_t run,
                                             std::span<const Tensor> former_inputs,
                                             std::span<const Tensor> former_outputs) const {
  const Transition& step = transition(run);
  const auto ports = session.inputs(step.to);
  Feeder feeder(session, step.to);
  std::vector<Tensor> tensors(ports.size());
  // As for stated inputs: tensors with extents of their own bind symbols that the others need.
  for (const bool generated : {false, true}) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const auto& [number, position] = step.sources[i];
      const Feed* feed = number ? &feeds_[*number] : nullptr;
      if ((feed != nullptr && Feeder::is_generated(*feed)) != generated) continue;
      if (ports[i].type == nullptr || !ports[i].type->dtype()) {
        return Error{diag::kInputMismatch,
                     fmt::format("input '%{}' has no element type that is known", ports[i].name)};
      }
      const Tensor* output = position < former_outputs.size() ? &former_outputs[position] : nullptr;
      auto tensor = feed == nullptr ? Result<Tensor>(former_inputs[position])
                                    : feeder.make(*feed, i, ports[i], output);
      if (!tensor) return at_port("input", ports[i], tensor.error());
      tensors[i] = *std::move(tensor);
      feeder.bind(ports[i], tensors[i]);
    }
  }
  return tensors;
}

}  // namespace mir
