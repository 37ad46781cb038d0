/** Requests to the gateway's own endpoints, with the user's credential. */

import { effect, signal } from '@preact/signals'
import { queryOf } from './address.js'
import { credential, forget, onSessionChanged, signedIn } from './credentials.js'

const { api = '', auth = '' } = document.documentElement.dataset

/** The prefixes of the paths of endpoints and of the sign-in. */
export const PREFIXES = { api, auth }

/** A refusal: what the problem document of the gateway says (RFC 9457), or that no answer came. */
export class Refused extends Error {
  /**
   * @param {object} problem
   * @param {number} problem.status 0: there was no answer
   * @param {string} problem.code
   * @param {string} problem.title
   * @param {string} problem.detail
   * @param {string | null} [problem.requestId]
   * @param {{ path: string, message: string }[]} [problem.errors]
   */
  constructor({ status, code, title, detail, requestId = null, errors = [] }) {
    super(detail)
    this.status = status
    this.code = code
    this.title = title
    this.detail = detail
    this.requestId = requestId
    this.errors = errors
    /** A change that may have been made. */
    this.isInDoubt = false
    /** The body of the request. @type {unknown} */
    this.sent = undefined
  }
}

/**
 * @typedef {object} Call
 * @property {import('./address.js').Query} [query] empty values are left out
 * @property {unknown} [body] sent as JSON
 * @property {string | null} [ifMatch] the entity tag that was read
 * @property {AbortSignal | undefined} [signal]
 * @property {string} [space] by default the space of the user
 */

/**
 * @template T
 * @typedef {object} Answered
 * @property {T} body
 * @property {string | null} etag
 */

/**
 * The refusal that asks for a new sign-in, and the requests that wait for it: what was typed stays.
 *
 * @type
 *   {import('@preact/signals').Signal<{ refusal: Refused, again: () => void, cancel: () => void } | null>}
 */
export const signInAgain = signal(null)

effect(() => {
  // A sign-out ends the requests that wait.
  if (signedIn.value === null) signInAgain.peek()?.cancel()
})

/** @type {Promise<boolean> | null} */
let waiting = null

/**
 * @template {string} M
 * @template {string} P
 * @typedef {import('./answers.d.ts').Answer<`${M} ${P}`>} Answer
 */

/**
 * @template {string} M
 * @template {string} P
 * @param {M} method
 * @param {P} path such as `/v1/seats`
 * @param {Call} [options]
 * @returns {Promise<Answer<M, P>>} the body of the answer; rejects with a Refused
 */
export async function call(method, path, options) {
  const { body } = await callForTag(method, path, options)
  return body
}

/**
 * As `call`, with the entity tag.
 *
 * @template {string} M
 * @template {string} P
 * @param {M} method
 * @param {P} path
 * @param {Call} [options]
 * @returns {Promise<Answered<Answer<M, P>>>}
 */
export function callForTag(method, path, options) {
  return signedInAgain(() => callOnce(method, path, options), method !== 'GET')
}

/**
 * Another tab of the browser may have signed in as another user, or in another tenant: all tabs share the
 * cookie. What this page shows is then not what a change would change.
 *
 * @returns {Promise<void>} rejects with a Refused like a 401
 */
async function sameSession() {
  const { value: who } = signedIn
  if (who?.by !== 'session') {
    isOtherSession = false
    return
  }
  const me = await callSignIn('GET', ME)
  isOtherSession = me.tenant !== who.tenant || me.user !== who.user
  if (isOtherSession) throw otherSession(me)
}

const ME = '/auth/oidc/me'

/** Whether the console compares sessions by requests with this path. @param {string} path */
export function isComparison(path) {
  return path === auth + ME
}

/** @param {Answer<'GET', '/auth/oidc/me'>} me */
export function otherSession({ email, user, tenant }) {
  return new Refused({
    status: 401,
    code: OTHER_SESSION,
    title: 'This browser has another session now',
    detail: `Another tab or window has signed in as ${email ?? user} of tenant ${tenant}. Nothing was sent.`,
  })
}

export const OTHER_SESSION = 'other_session'

/** As of the last comparison. Until the user decides, nothing is sent. */
let isOtherSession = false

onSessionChanged(() => {
  signedInAgain(sameSession).catch(() => {
    // The next request says why.
  })
})

/**
 * A 401 brings the sign-in back; then the request is sent again.
 *
 * @template T
 * @param {() => Promise<T>} request
 * @param {boolean} [isChange] of what the page shows
 * @returns {Promise<T>}
 */
async function signedInAgain(request, isChange = false) {
  for (;;) {
    try {
      if (isChange || isOtherSession) await sameSession()
      return await (isChange ? request() : ofSameSession(request))
    } catch (cause) {
      const isOver = cause instanceof Refused && cause.status === 401 && signedIn.value !== null
      if (!isOver || !(await asked(cause))) throw cause
    }
  }
}

/**
 * A reading. Which session it was of is asked at the same time: the page must not mix what two sessions see.
 *
 * @template T
 * @param {() => Promise<T>} request
 * @returns {Promise<T>} rejects with a Refused like a 401 where another session may have answered
 */
export async function ofSameSession(request) {
  const [, answer] = await Promise.all([sameSession(), request()])
  return answer
}

/** Several requests may be refused at once: one sign-in is for all. @param {Refused} refusal */
function asked(refusal) {
  waiting ??= new Promise((resolve) => {
    const end = (/** @type {boolean} */ again) => () => {
      signInAgain.value = null
      waiting = null
      resolve(again)
    }
    signInAgain.value = { refusal, again: end(true), cancel: end(false) }
  })
  return waiting
}

/**
 * As `call`, where a 401 is an answer like any other.
 *
 * @template {string} M
 * @template {string} P
 * @param {M} method
 * @param {P} path
 * @param {Call} [options]
 * @param {import('./credentials.js').Credential} [by] at sign-in
 * @returns {Promise<Answered<Answer<M, P>>>}
 */
export async function callOnce(
  method,
  path,
  { query = {}, body, ifMatch, signal, space } = {},
  by = credential(),
) {
  const headers = { space: space ?? by.space, ...(ifMatch ? { 'if-match': ifMatch } : {}) }
  const url = api + path + queryOf(query)
  const isRead = method === 'GET' || READS.has(path) || isDryRun(body)
  try {
    return await answered(by.key, method, url, { headers, body, signal, isRead })
  } catch (cause) {
    if (cause instanceof Refused) {
      cause.sent = body
      if (!isRead) cause.isInDoubt = cause.status === 0 || cause.status >= 500
    }
    throw cause
  }
}

/** Questions that are too long for a URL. */
const READS = new Set(['/v1/seats/plan', '/v1/access/explain', '/v1/tables/plan'])

/** Whether the body asks for what a change would do. @param {unknown} body */
function isDryRun(body) {
  return typeof body === 'object' && body !== null && 'dry_run' in body && body.dry_run === true
}

/**
 * A sign-in endpoint.
 *
 * @template {string} M
 * @template {string} P
 * @param {M} method
 * @param {P} path
 * @param {unknown} [body]
 * @param {string} [key] '' for the session cookie
 * @returns {Promise<Answer<M, P>>}
 */
export async function callSignIn(method, path, body, key = '') {
  const answer = await answered(key, method, auth + path, { body, isRead: method === 'GET' })
  return answer.body
}

/**
 * The session ends on the gateway too; an API key is only forgotten.
 *
 * @returns {Promise<string | null>} where the provider signs out
 */
export async function signOut() {
  if (signedIn.value?.by !== 'session') {
    forget()
    return null
  }
  const isOther = await sameSession().then(
    () => false,
    (cause) => cause instanceof Refused && cause.code === OTHER_SESSION,
  )
  if (isOther) {
    // The session of another tab is not ended from here.
    forget()
    return null
  }
  const body = await callSignIn('POST', '/auth/oidc/logout', {})
  forget()
  return body.end_session_url ?? null
}

/**
 * @typedef {object} Init
 * @property {Record<string, string>} [headers]
 * @property {unknown} [body] sent as JSON
 * @property {AbortSignal | undefined} [signal]
 */

/**
 * Milliseconds for an answer: the gateway gives up a store that does not answer after 10 seconds. A change
 * waits for other instances too.
 */
const READ_LIMIT = 15_000
const CHANGE_LIMIT = 30_000

/**
 * @template T
 * @param {string} key '' for the session cookie
 * @param {string} method
 * @param {string} url
 * @param {Init & { isRead: boolean }} init
 * @returns {Promise<Answered<T>>}
 */
function answered(key, method, url, { isRead, signal, ...init }) {
  return inTime(isRead ? READ_LIMIT : CHANGE_LIMIT, signal, async (limited) =>
    answerOf(await send(key, method, url, { ...init, signal: limited })),
  )
}

/**
 * A gateway that is frozen keeps its connections, and answers nothing.
 *
 * @template T
 * @param {number} most milliseconds
 * @param {AbortSignal | undefined} outer
 * @param {(signal: AbortSignal) => Promise<T>} run
 * @returns {Promise<T>} rejects with a Refused when the time is over
 */
async function inTime(most, outer, run) {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), most)
  try {
    return await run(outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]))
  } catch (cause) {
    if (!late.signal.aborted || outer?.aborted) throw cause
    throw noAnswer(`No answer came within ${most / 1000} seconds.`)
  } finally {
    clearTimeout(timer)
  }
}

/** @param {string} detail */
function noAnswer(detail) {
  return new Refused({ status: 0, code: 'no_answer', title: 'The gateway does not answer', detail })
}

/** @param {unknown} cause */
function isAbort(cause) {
  return cause instanceof DOMException && cause.name === 'AbortError'
}

/**
 * The mode stays `cors`: in another one, browsers send `Origin: null` from a page without referrers, which
 * the gateway refuses.
 *
 * @param {string} key '' for the session cookie, which does not go along with an API key
 * @param {string} method
 * @param {string} url
 * @param {Init} init
 */
async function send(key, method, url, { headers = {}, body, signal }) {
  try {
    return await fetch(url, {
      credentials: key === '' ? 'same-origin' : 'omit',
      cache: 'no-store',
      redirect: 'error',
      method,
      signal: signal ?? null,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        accept: 'application/json',
        ...(key === '' ? {} : { 'x-api-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    })
  } catch (cause) {
    if (isAbort(cause)) throw cause
    throw noAnswer('The connection failed, or the gateway is away.')
  }
}

/**
 * @param {string} path of an endpoint, such as `/v1/seats`
 * @returns {string} the path of its requests
 */
export function urlOf(path) {
  return api + path
}

/**
 * @template T
 * @param {Response} response
 * @returns {Promise<Answered<T>>}
 */
async function answerOf(response) {
  const text = await response.text().catch((cause) => {
    if (isAbort(cause)) throw cause
    throw noAnswer('The connection broke within the answer.')
  })
  const body = jsonOf(text)
  // Without a body: 204.
  if (response.ok && (body !== null || text === '')) return { body, etag: response.headers.get('etag') }
  if (response.ok) throw noAnswer('What answered in its place sent no JSON, such as a proxy.')
  throw new Refused({
    status: response.status,
    code: body?.code ?? 'unknown',
    title: body?.title ?? `The gateway answered ${response.status}`,
    detail: body?.detail ?? '',
    requestId: body?.request_id ?? response.headers.get('x-request-id'),
    errors: body?.errors ?? [],
  })
}

/**
 * @param {string} text
 * @returns {any} null: it is none
 */
function jsonOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Milliseconds: the gateway sends a comment every 15 seconds. A longer silence is a broken connection. */
const SILENCE = 25_000

/**
 * The events of an endpoint as they happen (text/event-stream), by fetch: `EventSource` can't send an API
 * key. They end when the gateway ends them, or when nothing comes any more.
 *
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {Promise<AsyncGenerator<{ name: string, data: any }>>} rejects with a Refused
 */
export async function openEvents(path, signal) {
  const body = await signedInAgain(async () => {
    const { key, space } = credential()
    const headers = { space, accept: 'text/event-stream' }
    const response = await inTime(READ_LIMIT, signal, (limited) =>
      send(key, 'GET', api + path, { headers, signal: limited }),
    )
    if (!response.ok || response.body === null) await answerOf(response)
    return /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body)
  })
  return eventsOf(body, signal)
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {AbortSignal} signal
 */
async function* eventsOf(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const timer = setTimeout(() => reader.cancel(), SILENCE)
    const { value, done } = await reader
      .read()
      .catch((cause) => {
        if (signal.aborted) throw cause
        // The connection broke.
        return { value: '', done: true }
      })
      .finally(() => clearTimeout(timer))
    if (done) return
    const events = (rest + value).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const name = /^event: ?(.*)$/m.exec(event)?.[1] ?? 'message'
      const data = /^data: ?(.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield { name, data: JSON.parse(data) }
    }
  }
}
