// One request to SkillDelta's server, over before its deadline whatever the server, the network or the runtime does.
import { connect } from 'node:net'

const LONGEST_ANSWER = 4_000_000 // bytes; a skill's text and its evidence stay far below

/** The end of the time that the server has for one opening of a conversation, on the clock of `performance.now()`. */
export const deadlineOf = ({ timeout }) => performance.now() + timeout * 1000

/** Load what the first request needs before somebody waits for it. */
export const warm = settings => void call(settings, 'GET', '/v1/health').catch(() => {})

/** The document that the server answers with. `signal` is the harness's own cancellation. */
export function call(settings, method, path, { body, signal, deadline = deadlineOf(settings) } = {}) {
  const url = new URL(path, settings.server)
  const content = Buffer.from(body ? JSON.stringify(body) : '')
  return settled(`${url.origin} did not answer within the timeout of ${settings.timeout} s`, { signal, deadline }, async atEnd => {
    const ask = isLoopback(url) && url.protocol === 'http:' ? askNear : askFar
    const { status, text } = await ask(url, { method, content, headers: headersFor(url, settings, content) }, atEnd)
    const document = parsed(text)
    // A redirection is an error, too: a token goes to the configured server and nowhere else.
    if (status < 200 || status > 299) throw new Error(`the server answered ${status}: ${String(document?.detail ?? 'no detail').slice(0, 300)}`)
    return document
  })
}

/**
 * What `work` comes to, or an error at the deadline or at the cancellation. The timer is our own and needs nobody: Bun,
 * in which OpenCode runs, loses the error of a request that is aborted. `work` gets a function that takes what to do
 * at the end, such as closing a connection.
 */
export function settled(complaint, { signal, deadline }, work) {
  const endings = []
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new Error('the harness cancelled the question'))
    const timer = setTimeout(() => reject(new Error(complaint)), Math.max(deadline - performance.now(), 0))
    endings.push(() => clearTimeout(timer), () => signal?.removeEventListener('abort', cancel))
    signal?.addEventListener('abort', cancel, { once: true })
    if (signal?.aborted) return cancel()
    Promise.resolve(work(ending => endings.push(ending))).then(resolve, reject)
  }).finally(() => endings.forEach(end => end()))
}

/** Whether nobody on the way can read: this machine, or TLS. A token goes nowhere else. */
const isPrivate = url => url.protocol === 'https:' || isLoopback(url)
const isLoopback = ({ hostname }) => ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)

const headersFor = (url, { token }, content) => ({
  host: url.host,
  accept: 'application/json',
  connection: 'close',
  ...(content.length && { 'content-type': 'application/json', 'content-length': content.length }),
  ...(token && isPrivate(url) && { authorization: `Bearer ${token}` }),
})

/** This machine, over a socket of our own: loading an HTTP client takes longer than a decision. */
function askNear(url, { method, content, headers }, atEnd) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname.replace(/[[\]]/g, ''), port: Number(url.port || 80) })
    const parts = []
    let length = 0
    atEnd(() => socket.destroy())
    socket.on('error', reject)
    socket.on('connect', () => {
      const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
      socket.write(`${method} ${url.pathname}${url.search} HTTP/1.0\r\n${head}\r\n`) // of 1.0: an answer ends with its connection
      socket.write(content)
    })
    socket.on('data', part => {
      length += part.length
      parts.push(part)
      if (length > LONGEST_ANSWER) reject(new Error('the answer is too long'))
    })
    socket.on('close', () => { try { resolve(response(Buffer.concat(parts))) } catch (error) { reject(error) } })
  })
}

function response(bytes) {
  const end = bytes.indexOf('\r\n\r\n')
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(bytes.subarray(0, 16).toString('latin1')) ?? []
  if (end < 0 || !status) throw new Error('the server does not answer as SkillDelta does')
  const told = /^content-length: *(\d+)/im.exec(bytes.subarray(0, end).toString('latin1'))
  const body = bytes.subarray(end + 4)
  if (told && body.length < Number(told[1])) throw new Error('the answer was cut off')
  return { status: Number(status), text: body.toString('utf8') }
}

/** Another machine. */
async function askFar(url, { method, content, headers }, atEnd) {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers, agent: false }, answer => {
      const parts = []
      let length = 0
      answer.on('data', part => {
        length += part.length
        parts.push(part)
        if (length > LONGEST_ANSWER) reject(new Error('the answer is too long'))
      })
      answer.on('error', reject)
      answer.on('aborted', () => reject(new Error('the answer was cut off')))
      answer.on('end', () => resolve({ status: answer.statusCode, text: Buffer.concat(parts).toString('utf8') }))
    })
    atEnd(() => asking.destroy())
    asking.on('error', reject).end(content)
  })
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
