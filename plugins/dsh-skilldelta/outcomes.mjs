// What became of a decision: tokens and seconds of the conversation, told to SkillDelta when it ends. Success is not
// told: the harness knows that a turn ended, not whether the task was solved.
import { secondsOf, tokensOf } from './conversation.mjs'
import { call } from './shared/server.mjs'

export class Outcomes {
  #awaited = new Map() // session -> the ids of its decisions
  #settings
  #audit

  constructor(settings, audit) {
    this.#settings = settings
    this.#audit = audit
  }

  /** Remember decisions that were recorded for the first time. */
  await(session, ids) {
    if (this.#settings.outcomes && ids.length) this.#awaited.set(session, [...(this.#awaited.get(session) ?? []), ...ids])
  }

  /** Record the outcome of each decision of a session, once. */
  async finish(session) {
    const decisions = this.#awaited.get(session) ?? []
    this.#awaited.delete(session)
    const tokens = tokensOf(session)
    if (tokens === undefined) return
    await Promise.all(decisions.map(id => this.#record({ decision_id: id, tokens, seconds: secondsOf(session) })))
  }

  finishAll() {
    return Promise.all([...this.#awaited.keys()].map(session => this.finish(session)))
  }

  async #record(outcome) {
    const body = { ...outcome, key: `dsh-${outcome.decision_id}` }
    const error = await call(this.#settings, 'POST', '/v1/outcomes', { body }).then(() => undefined, error => String(error))
    await this.#audit({ event: 'outcome', ...outcome, ...(error && { error }) })
  }
}
