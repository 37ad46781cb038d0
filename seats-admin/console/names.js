/**
 * Names of the users and API keys whose ids the gateway gives, where the user of the console may read them.
 */

import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hrefOf } from './address.js'
import { signedIn } from './credentials.js'
import { callOnce, ofSameSession, urlOf } from './gateway-calls.js'
import { refusalOf } from './loading.js'
import { html } from './markup.js'
import { Name } from './pieces.js'

/** @typedef {{ kind: 'user' | 'api-key', name: string }} Named */

/** Ids whose names are remembered. */
const MAX_KNOWN = 2000

const USERS = '/v1/users'
const KEYS = '/v1/api-keys/'

/** Ids of API keys are ULIDs. The id of a user may look like one. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/**
 * By id; null: no name is known.
 *
 * @type {import('@preact/signals').Signal<ReadonlyMap<string, Named | null>>}
 */
const names = signal(new Map())

/** Kinds that the user may not read. @type {Set<Named['kind']>} */
const refused = new Set()

/** How often each id is on the page. @type {Map<string, number>} */
const shown = new Map()

let isReading = false

effect(() => {
  // Another user, tenant or space may see other names.
  const { value: who } = signedIn
  names.value = new Map()
  refused.clear()
  if (who !== null) void readShown()
})

/** Only names on the page are read, one after the other: a busy gateway shows new ids all the time. */
async function readShown() {
  if (isReading) return
  isReading = true
  for (let id = nextUnknown(); id !== undefined; id = nextUnknown()) {
    const { value: who } = signedIn
    const named = await read(id)
    if (named === undefined) break
    if (signedIn.value !== who) continue
    const rest = names.value.size < MAX_KNOWN ? names.value : []
    names.value = new Map([...rest, [id, named]])
  }
  isReading = false
}

function nextUnknown() {
  return [...shown.keys()].find((id) => !names.value.has(id))
}

/**
 * @param {string} id
 * @returns {Promise<Named | null | undefined>} undefined: it can't be read at the moment
 */
async function read(id) {
  try {
    return (ULID.test(id) ? await readKey(id) : null) ?? (await readUser(id))
  } catch {
    return undefined
  }
}

/**
 * @param {string} id
 * @returns {Promise<Named | null>}
 */
async function readKey(id) {
  const key = await allowed('api-key', `${KEYS}${id}`, {})
  return key === null ? null : { kind: 'api-key', name: key.name }
}

/**
 * @param {string} id
 * @returns {Promise<Named | null>}
 */
async function readUser(id) {
  const page = await allowed('user', USERS, { sub: id })
  const [user] = page?.data ?? []
  return user === undefined ? null : { kind: 'user', name: user.email ?? id }
}

/**
 * @template {string} P
 * @param {Named['kind']} kind
 * @param {P} path
 * @param {Readonly<Record<string, string>>} query
 * @returns {Promise<import('./gateway-calls.js').Answer<'GET', P> | null>} null: there is none, or the user
 *   may not read it; rejects with what may pass
 */
async function allowed(kind, path, query) {
  if (refused.has(kind)) return null
  try {
    const { body } = await ofSameSession(() => callOnce('GET', path, { query }))
    return body
  } catch (cause) {
    const { status } = refusalOf(cause)
    if (status === 403) refused.add(kind)
    if (status === 400 || status === 403 || status === 404) return null
    throw cause
  }
}

/** Whether these readings ask for the path. @param {string} path */
export function isReadOfName(path) {
  return path === urlOf(USERS) || path.startsWith(urlOf(KEYS))
}

/**
 * A user or an API key by name, with a link; by id where no name is known.
 *
 * @param {{ id: string, withId?: boolean }} props withId: names of API keys are not unique, so the id of a
 *   key follows
 */
export function Who({ id, withId = false }) {
  useEffect(() => {
    shown.set(id, (shown.get(id) ?? 0) + 1)
    void readShown()
    return () => {
      const left = (shown.get(id) ?? 1) - 1
      if (left === 0) shown.delete(id)
      else shown.set(id, left)
    }
  }, [id])
  const named = names.value.get(id)
  if (!named) return html`<${Name} of=${id} />`
  const isKey = named.kind === 'api-key'
  const href = isKey ? hrefOf(['api-keys', id]) : hrefOf(['users'], { sub: id })
  return html`<a href=${href} title=${id}><${Name} of=${named.name} /></a
    >${isKey && withId && html` <code class="small quiet wide-only">${id}</code>`}`
}
