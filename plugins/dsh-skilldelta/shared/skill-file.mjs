// The text of a skill's file. The file is read like a stranger's: only a regular one, of a bounded size, without waiting.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

const MOST_BYTES = 4 << 20
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) // a pipe would be waited for

/** The SHA-256 of a text: what audit lines show of a task, and how a bank names a version of a skill. */
export const digest = text => createHash('sha256').update(text, 'utf8').digest('hex')

/** The part of a SKILL.md that is injected: what follows the front matter, without blank ends. */
export async function readBody(file) {
  try {
    return bodyOf(await readWhole(file))
  } catch {
    return undefined
  }
}

/** The whole text of a skill's file, front matter included. */
export const readWhole = async file => (await contentOf(file)).replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')

/** The lines between the dashes at the beginning of a SKILL.md. */
export const frontOf = text => text.split('\n').slice(1, Math.max(1, endOfFront(text)))

/** What follows the front matter. */
export const bodyOf = text => text.split('\n').slice(endOfFront(text) + 1).join('\n').trim() || undefined

const endOfFront = text => {
  const lines = text.split('\n')
  return lines[0].trimEnd() === '---' ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---') : -1
}

async function contentOf(file) {
  const handle = await open(file, FLAGS)
  try {
    const status = await handle.stat()
    if (!status.isFile() || status.size > MOST_BYTES) throw new Error('not a regular file of a few megabytes at most')
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
