// Which of the harness's own skills the gate is asked about.
import { call } from './server.mjs'

/**
 * Those that are named, or with `true` those that the bank has evidence about, so that the catalog of somebody with an
 * empty bank stays as it is. Where the bank cannot be asked, all of them: the fail mode rules.
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
