// What a step tells about its conversation: whose words they are, and whether the conversation has begun before.

/** What the user wrote, of the messages that are about to enter; reminders, relays and plugins' messages are not a task. */
export function userText(messages) {
  return messages.filter(isUsers).flatMap(message => message.content)
    .filter(block => block.type === 'text').map(block => block.text).join('\n').trim()
}

/** Whether the user has spoken in this session before, perhaps in an earlier process: then it was decided there. */
export const hasBegun = session => session.events.some(event => event.type === 'user/message' && isUsers(event.data))

const isUsers = message => message.source?.kind === 'user'

/** The conversation's identity; a fork goes on under the name of the session it came from. */
export const conversationOf = ({ header }) => `dsh:${(header.seedLength > 0 && header.parentSession) || header.id}`

/** Tokens of every model call in the session's log, or undefined where no call told them. */
export function tokensOf(session) {
  const counts = session.events.filter(event => event.type === 'assistant/message' && event.data.usage).map(event => total(event.data.usage))
  return counts.length ? counts.reduce((sum, count) => sum + count, 0) : undefined
}

const total = usage =>
  ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'].reduce((sum, kind) => sum + (usage[kind] ?? 0), 0)

/** Seconds from the first to the last event of the session. */
export const secondsOf = ({ events }) => (events.length ? (events.at(-1).time - events[0].time) / 1000 : 0)
