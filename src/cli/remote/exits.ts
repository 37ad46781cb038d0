/** Exit codes of commands that talk to a gateway. */

const REFUSED =
  'the gateway refused the request, or could not be reached; the message of a refusal has the request id'

export const READ = { 0: 'done', 1: REFUSED } as const

export const WRITTEN = { 0: 'done: no instance decides on the old state any more', 1: REFUSED } as const
