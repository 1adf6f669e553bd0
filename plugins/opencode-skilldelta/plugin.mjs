// SkillDelta's gate in OpenCode. The first message of a conversation gets the supplied skill as a further part where it is
// predicted to help; the `skill` tool refuses skills that are predicted not to. The work is in ../dsh-skilldelta/shared.
//
// opencode.json: { "plugin": [["file:///…/plugins/opencode-skilldelta/plugin.mjs", { "skill": "warehouse-units" }]] }
import { decisionLine, writeLine } from '../dsh-skilldelta/shared/audit.mjs'
import { decide, isDenied, skillText } from '../dsh-skilldelta/shared/gate.mjs'
import { gatedNames } from '../dsh-skilldelta/shared/gated-skills.mjs'
import { handler, inTime } from '../dsh-skilldelta/shared/handler.mjs'
import { call, deadlineOf, warm } from '../dsh-skilldelta/shared/server.mjs'
import { checkedSettings } from '../dsh-skilldelta/shared/settings.mjs'
import { versionOf } from '../dsh-skilldelta/shared/skill-file.mjs'
import { folderVersionOf } from '../dsh-skilldelta/shared/skill-folder.mjs'

/** The plugin with settings that are known already, for a module in .opencode/plugins. */
export const withSettings = given => ({ id: 'skilldelta', server: input => hooks(input, given) })

export default { id: 'skilldelta', server: hooks }

async function hooks({ client }, given) {
  const settings = checkedSettings(given, 'opencode.json')
  const conversations = new Map() // session -> { task, decisions }
  if (!settings.force) warm(settings)

  const ask = async (sessionID, mode, { task, ...asked }) => {
    const conversation = `opencode:${sessionID}`
    const decision = await decide(settings, { task, conversation, source: 'opencode', ...asked })
    conversations.get(sessionID).decisions.push(decision)
    if (settings.audit) await writeLine(settings.audit, decisionLine(settings, { mode, skill: asked.skill, conversation, task }, decision))
    return decision
  }

  return {
    /** A message of the user is about to be stored, and then sent. */
    'chat.message': handler(settings, async ({ sessionID }, { message, parts }) => {
      const task = parts.filter(part => part.type === 'text' && !part.synthetic).map(part => part.text).join('\n').trim()
      if (!task || conversations.has(sessionID) || await isSubagent(client, sessionID)) return
      conversations.set(sessionID, { task, decisions: [] })
      if (!settings.skill || await hasBegun(client, sessionID, message.id)) return
      const version = { skillDigest: await versionOf(settings.skillFile), skillFolderDigest: await folderVersionOf(settings.skillFile) }
      const asked = { task, skill: settings.skill, ...version, wantText: !settings.skillFile }
      const decision = await ask(sessionID, 'supplied', asked)
      const text = decision.action === 'use' && await skillText(settings, decision)
      if (text) return () => void parts.push({ id: idAfter(parts), sessionID, messageID: message.id, type: 'text', text, synthetic: true })
    }),

    /** The model wants to load a skill of the harness; an error is what it reads instead. */
    'tool.execute.before': async ({ tool, sessionID }, { args }) => {
      const opening = conversations.get(sessionID)
      if (tool !== 'skill' || !opening || !settings.native) return
      const decision = await inTime(settings, async () => {
        const deadline = deadlineOf(settings)
        const isGated = await gatedNames(settings, { deadline })
        return isGated(args.name) ? ask(sessionID, 'native', { task: opening.task, skill: args.name, deadline }) : undefined
      })
      if (isDenied(decision)) throw new Error(`SkillDelta: ${decision.reason}. Proceed without this skill.`)
    },

    /** The agent has nothing left to do: what it took so far is told once, with the first turn. */
    event: handler(settings, async ({ event }) => {
      const opening = event.type === 'session.idle' && conversations.get(event.properties.sessionID)
      if (!opening || !settings.outcomes) return
      const recorded = opening.decisions.splice(0).filter(({ decisionId, repeated }) => decisionId !== undefined && !repeated)
      if (!recorded.length) return
      const { data } = await client.session.messages({ path: { id: event.properties.sessionID } })
      const outcome = outcomeOf(data.map(({ info }) => info).filter(({ role }) => role === 'assistant'))
      await Promise.all(recorded.map(({ decisionId }) =>
        call(settings, 'POST', '/v1/outcomes', { body: { decision_id: decisionId, ...outcome, key: `opencode-${decisionId}` } })))
    }),
  }
}

/** OpenCode orders the parts of a message by id: a longer id than the last one puts the skill behind the user's words, always. */
function idAfter(parts) {
  return `${parts.map(({ id }) => id ?? '').sort().at(-1) || 'prt_'}z`
}

/** A subagent's prompt is the work of a model, not the user's words. */
async function isSubagent(client, id) {
  const { data } = await client.session.get({ path: { id } })
  return Boolean(data?.parentID)
}

/** Whether the conversation was begun in an earlier process: then it was decided there. */
async function hasBegun(client, id, ownMessage) {
  const { data } = await client.session.messages({ path: { id } })
  return (data ?? []).some(({ info }) => info.role === 'user' && info.id !== ownMessage)
}

function outcomeOf(messages) {
  const tokens = messages.reduce((sum, { tokens: { input, output, reasoning, cache } }) => sum + input + output + reasoning + cache.read + cache.write, 0)
  const seconds = messages.reduce((sum, { time }) => sum + ((time.completed ?? time.created) - time.created) / 1000, 0)
  return { tokens, seconds }
}
