// What a session of the harness tells about its conversation: whose words they are, and what the model has before it.

/** What the user wrote, of the messages that are about to enter; reminders, relays and plugins' messages are not a task. */
export function userText(messages) {
  return messages.filter(isUsers).flatMap(message => message.content)
    .filter(block => block.type === 'text').map(block => block.text).join('\n').trim()
}

const isUsers = message => message.source?.kind === 'user'

/** The conversation's identity; a fork goes on under the name of the session it came from. */
export const conversationOf = ({ header }) => (header.seedLength > 0 && header.parentSession) || header.id

/** Whether no message of a plugin is among those that the model gets; a compaction takes them out. */
export const isBare = (session, plugin) => !session.deriveMessages().some(({ source }) => source?.plugin === plugin)

/** Whether a text is among the messages that the model gets. */
export const isInContext = (session, text) =>
  session.deriveMessages().some(({ content }) => Array.isArray(content) && content.some(block => block.text === text))

/** Tokens of every model call in the session's log, or undefined where no call told them. */
export function tokensOf(session) {
  const counts = session.events.filter(event => event.type === 'assistant/message' && event.data.usage).map(event => total(event.data.usage))
  return counts.length ? counts.reduce((sum, count) => sum + count, 0) : undefined
}

const total = usage =>
  ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'].reduce((sum, kind) => sum + (usage[kind] ?? 0), 0)

/** Seconds from the first to the last event of the session. */
export const secondsOf = ({ events }) => (events.length ? (events.at(-1).time - events[0].time) / 1000 : 0)
