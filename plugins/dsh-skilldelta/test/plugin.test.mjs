// The plugin in the harness's own agent loop, with a real SkillDelta server; only the model is a fake.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PROGRAM, POEM, UNITS_TEXT, WAREHOUSE, freePort, proving, startGate } from './gate-server.mjs'
import { discovered, say, startHarness, userTexts } from './harness.mjs'

let gate, folder, names = 0
before(async () => { gate = await startGate(); folder = mkdtempSync(join(tmpdir(), 'skilldelta-plugin-')) })
after(async () => { await gate.stop(); rmSync(folder, { recursive: true, force: true }) })

const fresh = () => `conversation-${++names}-${process.pid}`
const auditFile = () => join(folder, `${fresh()}.jsonl`)
const lines = file => readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line))

/** One conversation: start, say each text, stop; what the model was sent. */
async function converse(texts, settings, more = {}) {
  const harness = await startHarness({ settings: settings && { server: gate.url, timeout: 5, ...settings }, ...more })
  const agent = harness.start(fresh(), more.meta)
  for (const text of [texts].flat()) await say(agent, ...[text].flat())
  if (settings) await harness.plugin.dispose()
  await harness.stop()
  return harness.requests
}

test('a skill that is predicted to help comes last, before the first model step', async () => {
  const [request] = await converse(WAREHOUSE, { skill: 'units' })
  assert.deepEqual(userTexts(request), [WAREHOUSE, UNITS_TEXT])
})

test('where the skill is skipped, the request is the one of a harness without the plugin', async () => {
  const skills = [discovered('other', 'Some text.')]
  const [gated] = await converse(POEM, { skill: 'units', native: true }, { skills })
  const [plain] = await converse(POEM, undefined, { skills })
  assert.deepEqual(gated, plain)
})

test('cosine and uniform averaging are passed on and give the answers of the server', async () => {
  const gains = {}
  for (const weighting of ['cosine', 'uniform']) {
    const gate_ = { paper: true, k: 20, weighting }, audit = auditFile()
    await converse(WAREHOUSE, { skill: 'units', gate: gate_, audit })
    const asked = { text: WAREHOUSE, skill: 'units', record: false, gate: gate_ }
    const response = await fetch(`${gate.url}/v1/decide`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) })
    gains[weighting] = lines(audit)[0].gain
    assert.equal(gains[weighting], (await response.json()).gain)
  }
  assert.notEqual(gains.cosine, gains.uniform)
})

// The six problems of an earlier plugin for this harness.

test('problem 1: variables with KEY or TOKEN in their names reach the fallback command', async () => {
  process.env.SKILLDELTA_EMBEDDING_API_KEY = 'secret'
  const decision = 'process.stdin.resume();console.log(JSON.stringify({skill: process.env.SKILLDELTA_EMBEDDING_API_KEY === "secret" ? "units" : undefined, denied: {}, decisions: []}))'
  const skillFile = join(folder, 'SKILL.md')
  writeFileSync(skillFile, '---\nname: units\n---\nThe body.\n')
  const settings = { skill: 'units', skillFile, server: `http://127.0.0.1:${await freePort()}`, command: [process.execPath, '-e', decision] }
  const [request] = await converse(WAREHOUSE, settings)
  assert.deepEqual(userTexts(request), [WAREHOUSE, 'The body.'])
})

test('problem 2: the bundle names the package, not a relative path', () => {
  const read = name => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
  const { name, dsh, files } = JSON.parse(read('package.json'))
  assert.match(read(dsh.bundle.patch), new RegExp(`^ +name: ${name}$`, 'm'))
  assert.ok(files.includes(dsh.bundle.patch))
})

test('problem 3: the skill is injected once per conversation, not once per turn', async () => {
  const requests = await converse([WAREHOUSE, 'And in 4 pallets?'], { skill: 'units' })
  assert.deepEqual(userTexts(requests[1]), [WAREHOUSE, UNITS_TEXT, 'And in 4 pallets?'])
})

test('problem 3, after a restart: a resumed session is not given the skill again', async () => {
  const first = await startHarness({ settings: { skill: 'units', server: gate.url, timeout: 5 } })
  const agent = first.start(fresh())
  await say(agent, WAREHOUSE)
  const seed = JSON.parse(JSON.stringify(agent.session.events))
  await first.stop()
  const second = await startHarness({ settings: { skill: 'units', server: gate.url, timeout: 5 } })
  const { agent: resumed } = await second.create(agent.id, seed)
  await say(resumed, 'And in 4 pallets?')
  await second.stop()
  assert.deepEqual(userTexts(second.requests[0]), [WAREHOUSE, UNITS_TEXT, 'And in 4 pallets?'])
})

test('problem 4: only the words of the user are the task', async () => {
  const audit = auditFile()
  const reminder = [`Reminder: ${POEM}`, { kind: 'plugin', plugin: 'other' }]
  const requests = await converse([reminder, WAREHOUSE], { skill: 'units', audit, auditTasks: true })
  assert.deepEqual(userTexts(requests[0]), [reminder[0]])
  assert.deepEqual(userTexts(requests[1]).at(-1), UNITS_TEXT)
  assert.deepEqual(lines(audit).filter(line => line.event === 'decision').map(line => line.task), [WAREHOUSE])
})

test('problem 5: no tool and no section of the system prompt unless asked for', async () => {
  const [plain] = await converse(POEM, undefined)
  const [gated] = await converse(POEM, { skill: 'units' })
  const [withTools] = await converse(POEM, { skill: 'units', tools: true })
  assert.deepEqual(gated, plain)
  assert.deepEqual(withTools.tools.map(tool => tool.function.name).filter(name => name.startsWith('skilldelta')), ['skilldelta_route', 'skilldelta_status'])
})

test('problem 6: the context of these tests is the harness, not a stub', async () => {
  const { default: AgentLoop } = await import('@deepseek-ai/dsh-agent-loop')
  const { ctx, stop } = await startHarness()
  assert.ok(ctx.get('agentLoop') instanceof AgentLoop)
  await stop()
})

// One decision per task.

test('a greeting binds nothing, and the first task is decided', async () => {
  const requests = await converse(['hi', WAREHOUSE, 'thanks'], { skill: 'units' })
  assert.deepEqual(userTexts(requests[0]), ['hi'])
  assert.deepEqual(userTexts(requests.at(-1)), ['hi', WAREHOUSE, UNITS_TEXT, 'thanks'])
})

test('a later task of another kind is decided anew, and the reason says so', async () => {
  const audit = auditFile()
  const requests = await converse([POEM, WAREHOUSE], { skill: 'units', audit })
  assert.deepEqual(userTexts(requests.at(-1)), [POEM, WAREHOUSE, UNITS_TEXT])
  const [first, second] = lines(audit).filter(line => line.event === 'decision')
  assert.deepEqual([first.action, second.action], ['skip', 'use'])
  assert.match(second.reason, /^the task has changed: /)
})

test('an explicit wish wins, and is recorded as such', async () => {
  const audit = auditFile()
  const requests = await converse([WAREHOUSE, 'Please use the abacus skill.'], { native: true, skill: 'units', audit }, { skills: both() })
  assert.equal(userTexts(requests.at(-1)).at(-1), 'Use the beads.')
  const wish = lines(audit).filter(line => line.event === 'decision').at(-1)
  assert.deepEqual([wish.skill, wish.reason], ['abacus', 'the user asked for this skill'])
  const { action, reason } = await gate.get(`/v1/decisions/${wish.decision_id}`)
  assert.deepEqual([action, reason], ['use', 'the user asked for this skill'])
})

test('a wish gives the text of a hidden skill, once', async () => {
  const harness = await startHarness({ settings: { native: true, server: gate.url, timeout: 5 }, skills: both() })
  const agent = harness.start(fresh())
  await say(agent, WAREHOUSE)
  assert.doesNotMatch(catalog(harness.requests[0]), /abacus/)
  assert.ok(userTexts(harness.requests[0]).includes(UNITS_TEXT))
  await say(agent, 'Use the abacus skill.')
  assert.equal(userTexts(harness.requests.at(-1)).at(-1), 'Use the beads.')
  await say(agent, 'Please use the abacus skill once more.')
  const bodies = () => agent.session.deriveMessages().filter(({ source }) => source?.plugin === 'skilldelta').length
  assert.equal(bodies(), 2)
  await harness.stop()
})

// Skills that the harness discovered itself.

const both = () => [discovered('abacus', 'Use the beads.'), discovered('units', UNITS_TEXT), discovered('unheard-of', 'No evidence.')]
const catalog = request => userTexts(request).find(text => text.includes('<available_skills>')) ?? ''

test('a discovered skill that is skipped leaves the catalog; others and those without evidence stay', async () => {
  const [request] = await converse(WAREHOUSE, { native: true }, { skills: both() })
  assert.doesNotMatch(catalog(request), /abacus/)
  assert.match(catalog(request), /`units`/)
  assert.match(catalog(request), /unheard-of/)
})

test('the model cannot load a skipped skill, and later turns do not offer it again', async () => {
  const answer = (_, index) => (index === 0 ? { tool: { name: 'skill', arguments: { name: 'abacus' } } } : { text: 'Done.' })
  const requests = await converse([WAREHOUSE, 'Once more.'], { native: ['abacus'] }, { skills: both(), answer })
  assert.match(JSON.stringify(requests[1].messages.at(-1)), /not available for model invocation/)
  assert.doesNotMatch(JSON.stringify(requests.at(-1).messages.filter(({ role }) => role === 'user')), /- `abacus`/)
})

test('the user can still invoke a skipped skill', async () => {
  const requests = await converse([WAREHOUSE, 'Now with /abacus please.'], { native: ['abacus'] }, { skills: both() })
  assert.match(userTexts(requests[1]).at(-1), /Use the beads/)
})

test('skills that the list does not name are left alone', async () => {
  const [request] = await converse(WAREHOUSE, { native: ['units'] }, { skills: both() })
  assert.match(catalog(request), /abacus/)
})

// When SkillDelta cannot be asked.

test('a stopped server: the fail mode decides, skip unless told otherwise', async () => {
  const server = `http://127.0.0.1:${await freePort()}`, audit = auditFile(), skillFile = join(folder, 'use.md')
  writeFileSync(skillFile, UNITS_TEXT)
  const [skipped] = await converse(WAREHOUSE, { skill: 'units', native: true, server, audit }, { skills: both() })
  const [used] = await converse(WAREHOUSE, { skill: 'units', skillFile, server, failMode: 'use' })
  assert.equal(userTexts(skipped)[0], WAREHOUSE)
  assert.ok(!userTexts(skipped).includes(UNITS_TEXT))
  assert.match(catalog(skipped), /abacus/) // nothing is known, so nothing is hidden
  assert.deepEqual(userTexts(used), [WAREHOUSE, UNITS_TEXT])
  assert.deepEqual(lines(audit).map(line => [line.via, line.action]), [['fail-mode', 'skip']])
  assert.ok(lines(audit).every(line => line.error.includes('ECONNREFUSED')))
})

test('a server that never answers costs the time limit and no more', async () => {
  const silent = createServer(() => {})
  await new Promise(resolve => silent.listen(0, '127.0.0.1', resolve))
  const started = performance.now()
  const audit = auditFile(), server = `http://127.0.0.1:${silent.address().port}`
  const [request] = await converse(WAREHOUSE, { skill: 'units', native: true, timeout: 0.5, server, audit }, { skills: both() })
  const seconds = (performance.now() - started) / 1000
  silent.closeAllConnections()
  silent.close()
  assert.ok(!userTexts(request).includes(UNITS_TEXT))
  assert.match(catalog(request), /abacus/)
  assert.ok(seconds < 0.95, `took ${seconds} s`)
  assert.match(lines(audit)[0].error, /timeout/)
})

test('a turn that is cancelled while the server is asked ends at once and decides nothing', async () => {
  let asked = 0
  const peer = createServer(proving((request, response) => { if (request.url !== '/v1/hooks/dsh' || asked++) response.end('{"denied": {}, "decisions": []}') }))
  await new Promise(resolve => peer.listen(0, '127.0.0.1', resolve))
  const harness = await startHarness({ settings: { native: ['abacus'], server: `http://127.0.0.1:${peer.address().port}`, timeout: 20 }, skills: both() })
  const agent = harness.start(fresh())
  const started = performance.now()
  setTimeout(() => agent.cancel({ kind: 'user' }), 100)
  await say(agent, WAREHOUSE)
  assert.ok(performance.now() - started < 5_000)
  assert.equal(harness.requests.length, 0)
  await say(agent, WAREHOUSE)
  assert.match(catalog(harness.requests[0]), /abacus/)
  peer.closeAllConnections()
  peer.close()
  await harness.stop()
})

for (const [what, respond] of Object.entries({
  'a redirection': response => response.writeHead(302, { location: `${gate.url}/v1/decide` }).end(),
  'an answer that is no decision': response => response.end('{"skill": "units", "text": "Obey."}'),
  'an endless answer': response => { response.on('error', () => {}); const more = () => { while (!response.destroyed && response.write('x'.repeat(65536))); response.destroyed || response.once('drain', more) }; more() },
  'an answer that is not JSON': response => response.end('<html>'),
})) {
  test(`${what} is no decision`, async () => {
    const peer = createServer(proving((_, response) => respond(response)))
    await new Promise(resolve => peer.listen(0, '127.0.0.1', resolve))
    const [request] = await converse(WAREHOUSE, { skill: 'units', server: `http://127.0.0.1:${peer.address().port}` })
    peer.closeAllConnections()
    peer.close()
    assert.deepEqual(userTexts(request), [WAREHOUSE])
  })
}

test('without a server, the configured command decides like the server does', async () => {
  const audit = auditFile(), skillFile = join(folder, 'cmd.md')
  writeFileSync(skillFile, UNITS_TEXT)
  const settings = { skill: 'units', skillFile, server: `http://127.0.0.1:${await freePort()}`, command: PROGRAM, bank: gate.bank, commandTimeout: 60, audit, policy: { paper: true, k: 6 } }
  const [request] = await converse(`${WAREHOUSE} ${"it's \"$(touch x)\" `y`; \n".repeat(8_000)}`, settings)
  assert.equal(lines(audit)[0].via, 'command', JSON.stringify(lines(audit)[0]))
  assert.equal(userTexts(request).length, lines(audit)[0].action === 'use' ? 2 : 1)
})

// Hostile and odd input.

for (const [what, text] of Object.entries({
  'quotes, newlines and shell characters': `How many cans?\n"'\`$(touch /tmp/x); rm -rf / & | > < \\ %s \u0000 \u001b[31m ${WAREHOUSE}`,
  'two hundred kilobytes': `${WAREHOUSE}\n${'x y z '.repeat(34_000)}`,
  'more than the server takes': `${WAREHOUSE}\n${'beans '.repeat(80_000)}`,
  'half a character': `${WAREHOUSE} \ud83d`,
})) {
  test(`a task with ${what} gets a decision and reaches the model unchanged`, async () => {
    const audit = auditFile()
    const [request] = await converse(text, { skill: 'units', audit })
    assert.equal(userTexts(request)[0], text)
    assert.equal(lines(audit)[0].via, 'server', JSON.stringify(lines(audit)[0]))
  })
}

test('nothing goes to a server that does not prove whose it is, and nothing over a plain connection to another machine', async () => {
  const seen = []
  const note = (request, response) => { seen.push([request.url.split('?')[0], request.headers.authorization]); response.end('{"skill": "units", "text": "Obey.", "denied": {}, "decisions": []}') }
  const other = Object.values(networkInterfaces()).flat().find(({ family, internal }) => family === 'IPv4' && !internal)
  process.env.SKILLDELTA_TOKEN = 'secret-token'
  const ask = async (handler, host) => {
    const peer = createServer(handler)
    await new Promise(resolve => peer.listen(0, '0.0.0.0', resolve))
    const [request] = await converse(WAREHOUSE, { skill: 'units', server: `http://${host}:${peer.address().port}` })
    peer.closeAllConnections()
    peer.close()
    return userTexts(request)
  }
  const impostor = (request, response) => { seen.push([request.url.split('?')[0], request.headers.authorization]); response.end('{"address": "127.0.0.1:1", "proof": "0"}') }
  assert.deepEqual(await ask(impostor, '127.0.0.1'), [WAREHOUSE])
  assert.ok(seen.length && seen.every(([path, token]) => path === '/v1/proof' && token === undefined))
  seen.length = 0
  if (other) assert.deepEqual(await ask(proving(note), other.address), [WAREHOUSE])
  assert.deepEqual(seen, [])
  assert.deepEqual(await ask(proving(note), '127.0.0.1'), [WAREHOUSE, 'Obey.'])
  assert.ok(seen.every(([, token]) => token === 'Bearer secret-token'))
  delete process.env.SKILLDELTA_TOKEN
})

test('the audit file is for its owner alone, and holds no text of a task or skill', async () => {
  const audit = auditFile()
  await converse(WAREHOUSE, { skill: 'units', audit })
  const text = readFileSync(audit, 'utf8')
  assert.equal(statSync(audit).mode & 0o777, 0o600)
  assert.ok(!text.includes('pallets') && !text.includes('crate'))
  assert.deepEqual(lines(audit).map(line => line.event), ['decision', 'outcome'])
})

test('an audit file that is a link is not followed, and the turn goes on', async () => {
  const target = join(folder, 'precious'), link = join(folder, 'link.jsonl')
  writeFileSync(target, 'precious')
  symlinkSync(target, link)
  const [request] = await converse(WAREHOUSE, { skill: 'units', audit: link })
  assert.equal(readFileSync(target, 'utf8'), 'precious')
  assert.equal(userTexts(request).length, 2)
})

for (const [settings, complaint] of [
  [{ skill: 'units', failMode: 'maybe' }, /failMode must be skip or use/],
  [{ skill: 'units', thresold: 0 }, /thresold is no setting/],
  [{ skill: 'units', server: 'file:///etc/passwd' }, /server must be an address/],
  [{ skill: 'units', timeout: 0 }, /timeout must be a number of seconds/],
  [{ skill: 'units', policy: { kk: 3 } }, /policy has no kk/],
  [{}, /nothing to do/],
]) {
  test(`bad settings are refused when the plugin is loaded: ${JSON.stringify(settings)}`, async () => {
    await assert.rejects(startHarness({ settings }), complaint)
  })
}

// What became of it.

test('tokens and seconds of the conversation are recorded with the decision', async () => {
  const audit = auditFile()
  await converse([WAREHOUSE, 'And in 4 pallets?'], { skill: 'units', audit })
  const { outcomes, source } = await gate.get(`/v1/decisions/${lines(audit)[0].decision_id}`)
  assert.equal(source, 'dsh')
  assert.deepEqual(outcomes.map(({ tokens, success }) => ({ tokens, success })), [{ tokens: 214, success: null }])
})

test('a forced arm asks nobody and records nothing', async () => {
  const skillFile = join(folder, 'forced.md')
  writeFileSync(skillFile, UNITS_TEXT)
  const server = `http://127.0.0.1:${await freePort()}`
  const [used] = await converse(POEM, { skill: 'units', skillFile, force: 'use', server })
  const [skipped] = await converse(POEM, { skill: 'units', skillFile, force: 'skip', server })
  assert.deepEqual(userTexts(used), [POEM, UNITS_TEXT])
  assert.deepEqual(userTexts(skipped), [POEM])
})

test('the tools answer from the server', async () => {
  const answer = (_, index) => (index === 0 ? { tool: { name: 'skilldelta_route', arguments: { task: WAREHOUSE } } } : { text: 'Done.' })
  const requests = await converse(POEM, { skill: 'units', tools: true }, { answer })
  const result = JSON.stringify(requests[1].messages.at(-1))
  assert.match(result, /predicted gain/)
})
