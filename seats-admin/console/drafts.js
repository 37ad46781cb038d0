/** What was typed and not saved, by form: it is there again when its page is opened again. In memory alone, until the sign-out. */

import { effect } from '@preact/signals'
import { signedIn } from './credentials.js'

/** @type {Map<string, unknown>} */
const kept = new Map()

effect(() => {
  if (signedIn.value === null) kept.clear()
})

addEventListener('beforeunload', (event) => {
  if (kept.size > 0) event.preventDefault()
})

/** @param {string} form names it in its tenant and space */
function keyOf(form) {
  const { tenant = '', space = '' } = signedIn.peek() ?? {}
  return JSON.stringify([tenant, space, form])
}

/** @template T @param {string} form @returns {T | null} */
export function keptDraft(form) {
  return /** @type {T | undefined} */ (kept.get(keyOf(form))) ?? null
}

/** @param {string} form @param {unknown} draft null: there is nothing to keep any more */
export function keepDraft(form, draft) {
  if (draft === null) kept.delete(keyOf(form))
  else kept.set(keyOf(form), draft)
}
