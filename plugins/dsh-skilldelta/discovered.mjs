// Native gating: a skill that the harness discovered and the gate refuses is shadowed in the agent's own scope. It leaves
// the catalog and the model cannot load it; the user still can, with /name.

/** The skills that an agent's model may load, and those that are shadowed for it. */
export class Discovered {
  #agent
  #registry
  #shadowed = new Map() // name -> { skill, restore }

  constructor(ctx, agent) {
    this.#agent = agent
    this.#registry = ctx.get('skills')
  }

  /** With their texts, as the gate takes them. */
  async offered({ signal }) {
    if (!this.#registry) return []
    const view = { cwd: this.#agent.session.header.cwd, signal, scope: this.#agent }
    const listed = (await this.#registry.list(view)).filter(({ name, invocation }) => invocation.modelInvocable && !this.#shadowed.has(name))
    const skills = await Promise.all(listed.map(({ name }) => this.#registry.get(name, view)))
    return [...skills.filter(Boolean), ...[...this.#shadowed.values()].map(({ skill }) => skill)].map(skill => ({ name: skill.name, body: skill.content.trim(), file: skill.path, skill }))
  }

  /** Hide exactly these from the model. */
  async hide(offered, denied) {
    for (const [name, { restore }] of this.#shadowed) if (!denied.has(name)) { this.#shadowed.delete(name); restore() }
    for (const { name, skill } of offered) if (denied.has(name) && !this.#shadowed.has(name)) await this.#shadow(skill)
  }

  async #shadow(skill) {
    const { name, description, content, source, resourceBase } = skill
    const invocation = { modelInvocable: false, userInvocable: true }
    await this.#agent.ctx.inject(['skills'], scope => {
      const restore = scope.skills.register({ name, description, content, source, ...(resourceBase && { resourceBase }), invocation })
      this.#shadowed.set(name, { skill, restore: typeof restore === 'function' ? restore : () => {} })
    })
  }
}
