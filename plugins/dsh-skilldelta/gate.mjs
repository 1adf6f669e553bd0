// The question to SkillDelta: asked of the server, then of the command where one is configured, then the fail mode.
// Nothing in here throws: a gate that cannot decide must not stop the agent. Shared by the plugins for DeepSeek Harness,
// OpenCode and pi. The predictor itself stays in SkillDelta.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'

const LONGEST_ANSWER = 4_000_000 // bytes; a skill's text and its evidence stay far below
const LONGEST_TASK = 400_000 // characters, as many as the server takes
const ACTIONS = new Set(['use', 'skip', 'abstain'])

/** The SHA-256 of a text: what audit lines show of a task, and how a bank names a version of a skill. */
export const digest = text => createHash('sha256').update(text, 'utf8').digest('hex')

/**
 * Decide whether `skill` is used for `task`. `settings` are those of settings.mjs. Questions that are asked together share
 * a `deadline`, so that a server that does not answer is waited for once; `signal` is the harness's own cancellation.
 * Returns { action, via, gain, threshold, reason, decisionId, repeated, skillText, error, milliseconds };
 * `via` is forced, server, command or fail-mode.
 */
export async function decide(settings, { task, ...named }) {
  const started = performance.now()
  const question = { task: task.slice(0, LONGEST_TASK).toWellFormed(), ...named }
  const decision = settings.force ? forced(settings.force) : await asked(settings, question)
  return { ...decision, milliseconds: Math.round((performance.now() - started) * 10) / 10 }
}

const forced = action => ({ action, via: 'forced', reason: `the configuration says ${action}` })

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
async function askServer(settings, { task, skill, conversation, source, skillDigest, wantText, signal, deadline }) {
  const names = { agent: settings.agent, suite: settings.suite, family: settings.family }
  const question = {
    task, skill, conversation, source, ...present(names),
    ...(skillDigest && { skill_digest: skillDigest }),
    ...(settings.policy && { policy: settings.policy }),
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
    gain: document.gain,
    threshold: document.threshold,
    reason: String(document.reason ?? ''),
    decisionId: document.decision_id,
    repeated: document.repeated === true,
    skillText: typeof document.skill_text === 'string' ? document.skill_text : undefined,
  }
}

/** Load what the first request needs before somebody waits for it. */
export const warm = settings => void call(settings, 'GET', '/v1/health').catch(() => {})

/** The end of the time that the server has for one opening of a conversation. */
export const deadlineOf = settings => AbortSignal.timeout(settings.timeout * 1000)

/** One request with the time limit, on a connection of its own: the server may have closed one that was kept. */
export async function call(settings, method, path, { body, signal, deadline } = {}) {
  const limit = deadline ?? deadlineOf(settings)
  const url = new URL(path, settings.server)
  const content = body && Buffer.from(JSON.stringify(body))
  const headers = {
    ...(content && { 'content-type': 'application/json', 'content-length': content.length }),
    ...(settings.token && isPrivate(url) && { authorization: `Bearer ${settings.token}` }),
  }
  const both = signal ? AbortSignal.any([limit, signal]) : limit
  const response = await sent(url, { method, headers, signal: both, agent: false }, content)
  const document = parsed(await boundedText(response))
  const { statusCode: status } = response // a redirection is an error too: a token goes to the configured server and nowhere else
  if (status < 200 || status > 299) throw new Error(`the server answered ${status}: ${document?.detail ?? 'no detail'}`)
  return document
}

/** The beginning of the answer. Not `fetch`: loading it takes longer than a decision, and somebody waits for the first one. */
function sent(url, options, content) {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    request(url, options, resolve).on('error', reject).end(content)
  })
}

/** Whether nobody on the way can read: this machine, or TLS. A token goes nowhere else. */
const isPrivate = ({ protocol, hostname }) => protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)

async function boundedText(response) {
  const parts = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > LONGEST_ANSWER) throw new Error('the answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `skilldelta predict`, without a shell; the task goes through stdin, because an argument ends at 128 kB. */
function askCommand(settings, { task, skill, signal }, serverError) {
  const names = { '--bank': settings.bank, '--agent': settings.agent, '--suite': settings.suite, '--family': settings.family }
  const [program, ...first] = [settings.command].flat()
  const words = [...first, 'predict', '--json', ...flags({ '--skill': skill, ...names, ...policyFlags(settings.policy) }), '-']
  return new Promise(resolve => {
    const options = { timeout: settings.commandTimeout * 1000, maxBuffer: LONGEST_ANSWER, signal, windowsHide: true }
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      try {
        if (error) throw new Error(lastLine(stderr) || error.code || error.message)
        resolve(fromDocument(JSON.parse(stdout), 'command'))
      } catch (commandError) {
        resolve(failed(settings, new Error(`${short(serverError)}; ${program}: ${short(commandError)}`)))
      }
    })
    child.stdin?.on('error', () => {}) // the command may end before it has read everything
    child.stdin?.end(task)
  })
}

const flags = names =>
  Object.entries(names).filter(([, value]) => value !== undefined && value !== '').flatMap(([flag, value]) =>
    value === true ? [flag] : [`${flag}=${value}`])

const policyFlags = policy =>
  Object.fromEntries(Object.entries(policy ?? {}).filter(([, value]) => value !== false).map(([name, value]) => [`--${name.replaceAll('_', '-')}`, value]))

const lastLine = text => String(text ?? '').trim().split('\n').at(-1)

const short = error => String(error?.cause?.message ?? error?.message ?? error).slice(0, 300)

/** The text to inject: the body of the configured file, or what the bank has. Undefined where neither can be read. */
export async function skillText(settings, decision) {
  return settings.skillFile ? readBody(settings.skillFile) : decision.skillText
}

/** The digest by which a bank knows the version of a skill in a file; undefined where the file cannot be read. */
export async function versionOf(file) {
  const body = file && await readBody(file)
  return body && digest(body)
}

/** The part of a SKILL.md that is injected: what follows the front matter, without blank ends. */
async function readBody(file) {
  try {
    const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
    const lines = text.split('\n')
    const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
    return (lines[0].trimEnd() === '---' && end > 0 ? lines.slice(end + 1).join('\n') : text).trim() || undefined
  } catch {
    return undefined
  }
}
