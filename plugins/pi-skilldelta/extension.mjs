// SkillDelta's gate in pi. A prompt gets the text of a skill as a message of its own where it is predicted to help; skills
// of pi that surely harm leave the catalog, and their files cannot be read. The work is in ../dsh-skilldelta/shared.
//
// pi -e /…/plugins/pi-skilldelta/extension.mjs, with the settings in ~/.pi/agent/skilldelta.json: {"skill": "warehouse-units"}
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { decide, recordOutcome, recordedIds } from '../dsh-skilldelta/shared/gate.mjs'
import { handler } from '../dsh-skilldelta/shared/handler.mjs'
import { deadlineOf, warm } from '../dsh-skilldelta/shared/server.mjs'
import { checkedSettings } from '../dsh-skilldelta/shared/settings.mjs'

const LONGEST_SETTINGS = 100_000
const TYPE = 'skilldelta' // of our messages in a session

export default pi => extend(pi, ownSettings())

/** The extension with settings that are known already, for a module in ~/.pi/agent/extensions. */
export const withSettings = given => pi => extend(pi, checkedSettings(given, 'the extension'))

function extend(pi, settings) {
  const hidden = new Map() // file of a skill that is denied -> why
  let awaited = []
  if (!settings.force) warm(settings)

  pi.on('session_start', () => { hidden.clear(); awaited = [] })

  pi.on('before_agent_start', handler(settings, async ({ prompt, systemPromptOptions }, ctx) => {
    const task = prompt.trim()
    if (!task) return () => hide(systemPromptOptions, hidden)
    const context = contextOf(ctx.sessionManager)
    const skills = (systemPromptOptions.skills ?? []).filter(skill => !skill.disableModelInvocation).map(({ name, filePath }) => ({ name, file: filePath }))
    const answer = await decide(settings, {
      harness: 'pi', session: ctx.sessionManager.getSessionId(), task, skills, signal: ctx.signal, deadline: deadlineOf(settings),
      isBare: !context.some(({ customType }) => customType === TYPE), has: text => context.some(entry => contentOf(entry) === text),
    })
    return () => {
      awaited.push(...recordedIds(answer))
      hidden.clear()
      for (const { name, file } of skills) if (answer.denied.has(name)) hidden.set(resolve(file), answer.denied.get(name))
      hide(systemPromptOptions, hidden)
      return answer.text ? { message: { customType: TYPE, content: answer.text, display: false } } : undefined
    }
  }))

  pi.on('tool_call', handler(settings, async ({ toolName, input }, ctx) => {
    const reason = toolName === 'read' && hidden.get(resolve(ctx.cwd, String(input.path)))
    return reason ? { block: true, reason } : undefined
  }))

  pi.on('agent_end', handler(settings, async ({ messages }) => {
    const tokens = messages.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0)
    const ids = awaited.splice(0)
    if (settings.outcomes && tokens) await recordOutcome(settings, 'pi', ids, { tokens })
  }))
}

/** From the user's own file: one of a project could send prompts to a server of its choice. */
function ownSettings() {
  const file = join(process.env.PI_CODING_AGENT_DIR || join(homedir(), '.pi', 'agent'), 'skilldelta.json')
  let given
  try {
    given = JSON.parse(readFileSync(file, 'utf8').slice(0, LONGEST_SETTINGS))
  } catch (error) {
    throw new Error(`SkillDelta: ${file} cannot be read (${error.code ?? 'not JSON'}); it holds the settings, such as {"skill": "NAME"}`)
  }
  return checkedSettings(given, file)
}

/** The messages that the model gets; what a compaction has replaced is not among them. */
const contextOf = sessions => (sessions.buildContextEntries?.() ?? sessions.getEntries()).map(entry => entry.message ?? entry)

const contentOf = ({ content }) =>
  (Array.isArray(content) ? content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n') : content)

/** Take hidden skills out of the catalog; pi builds it anew for every prompt. */
function hide(options, hidden) {
  if (hidden.size && options.skills) options.skills = options.skills.filter(({ filePath }) => !hidden.has(resolve(filePath)))
}
