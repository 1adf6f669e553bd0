// How long a decision takes with servers that hang, drip, die or lie, and what it is. Prints one JSON line per server.
// A plain script, so that it runs in any runtime: node, and the Bun that is inside OpenCode.
import { createServer } from 'node:net'
import { decide } from '../shared/gate.mjs'
import { inTime } from '../shared/handler.mjs'
import { readSettings } from '../shared/settings.mjs'
import { proofOf } from './gate-server.mjs'

process.env.SKILLDELTA_SERVER_KEY = 'of the user who runs the tests, and long enough'

const OK = 'HTTP/1.1 200 OK\r\n'
const answer = (text, head = OK) => socket => socket.end(`${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
const drip = (socket, text, at = 0) => {
  if (!socket.destroyed && at < text.length) socket.write(text[at], () => setTimeout(drip, 40, socket, text, at + 1))
}
const pour = socket => { while (!socket.destroyed && socket.write('x'.repeat(65536))); if (!socket.destroyed) socket.once('drain', () => pour(socket)) }

const SERVERS = {
  'hangs after the connection': () => {},
  'hangs after the head': socket => socket.write(OK),
  'drips its head': socket => drip(socket, `${OK}x: ${'x'.repeat(10_000)}\r\n\r\n`),
  'drips its body': socket => { socket.write(`${OK}content-length: 9000\r\n\r\n`); drip(socket, 'x'.repeat(9_000)) },
  'dies at once': socket => socket.destroy(),
  'dies within the answer': socket => socket.write(`${OK}content-length: 100\r\n\r\n{"action":`, () => socket.destroy()),
  'pours without end': socket => { socket.write(`${OK}\r\n`); pour(socket) },
  'pours a head without end': pour,
  'speaks another protocol': socket => socket.end('\x00\x01garbage'),
  'answers what is not JSON': answer('<html>'),
  'answers null': answer('null'),
  'answers a list': answer('[1, 2]'),
  'answers deep JSON': answer('['.repeat(100_000)),
  'answers another action': answer('{"decisions": [{"action": "destroy"}], "denied": {}}'),
  'answers an action of another type': answer('{"decisions": {"use": true}, "denied": []}'),
  'answers with an error': answer('{"detail": {"a": 1}}', 'HTTP/1.1 500 No\r\n'),
  'redirects': answer('', 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n'),
  'answers odd types': answer('{"skill": 7, "text": 5, "denied": {"a": {"b": 1}}, "decisions": [null, 4, {"action": "use", "gain": "large", "decision_id": "7"}]}'),
}

const message = { harness: 'pi', session: 's', task: 'How many cans?' }
const timeout = Number(process.argv[2] ?? 0.4)
for (const [name, serve] of Object.entries(SERVERS)) for (const stage of ['proof', 'question']) {
  const sockets = new Set()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', head => {
      if (stage === 'proof') return serve(socket)
      const [, challenge] = /challenge=(\w+)/.exec(head.toString())
      const proof = proofOf(`127.0.0.1:${socket.localPort}`, challenge)
      socket.once('data', () => serve(socket))
      socket.write(`${OK}content-length: ${proof.length}\r\n\r\n${proof}`)
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { value } = readSettings({ skill: 'units', server: `http://127.0.0.1:${server.address().port}`, timeout })
  const started = performance.now()
  const decision = await inTime(value, () => decide(value, message))
  const seconds = (performance.now() - started) / 1000
  console.log(JSON.stringify({ name, stage, seconds, ...decision }))
  for (const socket of sockets) socket.destroy()
  server.close()
}
// A command that does not end either, and that leaves a child with its output.
const command = ['/bin/sh', '-c', 'trap "" TERM; sleep 20 & sleep 20']
const { value } = readSettings({ skill: 'units', server: 'http://127.0.0.1:9', timeout, command, commandTimeout: timeout })
const started = performance.now()
const decision = await inTime(value, () => decide(value, message))
console.log(JSON.stringify({ name: 'a command that does not end', seconds: (performance.now() - started) / 1000, ...decision }))
// Work that nothing ends at all.
const late = performance.now()
await inTime(value, () => new Promise(() => {}))
console.log(JSON.stringify({ name: 'work without end', seconds: (performance.now() - late) / 1000, via: 'fail-mode' }))
process.exit(0)
