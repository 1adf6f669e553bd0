// One request to SkillDelta's server, over before its deadline whatever the server, the network or the runtime does.
import { connect } from 'node:net'
import { isProof, knownKey, newChallenge } from './server-proof.mjs'

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
    const ask = url.protocol === 'https:' ? askOverTls : askPlain
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

const isLoopback = ({ hostname }) => ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)

const headersFor = (url, { token }, content) => ({
  host: url.host,
  accept: 'application/json',
  connection: 'close',
  ...(content.length && { 'content-type': 'application/json', 'content-length': content.length }),
  ...(token && { authorization: `Bearer ${token}` }),
})

/**
 * A plain connection, over a socket of our own: loading an HTTP client takes longer than a decision. The server first
 * proves that it is the user's own; the question goes over the same connection.
 */
function askPlain(url, { method, content, headers }, atEnd) {
  const { key, isPinned } = knownKey()
  if (!isLoopback(url) && !isPinned) throw new Error(`${url.origin} is another machine, reached without TLS; use https, or set SKILLDELTA_SERVER_KEY`)
  if (!key) throw new Error(`${url.origin} cannot be known as yours: no server of yours has run here yet`)
  const challenge = newChallenge()
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname.replace(/[[\]]/g, ''), port: Number(url.port || 80) })
    let received = Buffer.alloc(0)
    let isProven = false
    atEnd(() => socket.destroy())
    socket.on('error', reject)
    socket.on('connect', () => socket.write(`GET /v1/proof?challenge=${challenge} HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`))
    socket.on('data', part => {
      try {
        received = Buffer.concat([received, part])
        if (received.length > LONGEST_ANSWER) throw new Error('the answer is too long')
        const answer = isProven ? undefined : response(received)
        if (!answer?.isWhole) return
        const address = isPinned ? undefined : `${socket.remoteAddress}:${socket.remotePort}`
        if (!isProof(parsed(answer.text), key, address, challenge)) throw new Error(`${url.origin} has not proved that it is your server, so it was sent nothing`)
        isProven = true
        received = Buffer.alloc(0)
        const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
        socket.write(`${method} ${url.pathname}${url.search} HTTP/1.0\r\n${head}\r\n`) // of 1.0: an answer ends with its connection
        socket.write(content)
      } catch (error) {
        reject(error)
      }
    })
    socket.on('close', () => {
      const answer = isProven ? response(received) : undefined
      answer?.isWhole ? resolve(answer) : reject(new Error('the server does not answer as SkillDelta does'))
    })
  })
}

/** An answer as far as it has come; undefined before its head is whole. */
function response(bytes) {
  const end = bytes.indexOf('\r\n\r\n')
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(bytes.subarray(0, 16).toString('latin1')) ?? []
  if (end < 0 || !status) return undefined
  const [, length] = /^content-length: *(\d+)/im.exec(bytes.subarray(0, end).toString('latin1')) ?? []
  const body = bytes.subarray(end + 4)
  return { status: Number(status), text: body.toString('utf8'), isWhole: length === undefined || body.length >= Number(length) }
}

async function askOverTls(url, { method, content, headers }, atEnd) {
  const { request } = await import('node:https')
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
