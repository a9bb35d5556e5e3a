// Times of kernel calls, the work that they do, and the forms in which they are written.
#include "interp/profile.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dialects/work_rules.hpp"
#include "module_text.hpp"
#include "plan/step_work.hpp"

namespace mir::test::profile {

namespace {

using Json = nlohmann::json;

const char* const kTwoLayers = R"(
@main [mir_version:1] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%y:tensor<[1, $S, 4], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%a:tensor<[16, 8], Float32, CPU>[@up.weight])[symbol:up.weight]
      tensor.CPU.register () -> (%b:tensor<[4, 16], BFloat16, CPU>[@down.weight])[symbol:down.weight]
    }
  }
  linalg.CPU.LinearOp <name="up"> [in_channels:8, out_channels:16, bias:false] (%x:tensor<[1, $S, 8], Float32, CPU>) -> (%h:tensor<[1, $S, 16], Float32, CPU>)
  linalg.CPU.SinOp (%h:tensor<[1, $S, 16], Float32, CPU>) -> (%t:tensor<[1, $S, 16], Float32, CPU>)
  linalg.CPU.LinearOp <name="down"> [in_channels:16, out_channels:4, bias:false] (%t:tensor<[1, $S, 16], Float32, CPU>) -> (%y:tensor<[1, $S, 4], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, $S, 4], Float32, CPU>) -> ()
}
)";

/// Two runs over three rows as one phase.
Profile profile_of(KernelSet kernels, bool keeps_events = false) {
  SessionOptions options;
  options.kernels = kernels;
  Runner runner(kTwoLayers, options);
  Profile profile(keeps_events);
  RunOptions run;
  run.timed = [&](const KernelTiming& timing) {
    CHECK(timing.end >= timing.begin);
    profile.add(timing);
  };
  profile.begin_phase("two runs");
  for (int i = 0; i < 2; ++i) {
    runner.run({floats({1, 3, 8}, std::vector<double>(24, 0.5))}, run);
    profile.end_run(0.25, runner.plan());
  }
  return profile;
}

constexpr fast::MachineLimits kLimits = {.flop_per_second = 1000,
                                         .code_flop_per_second = 4000,
                                         .bfloat_flop_per_second = 2000,
                                         .bytes_per_second = 100};

}  // namespace

TEST_CASE("profile: calls, arithmetic and bytes of each step") {
  for (const KernelSet kernels : {KernelSet::kRef, KernelSet::kFast}) {
    const Profile profile = profile_of(kernels);
    REQUIRE(profile.phases().size() == 1);
    const Profile::Phase& phase = profile.phases()[0];
    CHECK(phase.runs == 2);
    CHECK(phase.seconds == 0.5);
    REQUIRE(phase.plan.has_value() == (kernels == KernelSet::kFast));
    if (phase.plan) {
      CHECK(phase.plan->lower_bound > 0);
      CHECK(phase.plan->planned_bytes >= phase.plan->lower_bound);
      CHECK(phase.plan->folded.nodes == 0);
    }
    REQUIRE(phase.steps.size() == 3);
    const auto& [up, place] = phase.steps[0];
    CHECK(place == "@main%h");
    CHECK(up.calls == 2);
    CHECK(up.work.flop == 2 * (2 * 3 * 8 * 16));
    CHECK(up.work.bytes == 2 * 4 * (3 * 8 + 16 * 8 + 3 * 16));
    CHECK(phase.steps[1].row.work.flop == 0);
    CHECK(phase.steps[1].row.work.bytes == 2 * 4 * (3 * 16 + 3 * 16));
    // The weight moves in its own type.
    CHECK(phase.steps[2].row.work.bytes == 2 * (4 * 3 * 16 + 2 * 4 * 16 + 4 * 3 * 4));
    CHECK(phase.total().calls == 6);
    CHECK(profile.events().empty());
  }
}

TEST_CASE("profile: kernels of one name are one row, the longest first") {
  const auto kernels = profile_of(KernelSet::kFast).phases()[0].kernels();
  REQUIRE(kernels.size() == 2);
  CHECK(std::ranges::is_sorted(kernels, std::ranges::greater(), &Profile::Row::seconds));
  const auto linear = std::ranges::find(kernels, "Linear", &Profile::Row::kernel);
  REQUIRE(linear != kernels.end());
  CHECK(linear->calls == 4);
  CHECK(linear->work.flop == 2 * (2 * 3 * 8 * 16 + 2 * 3 * 16 * 4));
}

TEST_CASE("profile: work that moves nothing, caches and attention") {
  CHECK(attention_pairs(3, 5, {}) == 15);
  CHECK(attention_pairs(3, 5, {.causal = true}) == 3 + 4 + 5);
  const std::int64_t packed[] = {3, 64};
  CHECK(bytes_of({DType::kMXFP4, packed}) == 3 * 2 * 17);
}

TEST_CASE("profile: attention counts the pairs of a query and a key that it sees") {
  for (std::int64_t queries = 0; queries < 7; ++queries) {
    for (std::int64_t keys = 0; keys < 9; ++keys) {
      for (std::int64_t window = 0; window < 10; ++window) {  // 0: none
        CAPTURE(queries);
        CAPTURE(keys);
        CAPTURE(window);
        std::int64_t seen = 0;
        for (std::int64_t i = 0; i < queries; ++i) {
          const std::int64_t position = i + keys - queries;
          for (std::int64_t j = 0; j < keys; ++j)
            seen += j <= position && (window == 0 || j > position - window) ? 1 : 0;
        }
        AttentionSight sight{.causal = true};
        if (window != 0) sight.window = window;
        CHECK(attention_pairs(queries, keys, sight) == seen);
      }
    }
  }
}

/// A module of one op of attention over queries [2, 3, 4, 8] and five keys.
std::string attention(const std::string& op, const std::string& attributes, int value_width,
                      const std::string& rows = {}) {
  const std::string value = ", " + std::to_string(value_width) + "], Float32, CPU>";
  const std::string operands =
      "%q:tensor<[2, 3, 4, 8], Float32, CPU>, "
      "%k:tensor<[2, 5, 2, 8], Float32, CPU>, %v:tensor<[2, 5, 2" +
      value + rows;
  const std::string result = "%o:tensor<[2, 3, 4" + value;
  return "@main [mir_version:1] (" + operands + ") -> (" + result + ") {\nlinalg.CPU." + op +
         "Op [" + attributes + "] (" + operands + ") -> (" + result + ")\ncf.ReturnOp (" + result +
         ") -> ()\n}\n";
}

TEST_CASE("profile: the arithmetic of each op of attention, by both sets of kernels") {
  const std::pair<std::string, double> cases[] = {
      {attention("FlashAttention2", "causal_mask:true", 8), 3 + 4 + 5},
      {attention("FlashAttention2", "causal_mask:false", 8), 3 * 5},
      {attention("FlashAttention2SwaSink", "sliding_window:2, cur_seq_len:5", 6), 2 + 2 + 2},
      {attention("PagedAttn", "", 8, ", %r:tensor<[5], Int32, CPU>"), 3 * 5}};
  for (const auto& each : cases) {
    const std::string& text = each.first;
    for (const KernelSet kernels : {KernelSet::kRef, KernelSet::kFast}) {
      CAPTURE(text);
      SessionOptions options;
      options.kernels = kernels;
      Runner runner(text, options);
      double flop = 0;
      RunOptions run;
      run.timed = [&](const KernelTiming& timing) { flop += timing.work.flop; };
      std::vector<Tensor> inputs;
      for (const Port& port : runner.session().inputs()) {
        Shape shape;
        for (const Dim dim : port.type->dims()) shape.push_back(dim.constant());
        inputs.push_back(*Tensor::allocate(*port.type->dtype(), shape));
        std::ranges::fill(std::span(inputs.back().mutable_bytes(), inputs.back().bytes().size()),
                          std::byte{0});
      }
      runner.run(inputs, run);
      const double widths = text.find("SwaSink") != text.npos ? 8 + 6 : 8 + 8;
      CHECK(flop == 2 * 2 * 4 * each.second * widths);
    }
  }
}

TEST_CASE("profile: fused attention counts the keys within its window") {
  SessionOptions options;
  options.kernels = KernelSet::kFast;
  Runner runner(R"(
@main [mir_version:1] (%q:tensor<[1, 2, 6, 4], Float32, CPU>, %k:tensor<[1, 2, 6, 4], Float32, CPU>) -> (%o:tensor<[1, 2, 6, 4], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:true] (%q:tensor<[1, 2, 6, 4], Float32, CPU>, %k:tensor<[1, 2, 6, 4], Float32, CPU>) -> (%s:tensor<[1, 2, 6, 6], Float32, CPU>)
  linalg.CPU.CausalMaskOp [sliding_window:true, window_size:2] (%s:tensor<[1, 2, 6, 6], Float32, CPU>) -> (%m:tensor<[1, 2, 6, 6], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:-1] (%m:tensor<[1, 2, 6, 6], Float32, CPU>) -> (%p:tensor<[1, 2, 6, 6], Float32, CPU>)
  linalg.CPU.MatMulOp [transpose_b:false] (%p:tensor<[1, 2, 6, 6], Float32, CPU>, %k:tensor<[1, 2, 6, 4], Float32, CPU>) -> (%o:tensor<[1, 2, 6, 4], Float32, CPU>)
  cf.ReturnOp (%o:tensor<[1, 2, 6, 4], Float32, CPU>) -> ()
}
)",
                options);
  REQUIRE(runner.plan().node_names() == std::vector<std::string>{"attention"});
  double flop = 0;
  RunOptions run;
  run.timed = [&](const KernelTiming& timing) { flop += timing.work.flop; };
  const Tensor x = floats({1, 2, 6, 4}, std::vector<double>(48, 0.5));
  runner.run({x, x}, run);
  CHECK(flop == 2 * 2 * (1 + 5 * 2) * (4 + 4));
}

TEST_CASE("profile: the limit that a kernel's work would take longer at") {
  const auto row = [](double seconds, double flop, double bytes) {
    Work work;
    work.flop = flop;
    work.bytes = bytes;
    return Profile::Row{.kernel = "k", .calls = 1, .seconds = seconds, .work = work};
  };
  const Roofline compute = roofline(row(4, 2000, 100), kLimits);
  CHECK(compute.bound_by == "compute");
  CHECK(compute.share == 0.5);
  const Roofline memory = roofline(row(4, 500, 100), kLimits);
  CHECK(memory.bound_by == "memory");
  CHECK(memory.share == 0.25);
  // A quarter of the work at the rate of Float32, a quarter as codes, half as BFloat16.
  Profile::Row mixed = row(4, 4000, 100);
  mixed.work.code_flop = 1000;
  mixed.work.bfloat_flop = 2000;
  CHECK(roofline(mixed, kLimits).share == (1 + 0.25 + 1) / 4);
  CHECK(roofline(row(4, 0, 0), kLimits).bound_by == "-");
  CHECK(roofline(row(0, 1, 1), kLimits).share == 0);
  // A machine that takes longer than a second for one, and a limit that is not known.
  const Roofline slow = roofline(row(8, 2, 100), {.flop_per_second = 0.5,
                                                  .code_flop_per_second = 0,
                                                  .bfloat_flop_per_second = 0,
                                                  .bytes_per_second = 0});
  CHECK(slow.bound_by == "compute");
  CHECK(slow.share == 0.5);
}

TEST_CASE("profile: products count by the instruction that computes them") {
  const auto work_of_run = [](std::string_view weight, Activations activations) {
    std::string text = kTwoLayers;
    const std::string_view from = "[16, 8], Float32";
    text.replace(text.find("[16, 8], Float32"), from.size(), weight);
    SessionOptions options;
    options.kernels = KernelSet::kFast;
    options.activations = activations;
    Runner runner(text, options);
    Work work;
    RunOptions run;
    run.timed = [&](const KernelTiming& timing) { work += timing.work; };
    runner.run({floats({1, 3, 8}, std::vector<double>(24, 0.5))}, run);
    return work;
  };
  const Work floats = work_of_run("[16, 8], Float32", Activations::kFloat32);
  CHECK(floats.flop > 0);
  CHECK(floats.code_flop + floats.bfloat_flop == 0);
  const Work bfloats = work_of_run("[16, 8], Float16", Activations::kBFloat16);
  CHECK(bfloats.bfloat_flop == bfloats.flop);
}

TEST_CASE("profile: limits of every kind are measured at every instruction set") {
#ifdef MIR_CHECKED_BUILD
  constexpr bool kHasDots = false;  // sanitizers leave AVX-512 out
#else
  constexpr bool kHasDots = true;
#endif
  for (const IsaLevel isa : isa_levels()) {
    if (isa > detected_isa_level()) break;
    CAPTURE(name_of(isa));
    fast::Context context(1, isa);
    CHECK(fast::multiply_codes(4, context) > 0);
    CHECK(fast::multiply_codes(8, context) > 0);
    CHECK((fast::multiply_bfloats(context) > 0) == (kHasDots && isa == IsaLevel::kAvx512Bf16));
  }
}

TEST_CASE("profile: memory of the process beside what is needed once") {
  Profile profile = profile_of(KernelSet::kFast);
  CHECK_FALSE(profile.memory());
  CHECK(Json::parse(to_json(profile, kLimits))["memory"].is_null());
  CHECK(render(profile, kLimits) != test::Part{"memory in"});
  constexpr std::uint64_t kMebi = 1 << 20;
  profile.set_memory({.session = {.parameters = 10 * kMebi, .packed = 8 * kMebi, .caches = kMebi},
                      .most_planning = 30 * kMebi,
                      .after_planning = 12 * kMebi,
                      .most_running = 15 * kMebi});
  REQUIRE(profile.memory());
  const std::uint64_t values = profile.phases()[0].plan->planned_bytes;
  CHECK(profile.memory()->values == values);
  CHECK(profile.memory()->rest() == static_cast<std::int64_t>(4 * kMebi - values));
  const std::string table = render(profile, kLimits);
  CHECK(table == test::Part{"weights 10.0 (8.0 packed), values 0.0, caches 1.0"});
  CHECK(table.find("30.0 at the most while plans were made, 12.0 after that, 15.0 at the most in "
                   "runs: these +4.0") != table.npos);
  const Json memory = Json::parse(to_json(profile, kLimits))["memory"];
  CHECK(memory["packed"] == 8 * kMebi);
  CHECK(memory["resident_most_planning"] == 30 * kMebi);
}

TEST_CASE("profile: rates, shares and places of calls whose times are known") {
  SessionOptions options;
  options.kernels = KernelSet::kFast;
  Runner runner(kTwoLayers, options);
  Profile profile(true);
  profile.begin_phase("known");
  using std::chrono::milliseconds;
  const KernelTiming::Clock::time_point start{};
  const auto call = [&](std::size_t step, std::string_view kernel, int begin, int end, Work work) {
    profile.add({.schedule = &runner.schedule(),
                 .step = step,
                 .kernel = kernel,
                 .begin = start + milliseconds(begin),
                 .end = start + milliseconds(end),
                 .work = work});
  };
  call(0, "Linear", 100, 200, {.flop = 4e8, .bytes = 1e6});
  call(1, "Sin", 250, 300, {.flop = 1e8, .bytes = 2e7});
  call(0, "Linear", 400, 550, {.flop = 6e8, .bytes = 2e6});
  profile.end_run(0.5, runner.plan());
  profile.end_run(0.25, runner.plan());
  const fast::MachineLimits limits = {.flop_per_second = 8e9,
                                      .code_flop_per_second = 8e9,
                                      .bfloat_flop_per_second = 8e9,
                                      .bytes_per_second = 1e9};
  const std::string table = render(profile, limits);
  CHECK(table == test::Part{"limits of this machine: 8.0 GFLOP/s, 8.0 with codes of 8 bits, 8.0"});
  CHECK(table == test::Part{"known: 3 kernel calls, 300.000 ms in kernels, 750.000 ms in all\n"});
  CHECK(table ==
        test::Part{"  Linear                            2     250.000   83.3%       4.0      "
                   "0.0     50.0%  compute\n"});
  CHECK(table ==
        test::Part{"  Sin                               1      50.000   16.7%       2.0      "
                   "0.4     40.0%  memory\n"});
  CHECK(to_csv(profile) ==
        "phase,place,kernel,calls,seconds,flop,bytes\n"
        "\"known\",\"@main%h\",\"Linear\",2,0.250000000,1000000000,3000000\n"
        "\"known\",\"@main%t\",\"Sin\",1,0.050000000,100000000,20000000\n");
  const Json json = Json::parse(to_json(profile, limits));
  const Json& phase = json["phases"][0];
  CHECK(phase["runs"] == 2);
  CHECK(phase["seconds"] == 0.75);
  REQUIRE(phase["kernels"].size() == 2);
  CHECK(phase["kernels"][1]["kernel"] == "Sin");
  CHECK(phase["kernels"][0]["share_of_limit"].get<double>() == doctest::Approx(0.5));
  const Json trace = Json::parse(to_trace(profile));
  REQUIRE(trace["traceEvents"].size() == 3);
  const Json& last = trace["traceEvents"][2];
  CHECK(last["name"] == "Linear");
  CHECK(last["cat"] == "known");
  CHECK(last["ts"] == 300000);
  CHECK(last["dur"] == 150000);
  CHECK(last["args"]["place"] == "@main%h");
  CHECK(last["args"]["mean_flop"] == 5e8);
  CHECK(last["args"]["mean_bytes"] == 1.5e6);
}

TEST_CASE("profile: as a table, JSON, CSV and a trace") {
  const Profile profile = profile_of(KernelSet::kFast, true);
  const std::string table = render(profile, kLimits);
  CHECK(table == test::Part{"two runs: 6 kernel calls, "});
  CHECK(table == test::Part{"500.000 ms in all"});
  const Json json = Json::parse(to_json(profile, kLimits));
  CHECK(json["limits"]["bytes_per_second"] == 100);
  CHECK(json["phases"][0]["steps"].size() == 3);
  CHECK(json["phases"][0]["steps"][2]["place"] == "@main%y");
  const std::string csv = to_csv(profile);
  CHECK(std::ranges::count(csv, '\n') == 1 + 3);
  CHECK(csv == test::Part{"\"two runs\",\"@main%h\",\"Linear\",2,"});
  const Json trace = Json::parse(to_trace(profile));
  REQUIRE(trace["traceEvents"].size() == 6);
  CHECK(trace["otherData"]["dropped_events"] == 0);
  double end = 0;
  for (const Json& event : trace["traceEvents"]) {
    CHECK(event["ph"] == "X");
    CHECK(event["ts"].get<double>() >= end - 0.01);  // one after the other
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
}

}  // namespace mir::test::profile
