// SkillDelta's gate in DeepSeek Harness. Before the first model step of a conversation it asks SkillDelta about the user's
// task. A supplied skill is added to the step if it is predicted to help. Skills that the harness discovered itself are
// hidden from the model if they are not. Where the answer is skip, the step is exactly what it is without the plugin.
import { randomUUID } from 'node:crypto'
import { conversationOf, hasBegun, userText } from './conversation.mjs'
import { gateDiscovered } from './discovered.mjs'
import { Outcomes } from './outcomes.mjs'
import { decisionLine, writeLine } from './shared/audit.mjs'
import { decide, skillText } from './shared/gate.mjs'
import { inTime } from './shared/handler.mjs'
import { deadlineOf, warm } from './shared/server.mjs'
import { Config } from './shared/settings.mjs'
import { versionOf } from './shared/skill-file.mjs'
import { folderVersionOf } from './shared/skill-folder.mjs'
import { registerTools } from './tools.mjs'

export const name = 'skilldelta'
export const inject = []
export { Config }

export function apply(ctx, settings) {
  const outcomes = new Outcomes(settings, line => audit(ctx, settings, line))
  const openings = new WeakMap() // agent -> its opening; a resumed session has a new agent
  ctx.on('agent/pre-step', async (step, next) => {
    const opening = await openingOf(openings, step, () => open(ctx, settings, step, outcomes))
    const entering = await next()
    return opening?.text && entering.kind === 'enter' ? withSkill(entering, opening) : entering
  }, { prepend: true }) // outermost: a hidden skill misses the catalog, and a supplied one comes last
  ctx.on('agent/disposed', ({ agent }) => void outcomes.finish(agent.session))
  ctx.effect(() => () => outcomes.finishAll())
  if (!settings.force) warm(settings)
  if (settings.tools) registerTools(ctx, settings)
}

/** One opening per agent, made by the first step that has words of the user. A cancelled one is made again. */
async function openingOf(openings, { agent, messages, signal }, make) {
  if (!openings.has(agent) && userText(messages)) openings.set(agent, make())
  const opening = await openings.get(agent) // always in time, see `open`
  if (signal?.aborted && opening && !opening.text) openings.delete(agent)
  return opening
}

/** Ask about the supplied skill and the discovered ones at the same time. Whatever goes wrong, the turn goes on. */
async function open(ctx, settings, { agent, messages, signal }, outcomes) {
  const task = userText(messages)
  const conversation = conversationOf(agent.session)
  const deadline = deadlineOf(settings)
  let isOver = false
  const question = { task, conversation, source: 'dsh', signal, deadline }
  const ask = async (mode, asked) => {
    const decision = await decide(settings, { ...question, ...asked })
    outcomes.await(agent.session, decision)
    await audit(ctx, settings, decisionLine(settings, { mode, skill: asked.skill, conversation, task }, decision))
    return decision
  }
  const limits = { signal, deadline, isOver: () => isOver || signal?.aborted }
  const texts = await inTime(settings, () => Promise.all([
    hasBegun(agent.session) ? undefined : supplied(settings, ask),
    settings.native ? gateDiscovered(ctx, settings, agent, limits, ask) : undefined,
  ].map(work => work?.catch(error => audit(ctx, settings, { event: 'error', conversation, error: String(error) })))), { signal })
  isOver = true
  return { text: typeof texts?.[0] === 'string' ? texts[0] : undefined }
}

/** The supplied skill's text where it is used; undefined where there is none, or it is skipped. */
async function supplied(settings, ask) {
  if (!settings.skill) return undefined
  const version = { skillDigest: await versionOf(settings.skillFile), skillFolderDigest: await folderVersionOf(settings.skillFile) }
  const decision = await ask('supplied', { skill: settings.skill, ...version, wantText: !settings.skillFile })
  return decision.action === 'use' ? skillText(settings, decision) : undefined
}

/** The step with the skill as its last message; it enters once. */
function withSkill(entering, opening) {
  const content = [{ type: 'text', text: opening.text }]
  opening.text = undefined
  const source = { kind: 'plugin', plugin: name, form: 'instructions' }
  return { ...entering, messages: [...entering.messages, { id: randomUUID(), role: 'user', content, source }] }
}

async function audit(ctx, settings, line) {
  const failure = line.error && `no answer from ${settings.server}: ${line.error}`
  if (failure) ctx.logger?.warn(failure)
  const error = settings.audit && await writeLine(settings.audit, line)
  if (error) ctx.logger?.warn(`the audit file cannot be written: ${error.message}`)
}
