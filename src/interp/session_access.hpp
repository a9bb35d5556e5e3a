// What the project's own tools see of a session besides the interface of mir/session.hpp.
#pragma once

#include <cstddef>

#include "mir/session.hpp"
#include "plan/execution_plan.hpp"
#include "plan/schedule.hpp"

namespace mir {

class SessionAccess {
 public:
  using State = Session::State;

  static const Schedule& schedule(const Session& session, std::size_t entry = 0);
  /// What runs an entry.
  static const ExecutionPlan& plan(const Session& session, std::size_t entry = 0);
  /// What runs it step by step, as runs are that are observed; made where there is none yet.
  static const ExecutionPlan& stepwise_plan(Session& session, std::size_t entry = 0);
  /// Complete in interp/session_run.hpp.
  static State& state(Session& session) { return *session.state_; }
};

}  // namespace mir
