/** Searches for secrets where none may be, at the end of each test of this folder. */

import type { Test } from 'tap'

/** Shorter values occur in any text by chance. */
const SHORTEST = 12
/** A cookie and a refresh handle have parts; the secret ones have this length. */
const PART = 43

export function searchIn(where: string, text: string, secrets: ReadonlySet<string>): void {
  const found = [...secrets].flatMap(spellings).filter((secret) => text.includes(secret))
  if (found.length > 0) throw new Error(`${found.length} secrets are in ${where}`)
}

/** The value as it is, URL-encoded, form-encoded, and its secret parts. */
function spellings(secret: string): string[] {
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  const parts = secret.split('.').filter((part) => part.length === PART)
  return [...new Set([secret, encodeURIComponent(secret), form, ...parts])].filter(
    (text) => text.length >= SHORTEST,
  )
}

/**
 * Call it before anything starts, and call the function that it returns once everything has started. Teardowns run in
 * reverse order, so the search runs while everything is up, and its failure is thrown last, after the cleanup.
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
