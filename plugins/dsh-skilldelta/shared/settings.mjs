// What a plugin can be told, checked when it is loaded. A bad value is named with its remedy, and the harness does not
// start with it. Variables: SKILLDELTA_SERVER, SKILLDELTA_TOKEN and SKILLDELTA_TIMEOUT.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const DEFAULT_SERVER = 'http://127.0.0.1:7345'
// The settings of a gate, as skilldelta.gate_settings declares them.
const GATE = ['estimator', 'paper', 'k', 'scope', 'weighting', 'threshold', 'rule', 'interval', 'level', 'familiarity_limit', 'prior_gain', 'success_worth', 'price', 'lipschitz', 'epsilon']

const text = value => (typeof value === 'string' && value ? undefined : 'must be a text that is not empty')
const flag = value => (typeof value === 'boolean' ? undefined : 'must be true or false')
const seconds = value => (Number.isFinite(value) && value > 0 && value <= 600 ? undefined : 'must be a number of seconds, above 0 and at most 600')
const path = value => (typeof value === 'string' && (isAbsolute(value) || value.startsWith('~/')) ? undefined : 'must be an absolute path, or one that begins with ~/')
const words = value => (!text(value) || (Array.isArray(value) && value.length && value.every(word => !text(word))) ? undefined : 'must be a program, or a list of it and its first words')
const oneOf = (...values) => value => (values.includes(value) ? undefined : `must be ${values.join(' or ')}`)
const names = value => (typeof value === 'boolean' || (Array.isArray(value) && value.every(name => !text(name))) ? undefined : 'must be true, false or a list of skills')

function address(value) {
  const usable = URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol) && !new URL(value).username
  return usable ? undefined : 'must be an address such as http://127.0.0.1:7345, without a user name'
}

function gate(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be a table'
  const unknown = Object.keys(value).find(name => !GATE.includes(name))
  return unknown ? `has no ${unknown}; it has ${GATE.join(', ')}` : undefined
}

/** Every setting with its check; README.md and docs/harnesses explain them. */
const CHECKS = {
  skill: text,
  skillFile: path,
  skillDigest: text,
  native: names,
  server: address,
  timeout: seconds,
  failMode: oneOf('skip', 'use', 'abstain'),
  force: oneOf('skip', 'use'),
  command: words,
  commandTimeout: seconds,
  bank: text,
  agent: text,
  suite: text,
  family: text,
  gate,
  policy: gate, // its old name
  audit: path,
  auditTasks: flag,
  outcomes: flag,
  shadow: flag,
  tools: flag,
}

/** { value } with the defaults filled in, or { issues }, one per bad setting. */
export function readSettings(given = {}, environment = process.env) {
  const table = given ?? {}
  const issues = Object.entries(table).flatMap(([name, value]) => {
    if (!Object.hasOwn(CHECKS, name)) return [{ message: `${name} is no setting; the settings are ${Object.keys(CHECKS).join(', ')}` }]
    const complaint = value === undefined ? undefined : CHECKS[name](value)
    return complaint ? [{ message: `${name} ${complaint}, got ${JSON.stringify(value)}`, path: [name] }] : []
  })
  if (!issues.length && !table.skill && !table.native && !table.tools) {
    issues.push({ message: 'nothing to do: give skill (a skill to supply), native (skills of the harness to gate) or tools' })
  }
  return issues.length ? { issues } : { value: withDefaults(table, environment) }
}

/** The settings of a harness that does not check them itself; a bad one is an error that names the place. */
export function checkedSettings(given, place) {
  const { value, issues } = readSettings(given)
  if (issues) throw new Error(`SkillDelta: ${place}: ${issues.map(issue => issue.message).join('; ')}`)
  return value
}

function withDefaults(table, environment) {
  const server = environment.SKILLDELTA_SERVER
  const limit = Number(environment.SKILLDELTA_TIMEOUT)
  return {
    native: false,
    server: server && !address(server) ? server : DEFAULT_SERVER,
    timeout: seconds(limit) ? 1 : limit,
    failMode: 'skip',
    commandTimeout: 10,
    auditTasks: false,
    outcomes: true,
    tools: false,
    ...table,
    gate: table.gate ?? table.policy,
    token: environment.SKILLDELTA_TOKEN || undefined,
    ...(table.skillFile && { skillFile: fromHome(table.skillFile) }),
    ...(table.audit && { audit: fromHome(table.audit) }),
  }
}

const fromHome = place => (place.startsWith('~/') ? join(homedir(), place.slice(2)) : place)

/** The check in the form that the harness asks for (standardschema.dev), without a dependency. */
export const Config = { '~standard': { version: 1, vendor: 'skilldelta', validate: value => readSettings(value) } }
