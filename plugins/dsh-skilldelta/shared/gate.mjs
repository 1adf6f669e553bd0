// The question to SkillDelta: asked of the server, then of the command where one is configured, then the fail mode.
// Nothing in here throws: a gate that cannot decide must not stop the agent. Shared by the plugins for DeepSeek Harness,
// OpenCode and pi. The predictor itself stays in SkillDelta.
import { execFile } from 'node:child_process'
import { call, settled } from './server.mjs'
import { digest, readBody } from './skill-file.mjs'

const LONGEST_ANSWER = 4_000_000 // bytes; a skill's text and its evidence stay far below
const LONGEST_TASK = 400_000 // characters, as many as the server takes
const LONGEST_REASON = 1_000
const ACTIONS = new Set(['use', 'skip', 'abstain'])

/**
 * Decide whether `skill` is used for `task`. `settings` are those of settings.mjs. Questions that are asked together share
 * a `deadline`, so that a server that does not answer is waited for once; `signal` is the harness's own cancellation.
 * Returns { action, via, gain, threshold, reason, decisionId, repeated, skillText, error, milliseconds };
 * `via` is forced, server, command or fail-mode.
 */
export async function decide(settings, { task, ...named }) {
  const started = performance.now()
  const { shadow } = settings // decides and logs, under a name of its own, but changes nothing
  const source = shadow ? `${named.source}-shadow` : named.source
  const question = { task: task.slice(0, LONGEST_TASK).toWellFormed(), ...named, source }
  const answer = settings.force ? forced(settings.force) : await asked(settings, question)
  const decision = shadow ? { ...answer, action: 'abstain', certainty: undefined, wouldBe: answer.action } : answer
  return { ...decision, milliseconds: Math.round((performance.now() - started) * 10) / 10 }
}

const forced = action => ({ action, via: 'forced', certainty: 'sure', reason: `the configuration says ${action}` })

async function asked(settings, question) {
  try {
    return await askServer(settings, question)
  } catch (error) {
    return settings.command ? askCommand(settings, question, error) : failed(settings, error)
  }
}

const failed = (settings, error) => ({
  action: settings.failMode,
  via: 'fail-mode',
  reason: `no decision, so the fail mode applies: ${settings.failMode}`,
  error: short(error),
})

/** The server's decision; an answer that is not a decision is an error. */
async function askServer(settings, { task, skill, conversation, source, skillDigest, skillFolderDigest, wantText, signal, deadline }) {
  const names = { agent: settings.agent, suite: settings.suite, family: settings.family }
  const question = {
    text: task, skill, conversation, source, ...present(names),
    ...(skillDigest && { skill_digest: skillDigest }),
    ...(skillFolderDigest && { skill_folder_digest: skillFolderDigest }),
    ...(settings.gate && { gate: settings.gate }),
    ...(wantText && { include_skill_text: true }),
  }
  return fromDocument(await call(settings, 'POST', '/v1/decide', { body: question, signal, deadline }), 'server')
}

const present = names => Object.fromEntries(Object.entries(names).filter(([, value]) => value))

function fromDocument(document, via) {
  if (!ACTIONS.has(document?.action)) throw new Error('the answer holds no decision')
  return {
    action: document.action,
    via,
    gain: finite(document.gain),
    threshold: finite(document.threshold),
    reason: String(document.reason ?? '').slice(0, LONGEST_REASON),
    decisionId: Number.isSafeInteger(document.decision_id) ? document.decision_id : undefined,
    repeated: document.repeated === true,
    certainty: typeof document.certainty === 'string' ? document.certainty : undefined,
    skillText: typeof document.skill_text === 'string' ? document.skill_text : undefined,
  }
}

/** Whether the harness's own way to the skill is closed: only for sure evidence of harm. Everything else is hands off. */
export const isDenied = decision => decision?.action === 'skip' && decision.certainty === 'sure'

const finite = value => (Number.isFinite(value) ? value : undefined)

/** `skilldelta predict`, without a shell; the task goes through stdin, because an argument ends at 128 kB. */
function askCommand(settings, { task, skill, signal }, serverError) {
  const names = { '--bank': settings.bank, '--agent': settings.agent, '--suite': settings.suite, '--family': settings.family }
  const [program, ...first] = [settings.command].flat()
  const words = [...first, 'predict', '--json', ...flags({ '--skill': skill, ...names, ...gateFlags(settings.gate) }), '-']
  const limits = { signal, deadline: performance.now() + settings.commandTimeout * 1000 }
  return settled(`no answer within ${settings.commandTimeout} s`, limits, atEnd => new Promise((resolve, reject) => {
    const child = execFile(program, words, { maxBuffer: LONGEST_ANSWER, windowsHide: true }, (error, stdout, stderr) => {
      try {
        if (error) throw new Error(lastLine(stderr) || error.code || error.message)
        resolve(fromDocument(JSON.parse(stdout), 'command'))
      } catch (commandError) {
        reject(commandError)
      }
    })
    atEnd(() => child.kill('SIGKILL')) // a program that has ended does not mind
    child.stdin?.on('error', () => {}) // the command may end before it has read everything
    child.stdin?.end(task)
  })).catch(error => failed(settings, new Error(`${short(serverError)}; ${program}: ${short(error)}`)))
}

const flags = names =>
  Object.entries(names).filter(([, value]) => value !== undefined && value !== '').flatMap(([flag, value]) =>
    value === true ? [flag] : [`${flag}=${value}`])

const gateFlags = gate =>
  Object.fromEntries(Object.entries(gate ?? {}).filter(([, value]) => value !== false).map(([name, value]) => [`--${name.replaceAll('_', '-')}`, value]))

const lastLine = text => String(text ?? '').trim().split('\n').at(-1)

const short = error => String(error?.cause?.message ?? error?.message ?? error).slice(0, 300)

/**
 * The text to inject: the body of the configured file, or what the bank has. Undefined where neither can be read, and where
 * the bank's text is not the one that was installed.
 */
export async function skillText(settings, decision) {
  if (settings.skillFile) return readBody(settings.skillFile)
  const { skillText: text } = decision
  return text !== undefined && settings.skillDigest && digest(text) !== settings.skillDigest ? undefined : text
}
