// The question to SkillDelta about a message: asked of the server, then of the command where one is configured, then the
// fail mode. Nothing in here throws: a gate that cannot decide must not stop the agent. What a task is, which skill it is
// about and what was decided before is SkillDelta's to say; an adapter only tells what its harness knows.
import { execFile } from 'node:child_process'
import { decisionLines, writeLine } from './audit.mjs'
import { call, settled } from './server.mjs'
import { digest, readBody } from './skill-file.mjs'
import { folderVersionOf } from './skill-folder.mjs'

const LONGEST_ANSWER = 4_000_000 // bytes; a skill's text and its evidence stay far below
const LONGEST_TASK = 400_000 // characters, as many as the server takes
const LONGEST_REASON = 1_000
const MOST_SKILLS = 500
const ACTIONS = new Set(['use', 'skip', 'abstain'])

/**
 * What becomes of a message of the user. `settings` are those of settings.mjs; `message` has the harness's name, its
 * session, the user's words, the skills that the harness offers the model ({ name, file } or { name, body }), whether the
 * model's context is bare of any skill that was injected, and `has`, which tells whether a text is in that context.
 *
 * Returns { text, denied, decisions, line, via, error }: the text to inject, if any; the skills that the model must not
 * load, with the reasons; what was decided; a line for the person. `via` is forced, server, command or fail-mode.
 */
export async function decide(settings, message) {
  const started = performance.now()
  const skills = await offered(settings, message.skills ?? [])
  const answer = settings.force ? forced(settings, skills) : await asked(settings, { ...message, skills })
  const own = skills.find(({ name }) => name === answer.skill)
  const text = answer.skill === undefined ? undefined : textOf(settings, own, answer)
  const isThere = text !== undefined && await message.has?.(text) // resumed, forked, or said twice
  const result = { ...answer, text: isThere ? undefined : text, milliseconds: Math.round((performance.now() - started) * 10) / 10 }
  const error = settings.audit && await writeLine(settings.audit, decisionLines(settings, message, result))
  return error ? { ...result, auditError: error } : result
}

/** The skills on offer with their texts: the supplied one, and those of the harness as far as they are to be gated. */
async function offered(settings, found) {
  const isGated = ({ name }) => settings.native === true || (settings.native && settings.native.includes(name))
  const supplied = settings.skill ? [{ name: settings.skill, file: settings.skillFile, digest: settings.skillDigest }] : []
  const all = [...supplied, ...found.filter(skill => isGated(skill) && skill.name !== settings.skill)].slice(0, MOST_SKILLS)
  return Promise.all(all.map(async skill => {
    const [body, folderDigest] = await Promise.all([skill.body ?? (skill.file && readBody(skill.file)), folderVersionOf(skill.file)])
    return { ...skill, body, folderDigest }
  }))
}

/** An arm of a collection, or a wish of the configuration: nobody is asked. */
function forced(settings, skills) {
  const reason = `the configuration says ${settings.force}`
  const harness = skills.filter(({ name }) => name !== settings.skill)
  return {
    skill: settings.force === 'use' ? settings.skill : undefined,
    denied: new Map(settings.force === 'skip' ? harness.map(({ name }) => [name, `SkillDelta: ${reason}. Proceed without this skill.`]) : []),
    decisions: [], via: 'forced',
  }
}

async function asked(settings, message) {
  if (!message.skills.length) return { denied: new Map(), decisions: [], via: 'server' }
  const event = eventOf(settings, message)
  try {
    const path = `/v1/hooks/${message.harness}`
    return fromDocument(await call(settings, 'POST', path, { body: event, signal: message.signal, deadline: message.deadline }), 'server')
  } catch (error) {
    return settings.command ? askCommand(settings, message, event, error) : failed(settings, error)
  }
}

const failed = (settings, error) => ({
  skill: settings.failMode === 'use' ? settings.skill : undefined,
  denied: new Map(), decisions: [], via: 'fail-mode', error: short(error),
})

/** The event as SkillDelta takes it from every adapter. */
const eventOf = (settings, { task, session, skills, isBare }) => ({
  hook_event_name: 'prompt',
  session_id: session,
  prompt: task.slice(0, LONGEST_TASK).toWellFormed(),
  skills: skills.map(({ name, body, digest: pinned, folderDigest }) => ({
    name, has_text: body !== undefined, ...present({ digest: body === undefined ? pinned : digest(body), folder_digest: folderDigest }),
  })),
  fallback: settings.failMode,
  ...(isBare && { bare: true }),
  ...(settings.shadow && { shadow: true }),
  ...(settings.gate && { gate: settings.gate }),
  ...present({ agent: settings.agent, suite: settings.suite, family: settings.family }),
})

const present = names => Object.fromEntries(Object.entries(names).filter(([, value]) => value))

function fromDocument(document, via) {
  const { skill, text, denied, decisions, systemMessage } = document ?? {}
  if (typeof denied !== 'object' || denied === null || !Array.isArray(decisions)) throw new Error('the answer holds no decision')
  return {
    skill: typeof skill === 'string' ? skill : undefined,
    bankText: typeof text === 'string' ? text : undefined,
    denied: new Map(Object.entries(denied).map(([name, reason]) => [name, String(reason).slice(0, LONGEST_REASON)])),
    decisions: decisions.filter(row => ACTIONS.has(row?.action)),
    line: typeof systemMessage === 'string' ? systemMessage : undefined,
    via,
  }
}

/** `skilldelta hook`, without a shell; the event goes through stdin. */
function askCommand(settings, { harness, signal }, event, serverError) {
  const [program, ...first] = [settings.command].flat()
  const words = [...first, 'hook', harness, '--ask', 'bank', '--time-limit', String(settings.commandTimeout), ...(settings.bank ? ['--bank', settings.bank] : [])]
  const limits = { signal, deadline: performance.now() + settings.commandTimeout * 1000 }
  return settled(`no answer within ${settings.commandTimeout} s`, limits, atEnd => new Promise((resolve, reject) => {
    const child = execFile(program, words, { maxBuffer: LONGEST_ANSWER, windowsHide: true }, (error, stdout, stderr) => {
      try {
        if (error) throw new Error(lastLine(stderr) || error.code || error.message)
        if (!stdout.trim()) throw new Error(lastLine(stderr) || 'it says nothing')
        resolve({ ...fromDocument(JSON.parse(stdout), 'command'), ...(stderr.trim() && { error: lastLine(stderr) }) })
      } catch (commandError) {
        reject(commandError)
      }
    })
    atEnd(() => child.kill('SIGKILL')) // a program that has ended does not mind
    child.stdin?.on('error', () => {}) // the command may end before it has read everything
    child.stdin?.end(JSON.stringify(event))
  })).catch(error => failed(settings, new Error(`${short(serverError)}; ${program}: ${short(error)}`)))
}

const lastLine = text => String(text ?? '').trim().split('\n').at(-1)

const short = error => String(error?.cause?.message ?? error?.message ?? error).slice(0, 300)

/**
 * The text to inject: that of the file or of the harness, else what the bank has. Undefined where there is none, and where
 * the bank's text is not the one that was installed.
 */
function textOf(settings, own, { bankText }) {
  if (own?.body !== undefined || own?.file) return own.body
  const isForeign = bankText !== undefined && own?.digest && digest(bankText) !== own.digest
  return isForeign ? undefined : bankText
}

/** What becomes of decisions that were recorded for the first time: an outcome for each, once. */
export const recordOutcome = (settings, harness, ids, outcome) => Promise.all(ids.map(id =>
  call(settings, 'POST', '/v1/outcomes', { body: { decision_id: id, ...outcome, key: `${harness}-${id}` } })))

/** The numbers of the decisions that are in the log. */
export const recordedIds = ({ decisions }) => decisions.map(({ decision_id: id }) => id).filter(Number.isSafeInteger)
