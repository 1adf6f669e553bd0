// SkillDelta's gate in pi. The first prompt of a session gets the supplied skill as a message of its own where it is
// predicted to help; skills of pi that are predicted not to help leave the catalog, and their files cannot be read. The
// work is in ../dsh-skilldelta/shared.
//
// pi -e /…/plugins/pi-skilldelta/extension.mjs, with the settings in ~/.pi/agent/skilldelta.json: {"skill": "warehouse-units"}
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { decisionLine, writeLine } from '../dsh-skilldelta/shared/audit.mjs'
import { decide, isDenied, skillText } from '../dsh-skilldelta/shared/gate.mjs'
import { gatedNames } from '../dsh-skilldelta/shared/gated-skills.mjs'
import { handler } from '../dsh-skilldelta/shared/handler.mjs'
import { call, deadlineOf, warm } from '../dsh-skilldelta/shared/server.mjs'
import { checkedSettings } from '../dsh-skilldelta/shared/settings.mjs'
import { versionOf } from '../dsh-skilldelta/shared/skill-file.mjs'
import { folderVersionOf } from '../dsh-skilldelta/shared/skill-folder.mjs'

const LONGEST_SETTINGS = 100_000

export default pi => extend(pi, ownSettings())

/** The extension with settings that are known already, for a module in ~/.pi/agent/extensions. */
export const withSettings = given => pi => extend(pi, checkedSettings(given, 'the extension'))

function extend(pi, settings) {
  const hidden = new Map() // file of a skill that is skipped -> why
  const decisions = []
  let isOpen = false
  if (!settings.force) warm(settings)

  const ask = async (ctx, { mode, task, ...asked }) => {
    const conversation = `pi:${ctx.sessionManager.getSessionId()}`
    const decision = await decide(settings, { task, conversation, source: 'pi', ...asked })
    decisions.push(decision)
    if (settings.audit) await writeLine(settings.audit, decisionLine(settings, { mode, skill: asked.skill, conversation, task }, decision))
    return decision
  }

  pi.on('session_start', () => { isOpen = false; hidden.clear(); decisions.length = 0 })

  pi.on('before_agent_start', handler(settings, async ({ prompt, systemPromptOptions }, ctx) => {
    const task = prompt.trim()
    if (!isOpen && task) {
      isOpen = true
      const begun = ctx.sessionManager.getEntries().some(({ type, message }) => type === 'message' && message?.role === 'user')
      const limits = { signal: ctx.signal, deadline: deadlineOf(settings) }
      const question = asked => ask(ctx, { task, ...limits, ...asked })
      const [text] = await Promise.all([begun ? undefined : supplied(settings, question), gate(settings, systemPromptOptions, limits, question, hidden)])
      return () => {
        hide(systemPromptOptions, hidden)
        return text ? { message: { customType: 'skilldelta', content: text, display: false } } : undefined
      }
    }
    return () => hide(systemPromptOptions, hidden)
  }))

  pi.on('tool_call', handler(settings, async ({ toolName, input }, ctx) => {
    const reason = toolName === 'read' && hidden.get(resolve(ctx.cwd, String(input.path)))
    return reason ? { block: true, reason: `SkillDelta: ${reason}. Proceed without this skill.` } : undefined
  }))

  pi.on('agent_end', handler(settings, async ({ messages }) => {
    const recorded = decisions.splice(0).filter(({ decisionId, repeated }) => decisionId !== undefined && !repeated)
    const tokens = messages.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0)
    if (!settings.outcomes || !tokens) return
    await Promise.all(recorded.map(({ decisionId }) =>
      call(settings, 'POST', '/v1/outcomes', { body: { decision_id: decisionId, tokens, key: `pi-${decisionId}` } })))
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

async function supplied(settings, ask) {
  if (!settings.skill) return undefined
  const version = { skillDigest: await versionOf(settings.skillFile), skillFolderDigest: await folderVersionOf(settings.skillFile) }
  const decision = await ask({ mode: 'supplied', skill: settings.skill, ...version, wantText: !settings.skillFile })
  return decision.action === 'use' ? skillText(settings, decision) : undefined
}

/** Ask about the skills that pi has found, and remember the files of those that are skipped. */
async function gate(settings, { skills = [] }, limits, ask, hidden) {
  if (!settings.native) return
  const isGated = await gatedNames(settings, limits)
  const offered = skills.filter(skill => !skill.disableModelInvocation && isGated(skill.name))
  await Promise.all(offered.map(async ({ name, filePath }) => {
    const version = { skillDigest: await versionOf(filePath), skillFolderDigest: await folderVersionOf(filePath) }
    const decision = await ask({ mode: 'native', skill: name, ...version })
    if (isDenied(decision)) hidden.set(resolve(filePath), decision.reason)
  }))
}

/** Take hidden skills out of the catalog; pi builds it anew for every prompt. */
function hide(options, hidden) {
  if (hidden.size && options.skills) options.skills = options.skills.filter(({ filePath }) => !hidden.has(resolve(filePath)))
}
