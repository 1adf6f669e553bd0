// How long the first model request of a conversation takes to arrive: without the plugin, with it, with its skills gated
// too, and with a server that never answers. Prints one JSON document of medians in milliseconds, measured in turns.
import { createServer } from 'node:http'
import { startGate, WAREHOUSE } from './gate-server.mjs'
import { discovered, say, startHarness } from './harness.mjs'

const ROUNDS = Number(process.argv[2] ?? 20)
const TIMEOUT = 0.3

const gate = await startGate()
const silent = createServer(() => {})
await new Promise(resolve => silent.listen(0, '127.0.0.1', resolve))
const kinds = {
  without: undefined,
  supplied: { skill: 'units', server: gate.url, timeout: 30 },
  gated: { skill: 'units', native: true, server: gate.url, timeout: 30 },
  silent: { skill: 'units', native: true, server: `http://127.0.0.1:${silent.address().port}`, timeout: TIMEOUT },
}
const harnesses = {}
for (const [kind, settings] of Object.entries(kinds)) {
  harnesses[kind] = await startHarness({ settings, skills: [discovered('abacus', 'Beads.'), discovered('units', 'Units.')] })
}
const times = Object.fromEntries(Object.keys(kinds).map(kind => [kind, []]))
for (let round = -2; round < ROUNDS; round++) { // two rounds to warm up
  for (const [kind, harness] of Object.entries(harnesses)) {
    if (kind === 'silent' && round >= 5) continue
    const started = performance.now()
    await say(harness.start(`${kind}-${round}-${process.pid}`), WAREHOUSE)
    if (round >= 0) times[kind].push(harness.model.arrivals.at(-1) - started)
  }
}
const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
console.log(JSON.stringify({ ...Object.fromEntries(Object.entries(times).map(([kind, values]) => [kind, median(values)])), timeout: TIMEOUT * 1000 }))
silent.closeAllConnections()
silent.close()
for (const harness of Object.values(harnesses)) await harness.stop()
await gate.stop()
process.exit(0)
