// The harness's own agent loop in this process: its runtime, sessions, tools and skills, with the plugin loaded into it.
import { startModelServer } from './model-server.mjs'

// Node 20 lacks it; the harness uses it when it is loaded.
Promise.withResolvers ??= function () {
  let resolve, reject
  const promise = new Promise((a, b) => { resolve = a; reject = b })
  return { promise, resolve, reject }
}
process.env.DEEPSEEK_API_KEY = 'fake'

const { Context } = await import('@deepseek-ai/cordis')
const { default: LlmRuntime, createUserMessage } = await import('@deepseek-ai/dsh-llm')
const { default: SessionStore, SessionId } = await import('@deepseek-ai/dsh-session')
const { default: SystemPrompt } = await import('@deepseek-ai/dsh-system-prompt')
const { default: ToolRuntime } = await import('@deepseek-ai/dsh-tools')
const { default: AgentRegistry } = await import('@deepseek-ai/dsh-agent')
const { default: AgentLoop } = await import('@deepseek-ai/dsh-agent-loop')
const { default: SkillRegistry } = await import('@deepseek-ai/dsh-skill')
const toolSkill = await import('@deepseek-ai/dsh-tool-skill')
const deepseek = await import('@deepseek-ai/dsh-llm-deepseek')
const plugin = await import('../plugin.mjs')

/** Start the harness. `settings` are the plugin's, or undefined for the harness without it; `skills` are discovered ones. */
export async function startHarness({ settings, skills = [], answer } = {}) {
  const model = await startModelServer(answer)
  try {
    return await composed(model, settings, skills)
  } catch (error) {
    await model.close()
    throw error
  }
}

async function composed(model, settings, skills) {
  const ctx = new Context()
  const parts = [
    [LlmRuntime], [SessionStore], [SystemPrompt], [ToolRuntime], [AgentRegistry], [AgentLoop, { agents: [] }],
    [deepseek, { baseURL: model.url }], [SkillRegistry, {}], [toolSkill, {}],
    ...(settings ? [[plugin, settings]] : []),
  ]
  const fibers = []
  for (const [part, config] of parts) fibers.push(await ctx.plugin(part, config))
  await ctx.inject(['skills'], scope => { for (const skill of skills) scope.skills.register(skill) })
  return {
    ctx, model,
    plugin: fibers.at(-1),
    requests: model.requests,
    start: (id, meta) => ctx.agentLoop.create(SessionId(id), { provider: 'deepseek-official', model: 'deepseek-v4-flash' }, meta),
    create: (id, seed) => ctx.agents.create({ sessionId: SessionId(id), seed, agentOptions: { provider: 'deepseek-official', model: 'deepseek-v4-flash' } }),
    stop: () => model.close(),
  }
}

/** Say something to an agent, as the user unless told otherwise, and wait until it has nothing left to do. */
export async function say(agent, text, source = { kind: 'user' }) {
  agent.followup(createUserMessage({ content: [{ type: 'text', text }], source }))
  await agent.whenIdle()
}

/** The texts that the model saw in its user messages, of one request. */
export const userTexts = request => request.messages.filter(({ role }) => role === 'user').map(({ content }) => content)

export const discovered = (name, content) => ({ name, description: `About ${name}.`, content, source: 'project-agents' })
