// Native gating: a skill that the harness discovered and the gate skips is shadowed in the agent's own scope. It leaves
// the catalog and the model cannot load it; the user still can, with /name.
import { isDenied } from './shared/gate.mjs'
import { gatedNames } from './shared/gated-skills.mjs'
import { versionOf } from './shared/skill-file.mjs'
import { folderVersionOf } from './shared/skill-folder.mjs'

/** Ask about each skill that the model could invoke, and shadow those that are skipped. `abstain` leaves a skill as it is. */
export async function gateDiscovered(ctx, settings, agent, limits, ask) {
  const registry = ctx.get('skills')
  if (!registry) return
  const view = { cwd: agent.session.header.cwd, signal: limits.signal, scope: agent }
  const isGated = await gatedNames(settings, limits)
  const offered = (await registry.list(view)).filter(skill => skill.invocation.modelInvocable && isGated(skill.name))
  await Promise.all(offered.map(async ({ name }) => {
    const skill = await registry.get(name, view)
    const version = skill && { skillDigest: await versionOf(skill.path), skillFolderDigest: await folderVersionOf(skill.path) }
    const decision = skill && await ask('native', { skill: name, ...version })
    // A cancelled turn decides nothing, and a step that has begun keeps its catalog.
    if (isDenied(decision) && !limits.isOver()) await shadow(agent, skill)
  }))
}

async function shadow(agent, { name, description, content, source, resourceBase }) {
  const invocation = { modelInvocable: false, userInvocable: true }
  await agent.ctx.inject(['skills'], scope => {
    scope.skills.register({ name, description, content, source, ...(resourceBase && { resourceBase }), invocation })
  })
}
