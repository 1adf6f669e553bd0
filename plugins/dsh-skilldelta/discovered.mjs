// Native gating: a skill that the harness discovered and the gate skips is shadowed in the agent's own scope. It leaves
// the catalog and the model cannot load it; the user still can, with /name.
import { call, versionOf } from './gate.mjs'

/** Ask about each skill that the model could invoke, and shadow those that are skipped. `abstain` leaves a skill as it is. */
export async function gateDiscovered(ctx, settings, agent, limits, ask) {
  const registry = ctx.get('skills')
  if (!registry) return
  const view = { cwd: agent.session.header.cwd, signal: limits.signal, scope: agent }
  const isGated = await gatedNames(settings, limits)
  const offered = (await registry.list(view)).filter(skill => skill.invocation.modelInvocable && isGated(skill.name))
  await Promise.all(offered.map(async ({ name }) => {
    const skill = await registry.get(name, view)
    const decision = skill && await ask('native', { skill: name, skillDigest: await versionOf(skill.path) })
    if (decision?.action === 'skip' && !limits.signal?.aborted) await shadow(agent, skill) // a cancelled turn decides nothing
  }))
}

/**
 * Which skills are gated: those that are named, or with `true` those that the bank has evidence about, so that the
 * catalog of somebody with an empty bank stays as it is. Where the bank cannot be asked, all of them: the fail mode rules.
 */
export async function gatedNames(settings, limits) {
  if (settings.native !== true) return name => settings.native.includes(name)
  if (settings.force) return () => true
  try {
    const { skills } = await call(settings, 'GET', '/v1/skills', limits)
    const known = new Set(skills.map(({ skill }) => skill))
    return name => known.has(name)
  } catch {
    return () => true
  }
}

async function shadow(agent, { name, description, content, source, resourceBase }) {
  const invocation = { modelInvocable: false, userInvocable: true }
  await agent.ctx.inject(['skills'], scope => {
    scope.skills.register({ name, description, content, source, ...(resourceBase && { resourceBase }), invocation })
  })
}
