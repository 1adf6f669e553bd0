// What every handler of an adapter has in common: it cannot fail, and it is over in time. An agent is never stopped.
import { settled } from './server.mjs'

const SPARE = 0.1 // seconds for everything but the server and the command

/** The longest that the agent waits for one handler, in seconds. */
export const mostSeconds = ({ timeout, command, commandTimeout }) => timeout + (command ? commandTimeout : 0) + SPARE

/** What `work` comes to; undefined where it fails, or takes longer than the settings allow. */
export const inTime = (settings, work, { signal } = {}) =>
  settled('too late', { signal, deadline: performance.now() + mostSeconds(settings) * 1000 }, async () => work()).catch(() => undefined)

/**
 * A handler that cannot fail and cannot hang. What it comes to is returned; a function is called first, so that what
 * a handler changes is changed in time or not at all.
 */
export const handler = (settings, work) => async (...given) => {
  const result = await inTime(settings, () => work(...given))
  try {
    return typeof result === 'function' ? result() : result
  } catch {
    return undefined
  }
}
