// How a server proves that it belongs to the user who asks it, before it is sent a prompt or a token: with a key that only
// the user can read. The same as skilldelta.server_proof in Python.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
const SHORTEST = 32

export const newChallenge = () => randomBytes(32).toString('hex')

/** Whether a server's answer proves that it has the key. Without an address any is accepted: the key was copied by its user. */
export function isProof(document, key, address, challenge) {
  if (typeof document?.address !== 'string' || typeof document.proof !== 'string') return false
  if (address !== undefined && document.address !== address) return false
  const expected = Buffer.from(createHmac('sha256', key).update(`skilldelta server\n${document.address}\n${challenge}`).digest('hex'))
  const given = Buffer.from(document.proof)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The key of the user's server, and whether a variable names it; an empty key where there is none. */
export function knownKey(environment = process.env) {
  const pinned = (environment.SKILLDELTA_SERVER_KEY ?? '').trim()
  return pinned ? { key: pinned, isPinned: true } : { key: keyIn(keyFile(environment)), isPinned: false }
}

function keyFile(environment) {
  const home = environment.HOME || environment.USERPROFILE || homedir()
  const state = environment.XDG_STATE_HOME || environment.LOCALAPPDATA || (home && join(home, '.local', 'state'))
  return isAbsolute(state) ? join(state, 'skilldelta', 'server-key') : ''
}

/** The key in a file that is its owner's alone; anything else is no key. */
function keyIn(file) {
  try {
    const descriptor = openSync(file, FLAGS)
    try {
      const status = fstatSync(descriptor)
      const isPrivate = !process.getuid || (status.uid === process.getuid() && !(status.mode & 0o077))
      const key = status.isFile() && status.size < 1000 && isPrivate ? readFileSync(descriptor, 'ascii').trim() : ''
      return key.length >= SHORTEST ? key : ''
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return ''
  }
}
