// A real `skilldelta serve` on a bank of 24 tasks, enough to be sure: `units` helps with warehouse tasks and harms poems, `abacus`
// the other way round. The program is $SKILLDELTA_PROGRAM, else skilldelta on the PATH.
import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { knownKey } from '../shared/server-proof.mjs'

export const PROGRAM = process.env.SKILLDELTA_PROGRAM ?? 'skilldelta'
export const WAREHOUSE = 'How many cans are in 3 pallets and 5 crates of beans?'
export const POEM = 'Write a short poem about the moon over a quiet lake.'
export const UNITS_TEXT = 'A pallet holds 40 crates. A crate holds 24 cans.'

const TASKS = [
  ['w1', 'How many cans are in 2 pallets of beans?', true], ['w2', 'How many cans are in 7 crates of beans?', true],
  ['w3', 'How many crates are in 3 pallets of peas?', true], ['w4', 'How many cans are in 5 crates and 3 pallets?', true],
  ['p1', 'Write a short poem about the moon.', false], ['p2', 'Write a poem about a quiet lake.', false],
  ['p3', 'Write a short poem about the sea at night.', false], ['p4', 'Write a long poem about a lake and the moon.', false],
  ...[4, 5, 6, 7, 8, 9, 10, 11].map(number => [`w${number + 1}`, `How many cans are in ${number} pallets and ${number + 4} crates of beans?`, true]),
  ...['a hill', 'the town', 'a river', 'the sea', 'a forest', 'the snow', 'a garden', 'the harbor'].map((place, at) => [`p${at + 5}`, `Write a short poem about the moon over ${place}.`, false]),
]

/** Make the bank and serve it; `url`, `bank`, `get(path)` and `stop()`. */
export async function startGate() {
  const folder = mkdtempSync(join(tmpdir(), 'skilldelta-gate-'))
  process.env.XDG_STATE_HOME = folder // where the server and the plugin have their key
  const bank = makeBank(folder)
  const port = await freePort()
  const child = spawn(PROGRAM, ['serve', '--bank', bank, '--port', String(port)], { stdio: 'ignore', env: { ...process.env, OPENBLAS_NUM_THREADS: '1' } })
  const ended = new Promise(resolve => child.on('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  await answering(`${url}/v1/ready`, child)
  return {
    url, bank, folder,
    get: async path => (await fetch(url + path)).json(),
    stop: async () => { child.kill(); await ended; rmSync(folder, { recursive: true, force: true }) },
  }
}

function makeBank(folder) {
  const [pairs, skill, bank] = ['pairs.jsonl', 'SKILL.md', 'small.bank'].map(name => join(folder, name))
  const rows = TASKS.flatMap(([task_id, text, isWarehouse]) => ['units', 'abacus'].map(name => {
    const helps = (name === 'units') === isWarehouse
    return { task_id, text, family: isWarehouse ? 'warehouse' : 'poems', skill: name, agent: 'a', y0: [helps ? 0 : 1], y1: [helps ? 1 : 0] }
  }))
  writeFileSync(pairs, rows.map(row => JSON.stringify(row)).join('\n'))
  writeFileSync(skill, `---\nname: units\ndescription: Warehouse units.\n---\n${UNITS_TEXT}\n`)
  for (const words of [['import', pairs, '--bank', bank], ['bank', 'add-skill', 'units', skill, '--bank', bank]]) {
    execFileSync(PROGRAM, words, { stdio: ['ignore', 'ignore', 'inherit'] })
  }
  return bank
}

/** A handler of requests that first proves, as a server does, whose it is. */
export const proving = handler => (request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1')
  if (url.pathname !== '/v1/proof') return handler(request, response)
  const { localAddress, localPort } = request.socket
  response.setHeader('connection', 'keep-alive')
  response.end(proofOf(`${localAddress.replace('::ffff:', '')}:${localPort}`, url.searchParams.get('challenge')))
}

/** The document with which the server of this user answers a challenge. */
export function proofOf(address, challenge) {
  const { key } = knownKey()
  return JSON.stringify({ address, proof: createHmac('sha256', key).update(`skilldelta server\n${address}\n${challenge}`).digest('hex') })
}

/** A port that nobody listens on. */
export async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}

async function answering(url, child) {
  for (let wait = 0; wait < 300 && child.exitCode === null; wait++) {
    if (await fetch(url).then(response => response.ok, () => false)) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('skilldelta serve did not become ready')
}
