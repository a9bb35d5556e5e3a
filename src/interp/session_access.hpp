// Access of the project's own tools to a session, besides the interface of mir/session.hpp.
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
  /// Returns the plan that runs an entry.
  static const ExecutionPlan& plan(const Session& session, std::size_t entry = 0);
  /// Returns the plan that runs an entry step by step, as observed runs need it. Makes the plan if
  /// there is none yet.
  static const ExecutionPlan& stepwise_plan(Session& session, std::size_t entry = 0);
  /// Complete in interp/session_run.hpp.
  static State& state(Session& session) { return *session.state_; }
};

}  // namespace mir
