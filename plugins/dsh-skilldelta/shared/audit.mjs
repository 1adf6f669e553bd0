// The audit file: one JSON line per decision and per recorded outcome, readable by its owner alone.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { digest } from './skill-file.mjs'

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Append lines. A file that cannot be written costs the lines, never the agent's turn. Returns the error, if any. */
export async function writeLine(file, ...lines) {
  const rows = lines.flat()
  if (!rows.length) return undefined
  try {
    const handle = await open(file, FLAGS, 0o600) // a link at the place is refused, not followed
    try {
      if (!(await handle.stat()).isFile()) throw new Error('it is not a regular file')
      await handle.appendFile(rows.map(row => JSON.stringify({ time: new Date().toISOString(), ...row }) + '\n').join(''))
    } finally {
      await handle.close()
    }
  } catch (error) {
    return error
  }
}

/** What a message leaves in the file: no task text unless asked for, never a skill's text. */
export function decisionLines(settings, { harness, session, task }, { decisions, via, error, milliseconds }) {
  const head = { event: 'decision', conversation: `${harness}:${session}`, task_digest: digest(task), ...(settings.auditTasks && { task }) }
  const tail = { via, ...(error && { error }), ...(settings.shadow && { shadow: true }), milliseconds }
  const taken = decisions.filter(({ decision_id: id, chosen }) => id !== null || chosen) // about the others there is nothing to say
  if (via === 'fail-mode' || (!taken.length && error)) return [{ ...head, skill: settings.skill, action: settings.failMode, ...tail }]
  if (via === 'forced') return [{ ...head, skill: settings.skill, action: settings.force, ...tail }]
  if (!taken.length) return [{ ...head, action: 'abstain', reason: decisions[0]?.reason ?? 'no task, or nothing new', ...tail }]
  return taken.map(decision => ({ ...head, ...decision, ...tail }))
}
