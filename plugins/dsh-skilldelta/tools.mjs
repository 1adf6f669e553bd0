// Two tools for the model, for people who want to look into the gate from a conversation. Off unless asked for, because
// a tool changes every prompt, also those in which the skill is skipped.
import { call } from './shared/server.mjs'

/** Register skilldelta_route and skilldelta_status as soon as the harness has its tools. */
export function registerTools(ctx, settings) {
  void ctx.inject(['tools'], scope => {
    scope.tools.register(route(settings))
    scope.tools.register(status(settings))
  })
}

const route = settings => tool({
  name: 'skilldelta_route',
  description: 'Ask SkillDelta whether a skill is predicted to help on a task: action, predicted gain, reason and evidence.',
  parameters: {
    type: 'object',
    properties: {
      task: { type: 'string', description: 'The task, in the words of the user.' },
      skill: { type: 'string', description: 'The skill on offer.' },
    },
    required: settings.skill ? ['task'] : ['task', 'skill'],
    additionalProperties: false,
  },
  answer: ({ task, skill = settings.skill }, signal) => call(settings, 'POST', '/v1/decide', {
    body: { text: task, skill, source: 'dsh', record: false, ...(settings.gate && { gate: settings.gate }) }, signal,
  }),
})

const status = settings => tool({
  name: 'skilldelta_status',
  description: 'Whether SkillDelta answers, and what its bank of paired executions holds.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  answer: (_, signal) => call(settings, 'GET', '/v1/bank', { signal }),
})

function tool({ answer, ...definition }) {
  return {
    ...definition,
    output: { schema: {}, render: (_, value) => [{ type: 'text', text: JSON.stringify(value) }] },
    execute: async (args, { signal }) => answer(args, signal),
  }
}
