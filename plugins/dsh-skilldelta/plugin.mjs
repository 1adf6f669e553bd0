// SkillDelta's gate in DeepSeek Harness. Before the first model step of each turn it asks SkillDelta about the user's
// words. A skill that is predicted to help is added to the step. Skills that the harness discovered itself are hidden from
// the model where they surely harm. Everywhere else the step is exactly what it is without the plugin.
import { randomUUID } from 'node:crypto'
import { conversationOf, isBare, isInContext, userText } from './conversation.mjs'
import { Discovered } from './discovered.mjs'
import { Outcomes } from './outcomes.mjs'
import { writeLine } from './shared/audit.mjs'
import { decide, recordedIds } from './shared/gate.mjs'
import { inTime } from './shared/handler.mjs'
import { deadlineOf, warm } from './shared/server.mjs'
import { Config } from './shared/settings.mjs'
import { registerTools } from './tools.mjs'

export const name = 'skilldelta'
export const inject = []
export { Config }

export function apply(ctx, settings) {
  const outcomes = new Outcomes(settings, line => audit(ctx, settings, line))
  const discovered = new WeakMap() // agent -> its skills; a resumed session has a new agent
  ctx.on('agent/pre-step', async (step, next) => {
    const text = await textFor(ctx, settings, step, discovered, outcomes).catch(() => undefined)
    const entering = await next()
    return text && entering.kind === 'enter' ? withSkill(entering, text) : entering
  }, { prepend: true }) // outermost: a hidden skill misses the catalog, and a supplied one comes last
  ctx.on('agent/disposed', ({ agent }) => void outcomes.finish(agent.session))
  ctx.effect(() => () => outcomes.finishAll())
  if (!settings.force) warm(settings)
  if (settings.tools) registerTools(ctx, settings)
}

/** The text that goes with a step, if any. Whatever goes wrong, the turn goes on. */
async function textFor(ctx, settings, { agent, messages, signal }, discovered, outcomes) {
  const task = userText(messages)
  if (!task) return undefined // the agent goes on with its work
  const { session } = agent
  if (!discovered.has(agent)) discovered.set(agent, new Discovered(ctx, agent))
  const harness = discovered.get(agent)
  let skills = []
  const answer = await inTime(settings, async () => {
    skills = settings.native ? await harness.offered({ signal }) : []
    return decide(settings, {
      harness: 'dsh', session: conversationOf(session), task, skills, isBare: isBare(session, name), signal,
      deadline: deadlineOf(settings), has: text => isInContext(session, text),
    })
  }, { signal })
  if (!answer || signal?.aborted) return undefined // a cancelled turn decides nothing
  if (answer.error) ctx.logger?.warn(`no answer from ${settings.server}: ${answer.error}`)
  if (answer.auditError) ctx.logger?.warn(`the audit file cannot be written: ${answer.auditError.message}`)
  outcomes.await(session, recordedIds(answer))
  await harness.hide(skills, answer.denied)
  return answer.text
}

/** The step with the skill as its last message. */
function withSkill(entering, text) {
  const source = { kind: 'plugin', plugin: name, form: 'instructions' }
  return { ...entering, messages: [...entering.messages, { id: randomUUID(), role: 'user', content: [{ type: 'text', text }], source }] }
}

async function audit(ctx, settings, line) {
  const error = settings.audit && await writeLine(settings.audit, line)
  if (error) ctx.logger?.warn(`the audit file cannot be written: ${error.message}`)
}
