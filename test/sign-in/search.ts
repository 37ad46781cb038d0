/** Looks for secrets where none may be. Called when a test of this folder is over. */

import type { Test } from 'tap'

/** Shorter ones stand in any text by chance. */
const SHORTEST = 12
/** A cookie and a refresh handle have parts; these are as long as the secret ones. */
const PART = 43

export function searchIn(where: string, text: string, secrets: ReadonlySet<string>): void {
  const found = [...secrets].flatMap(spellings).filter((secret) => text.includes(secret))
  if (found.length > 0) throw new Error(`${found.length} secrets are in ${where}`)
}

/** As it is, as a part of a URL, as a form has it, and its own secret parts. */
function spellings(secret: string): string[] {
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  const parts = secret.split('.').filter((part) => part.length === PART)
  return [...new Set([secret, encodeURIComponent(secret), form, ...parts])].filter(
    (text) => text.length >= SHORTEST,
  )
}

/**
 * Call it before anything is started, and what it gives once all is. What is said last is done first at the end of a
 * test: so the search finds everything running, and its failure, told last, leaves nothing behind.
 */
export function searchAtEnd(t: Test): (search: () => Promise<void>) => void {
  let failure: unknown = null
  t.teardown(() => {
    if (failure !== null) throw failure
  })
  return (search) =>
    t.teardown(async () => {
      await search().catch((cause: unknown) => (failure = cause))
    })
}
