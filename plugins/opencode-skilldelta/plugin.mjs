// SkillDelta's gate in OpenCode. A message of the user gets the text of a skill as a further part where it is predicted to
// help; the `skill` tool refuses skills that surely harm. The work is in ../dsh-skilldelta/shared.
//
// opencode.json: { "plugin": [["file:///…/plugins/opencode-skilldelta/plugin.mjs", { "skill": "warehouse-units" }]] }
import { decide, recordOutcome, recordedIds } from '../dsh-skilldelta/shared/gate.mjs'
import { handler } from '../dsh-skilldelta/shared/handler.mjs'
import { deadlineOf, warm } from '../dsh-skilldelta/shared/server.mjs'
import { checkedSettings } from '../dsh-skilldelta/shared/settings.mjs'

/** The plugin with settings that are known already, for a module in .opencode/plugins. */
export const withSettings = given => ({ id: 'skilldelta', server: input => hooks(input, given) })

export default { id: 'skilldelta', server: hooks }

async function hooks({ client }, given) {
  const settings = checkedSettings(given, 'opencode.json')
  const conversations = new Map() // session -> { denied, awaited }
  if (!settings.force) warm(settings)

  return {
    /** A message of the user, or the prompt of a subagent in a session of its own, is about to be stored and then sent. */
    'chat.message': handler(settings, async ({ sessionID }, { message, parts }) => {
      const task = parts.filter(part => part.type === 'text' && !part.synthetic).map(part => part.text).join('\n').trim()
      if (!task) return undefined
      const deadline = deadlineOf(settings)
      const [skills, context] = await Promise.all([settings.native ? installed(client) : [], contextOf(client, sessionID, message.id)])
      const answer = await decide(settings, {
        harness: 'opencode', session: sessionID, task, skills, deadline,
        isBare: !context.some(isOurs), has: text => context.some(part => part.text === text),
      })
      const { awaited = [] } = conversations.get(sessionID) ?? {}
      conversations.set(sessionID, { denied: answer.denied, awaited: [...awaited, ...recordedIds(answer)] })
      if (answer.text) return () => void parts.push({ id: idAfter(parts), sessionID, messageID: message.id, type: 'text', text: answer.text, synthetic: true })
    }),

    /** The model wants to load a skill of the harness; an error is what it reads instead. */
    'tool.execute.before': async ({ tool, sessionID }, { args }) => {
      const reason = tool === 'skill' ? conversations.get(sessionID)?.denied.get(args?.name) : undefined
      if (reason) throw new Error(reason)
    },

    /** The agent has nothing left to do: what it took so far is told once, with the turn that a decision was taken in. */
    event: handler(settings, async ({ event }) => {
      const conversation = event.type === 'session.idle' && conversations.get(event.properties.sessionID)
      if (!conversation || !settings.outcomes) return
      const ids = conversation.awaited.splice(0)
      if (!ids.length) return
      const { data } = await client.session.messages({ path: { id: event.properties.sessionID } })
      await recordOutcome(settings, 'opencode', ids, outcomeOf(data.map(({ info }) => info).filter(({ role }) => role === 'assistant')))
    }),
  }
}

/** OpenCode orders the parts of a message by id: a longer id than the last one puts the skill behind the user's words, always. */
function idAfter(parts) {
  return `${parts.map(({ id }) => id ?? '').sort().at(-1) || 'prt_'}z`
}

const isOurs = ({ type, synthetic, id }) => type === 'text' && synthetic && id?.endsWith('z')

/** The skills that OpenCode offers its model; its client has no function for them. Where they cannot be had, there are none. */
async function installed(client) {
  const { data } = await client._client?.get({ url: '/skill' }).catch(() => ({})) ?? {}
  return Array.isArray(data) ? data.map(({ name, content, location }) => ({ name, body: String(content).trim(), file: location })) : []
}

/** The parts of the messages that the model gets; what is before a compaction is out of it. */
async function contextOf(client, id, ownMessage) {
  const { data } = await client.session.messages({ path: { id } })
  const earlier = (data ?? []).filter(({ info }) => info.id !== ownMessage)
  const summary = earlier.findLastIndex(({ info, parts }) => info.summary === true || parts.some(({ type }) => type === 'compaction'))
  return earlier.slice(summary + 1).flatMap(({ parts }) => parts)
}

function outcomeOf(messages) {
  const tokens = messages.reduce((sum, { tokens: { input, output, reasoning, cache } }) => sum + input + output + reasoning + cache.read + cache.write, 0)
  const seconds = messages.reduce((sum, { time }) => sum + ((time.completed ?? time.created) - time.created) / 1000, 0)
  return { tokens, seconds }
}
