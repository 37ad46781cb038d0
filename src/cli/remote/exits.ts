/** Exit codes of commands that talk to a gateway. */

const REFUSED = 'the gateway refused it, or cannot be asked; the text has the request id'

export const READ = { 0: 'done', 1: REFUSED } as const

export const WRITTEN = { 0: 'done: no instance decides on the old state', 1: REFUSED } as const
