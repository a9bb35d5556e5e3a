#include "interp/feed.hpp"

#include <limits>

#include "interp/summary.hpp"
#include "module_text.hpp"

namespace mir::test {

using Values = std::vector<double>;

namespace {

/// Scores and states from states; @rest continues with the same cache under other names.
const char* const kLoop = R"(
@main [mir_version:1] (%ids:tensor<[$B, $S], Int32, CPU>, %at:tensor<[1, $S], Int64, CPU>, %s:tensor<[$B, 2, 3], Float32, CPU>) -> (%s:tensor<[$B, 2, 3], Float32, CPU>, %ids:tensor<[$B, $S], Int32, CPU>) {
  graph.SubGraphOp @rest <CPU> { (%s:tensor<[2, 3], Float32, CPU>, %i:tensor<[1], Int8, CPU>) -> (%s:tensor<[2, 3], Float32, CPU>) {
    cf.ReturnOp (%s:tensor<[2, 3], Float32, CPU>) -> ()
  } }
  cf.ReturnOp (%s:tensor<[$B, 2, 3], Float32, CPU>, %ids:tensor<[$B, $S], Int32, CPU>) -> ()
}
)";

const char* const kCounting = R"(
@main [mir_version:1] (%x:tensor<[1, 1, $S, 1], Float32, CPU>, %at:tensor<[2, $S], Int64, CPU>) -> (%at:tensor<[2, $S], Int64, CPU>) {
  linalg.CPU.KVCacheOp <name="kv"> [q_head:1, kv_head:1, head_dim:1, past:$past] (%x:tensor<[1, 1, $S, 1], Float32, CPU>, %x:tensor<[1, 1, $S, 1], Float32, CPU>) -> (%k:tensor<[1, 1, $past+$S, 1], Float32, CPU>, %v:tensor<[1, 1, $past+$S, 1], Float32, CPU>)
  cf.ReturnOp (%at:tensor<[2, $S], Int64, CPU>) -> ()
}
)";

std::vector<Feed> feeds(std::initializer_list<const char*> texts) {
  std::vector<Feed> all;
  for (const char* text : texts) {
    auto feed = parse_feed(text);
    REQUIRE_MESSAGE(feed.ok(), text);
    all.push_back(*std::move(feed));
  }
  return all;
}

template <class T>
std::string error_of(const Result<T>& result) {
  REQUIRE_FALSE(result);
  return std::to_string(static_cast<int>(result.error().code)) + " " + result.error().message;
}

/// A session whose entry 1 is @rest.
struct Loop {
  Loop() : text(kLoop) {
    Diagnostics problems;
    REQUIRE(verify(*text.module, problems));
    session = Session::create(
        *text.module, {.entry = {}, .weights = nullptr, .further_entries = {"rest"}}, problems);
    REQUIRE(session.has_value());
  }
  Result<FeedPlan> plan(std::vector<std::size_t> entries, std::vector<Feed> given) {
    return FeedPlan::create(*session, entries, given);
  }
  Text text;
  std::optional<Session> session;
};

}  // namespace

TEST_CASE("a feed is an input and a source") {
  CHECK(feeds({"ids=%32"})[0].kind == Feed::Kind::kOutput);
  CHECK(feeds({"ids=argmax(%32)"})[0].name == "%32");
  CHECK(feeds({"%7=$past"})[0].name == "past");
  CHECK(feeds({"0=[1, 2]"})[0].kind == Feed::Kind::kTensor);
  for (const char* bad : {"ids", "=%32", "ids=$", "ids=argmax()", "ids=sample(%32)"}) {
    CAPTURE(bad);
    CHECK(error_of(parse_feed(bad)).starts_with("608 "));
  }
}

TEST_CASE("the index of the largest element of each last row is fed") {
  Loop loop;
  const auto plan = loop.plan({0, 0}, feeds({"ids=argmax(%s)"}));
  REQUIRE(plan);
  CHECK(plan->fed_inputs(1) == std::vector<std::size_t>{0});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor scores = floats({4, 2, 3}, {9, 9, 9, 1,   3,   3,   9, 9, 9, -4,  -5, -3,  //
                                           9, 9, 9, nan, nan, nan, 9, 9, 9, nan, -1, nan});
  const Tensor former[] = {Tensor(), ints({1, 1}, {0}), scores};
  const Tensor outputs[] = {scores, Tensor()};
  const auto inputs = plan->inputs(*loop.session, 1, former, outputs);
  REQUIRE(inputs);
  CHECK(inputs->at(0).shape() == Shape{4, 1});
  CHECK(inputs->at(0).dtype() == DType::kInt32);
  CHECK(values_of(inputs->at(0)) == Values{1, 2, 0, 1});
  CHECK(hash_bytes(inputs->at(2)) == hash_bytes(scores));
}

TEST_CASE("rows are longer than what is looked at at once") {
  Loop loop;
  const auto plan = loop.plan({0, 0}, feeds({"ids=argmax(%s)"}));
  REQUIRE(plan);
  Values rows(2 * 3000, 0);
  rows[10] = 1;            // of the first row
  rows[2 * 3000 - 1] = 1;  // of the second
  const Tensor scores = floats({2, 1, 3000}, rows);
  const Tensor former[] = {Tensor(), ints({1, 1}, {0}), scores};
  const Tensor outputs[] = {scores, Tensor()};
  const auto inputs = plan->inputs(*loop.session, 1, former, outputs);
  REQUIRE(inputs);
  CHECK(values_of(inputs->at(0)) == Values{10, 2999});
}

TEST_CASE("an index that the input's type cannot hold is refused") {
  Loop loop;
  const auto plan = loop.plan({1, 1}, feeds({"i=argmax(%s)"}));
  REQUIRE(plan);
  Values row(200, 0);
  row.back() = 1;
  const Tensor former[] = {Tensor(), Tensor()};
  const Tensor outputs[] = {floats({1, 200}, row)};
  CHECK(error_of(plan->inputs(*loop.session, 1, former, outputs)).starts_with("609 input '%i'"));
  const Tensor empty[] = {floats({0, 3}, {})};
  CHECK(error_of(plan->inputs(*loop.session, 1, former, empty)).starts_with("607 input '%i'"));
}

TEST_CASE("feeds hold where the run before has the output and the run after the input") {
  Loop loop;
  const auto plan = loop.plan({0, 1, 1}, feeds({"i=argmax(%ids)", "i=[1]", "s=%s"}));
  CHECK(error_of(plan) == "820 input '%i' has two feeds: 'i=argmax(%ids)', 'i=[1]'");
  CHECK(loop.plan({0, 1, 1}, feeds({"i=argmax(%ids)"})));
  CHECK(error_of(loop.plan({0, 1}, {})) ==
        "820 input '%i' of graph '@rest' has no feed, and module 'main' has no input of this name");
  CHECK(error_of(loop.plan({0, 0}, feeds({"i=[1]"}))).starts_with("819 feed 'i=[1]' fits no two"));
  CHECK(error_of(loop.plan({0}, feeds({"ids=%ids"}))).starts_with("819 "));
}

TEST_CASE("positions count on from what the cache holds") {
  Runner runner(kCounting);
  const std::size_t entries[] = {0, 0, 0};
  const auto plan =
      FeedPlan::create(runner.session(), entries, feeds({"x=[[[[1], [2], [3]]]]", "at=$past"}));
  REQUIRE(plan);
  std::vector<Tensor> inputs = {floats({1, 1, 2, 1}, {1, 2}), ints({2, 2}, {0, 1, 0, 1})};
  std::vector<Tensor> outputs = runner.run(inputs);
  inputs = *plan->inputs(runner.session(), 1, inputs, outputs);
  CHECK(values_of(inputs[1]) == Values{2, 3, 4, 5, 6, 7});
  outputs = runner.run(inputs);
  inputs = *plan->inputs(runner.session(), 2, inputs, outputs);
  CHECK(values_of(inputs[1]) == Values{5, 6, 7, 8, 9, 10});
  const auto unbound = FeedPlan::create(runner.session(), entries, feeds({"at=$S"}));
  REQUIRE(unbound);
  CHECK(error_of(unbound->inputs(runner.session(), 1, inputs, outputs)) ==
        "822 input '%at': no cache gives '$S' a value");
}

}  // namespace mir::test
