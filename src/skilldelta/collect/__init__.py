"""Paired executions of real agents: suites, plan, arms, agents, graders, budget, runner."""
