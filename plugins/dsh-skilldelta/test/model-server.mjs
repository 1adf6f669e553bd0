// A chat-completions server on loopback that keeps every request: the one part of these tests that is not real.
import { createServer } from 'node:http'

/** Start it. `answer(request, index)` gives { text } or { tool: { name, arguments } }; the default is a short text. */
export async function startModelServer(answer = () => ({ text: 'FAKE-ANSWER' })) {
  const requests = []
  const arrivals = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const asked = JSON.parse(body)
    requests.push(asked)
    arrivals.push(performance.now())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks(await answer(asked, requests.length - 1))) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    arrivals,
    close: () => { server.closeAllConnections(); return new Promise(resolve => server.close(resolve)) },
  }
}

function chunks({ text, tool }) {
  const call = tool && { index: 0, id: 'call_1', type: 'function', function: { name: tool.name, arguments: JSON.stringify(tool.arguments) } }
  const frame = (delta, finish_reason = null) => ({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'fake', choices: [{ index: 0, delta, finish_reason }] })
  return [
    frame(call ? { role: 'assistant', tool_calls: [call] } : { role: 'assistant', content: text }),
    frame({}, call ? 'tool_calls' : 'stop'),
    { ...frame({}), choices: [], usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 } },
  ]
}
