// The audit file: one JSON line per decision and per recorded outcome, readable by its owner alone.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { digest } from './skill-file.mjs'

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Append a line. A file that cannot be written costs the line, never the agent's turn. Returns the error, if any. */
export async function writeLine(file, line) {
  try {
    const handle = await open(file, FLAGS, 0o600) // a link at the place is refused, not followed
    try {
      if (!(await handle.stat()).isFile()) throw new Error('it is not a regular file')
      await handle.appendFile(JSON.stringify({ time: new Date().toISOString(), ...line }) + '\n')
    } finally {
      await handle.close()
    }
  } catch (error) {
    return error
  }
}

/** What a decision leaves in the file: no task text unless asked for, never a skill's text. */
export function decisionLine(settings, { mode, skill, conversation, task }, decision) {
  const { skillText, decisionId, ...known } = decision
  return {
    event: 'decision', mode, skill, conversation, task_digest: digest(task),
    ...(settings.auditTasks && { task }),
    ...known, decision_id: decisionId,
  }
}
