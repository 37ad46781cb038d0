/** What a page loads: its state, and pages of lists. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { call, Refused } from './gateway-calls.js'

/**
 * @template T
 * @typedef {object} Loaded
 * @property {T | null} value null: not loaded yet
 * @property {string | null} at when the value was loaded
 * @property {Refused | null} refusal of the last attempt
 * @property {boolean} loading
 * @property {() => void} again
 */

/**
 * Loads when its dependencies change. The former value stays until the next one is there, so that no page
 * jumps.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {readonly unknown[]} deps
 * @returns {Loaded<T>}
 */
export function useLoaded(load, deps) {
  const [state, setState] = useState(
    /** @returns {{ value: T | null, at: string | null, refusal: Refused | null, loading: boolean }} */
    () => ({ value: null, at: null, refusal: null, loading: true }),
  )
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setState((before) => ({ ...before, loading: true }))
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted)
          setState({ value, at: new Date().toISOString(), refusal: null, loading: false })
      },
      (cause) => {
        if (!controller.signal.aborted)
          setState((before) => ({ ...before, refusal: refusalOf(cause), loading: false }))
      },
    )
    return () => controller.abort()
  }, [...deps, attempt])
  return { ...state, again: () => setAttempt((count) => count + 1) }
}

/** Milliseconds between two readings of what others may change. */
const EVERY = 5000

/** Milliseconds: the next reading had no answer for as long that what is shown is old. */
const OLD = EVERY + 2000

/**
 * Reads it again and again while the page is visible. What is refused is not asked again; what may pass is.
 *
 * @param {Loaded<any>} of
 * @param {boolean} [isPaused]
 * @returns {number | null} milliseconds since the last answer, once it is old
 */
export function useReadAgain({ at, refusal, loading, again }, isPaused = false) {
  const isOver = isPaused || (refusal !== null && !mayPass(refusal))
  const isLoading = useRef(loading)
  isLoading.current = loading
  useEffect(() => {
    if (isOver) return
    const read = () => {
      // Another reading would abort a slow one, and none would ever end. It has a time limit of its own.
      if (document.visibilityState === 'visible' && !isLoading.current) again()
    }
    const timer = setInterval(read, EVERY)
    // What was hidden is old.
    document.addEventListener('visibilitychange', read)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', read)
    }
  }, [isOver])
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const since = at === null ? 0 : now - Date.parse(at)
  return since > OLD ? since : null
}

/** Whether a repetition may be answered otherwise. @param {Refused} refusal */
export function mayPass({ status }) {
  return status === 0 || status === 429 || status >= 500
}

/** Whether what asked is still on the page when its answer comes. @returns {{ readonly current: boolean }} */
export function useIsShown() {
  const isShown = useRef(true)
  useLayoutEffect(() => () => void (isShown.current = false), [])
  return isShown
}

/**
 * @param {unknown} cause
 * @returns {Refused}
 */
export function refusalOf(cause) {
  if (cause instanceof Refused) return cause
  const detail = cause instanceof Error ? cause.message : String(cause)
  return new Refused({
    status: -1,
    code: 'console_fault',
    title: 'The console failed',
    detail,
  })
}

/**
 * What a button or a form sends: whether it is under way, and why it was refused the last time.
 *
 * @template {unknown[]} A
 * @param {(...of: A) => Promise<unknown>} send
 * @param {Refused | null} [before]
 */
export function useAction(send, before = null) {
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState(before)
  const run = async (/** @type {A} */ ...of) => {
    setBusy(true)
    setRefusal(null)
    try {
      await send(...of)
    } catch (cause) {
      setRefusal(refusalOf(cause))
    }
    setBusy(false)
  }
  return { busy, refusal, setRefusal, run }
}

/**
 * @template T
 * @typedef {object} Listed
 * @property {T[]} items
 * @property {boolean} hasMore
 * @property {Refused | null} refusal
 * @property {boolean} loading
 * @property {() => void} more the next page; after a refusal, the page that was refused
 * @property {() => void} again from the first page
 */

/**
 * @template T
 * @typedef {object} Listing
 * @property {import('./address.js').Query} [query]
 * @property {((item: T) => string) | undefined} [idOf] what `after` takes; left out: the member `id`
 */

/**
 * @template {string} P
 * @typedef {import('./answers.d.ts').Item<P>} Item
 */

/**
 * A list, page by page.
 *
 * @template {string} P
 * @param {P} path
 * @param {Listing<Item<P>> & { whole?: boolean, deps?: readonly unknown[] }} [options] whole: all pages are
 *   loaded, one after the other
 * @returns {Listed<Item<P>>}
 */
export function useList(path, { query = {}, idOf, whole = false, deps = [] } = {}) {
  const [state, setState] = useState(
    /** @returns {{ items: Item<P>[], hasMore: boolean, refusal: Refused | null, loading: boolean }} */
    () => ({ items: [], hasMore: true, refusal: null, loading: true }),
  )
  const [attempt, setAttempt] = useState(0)
  const running = useRef(/** @type {AbortController | null} */ (null))
  /** Whether what is shown is of this question. */
  const isOfNow = useRef(false)
  const load = useCallback(
    async (/** @type {Item<P>[]} */ before, /** @type {AbortController} */ controller) => {
      try {
        for await (const { items, hasMore } of pagesOf(path, { query, idOf }, controller.signal, before)) {
          if (controller.signal.aborted) return
          isOfNow.current = true
          const goesOn = whole && hasMore
          // A list that is loaded again stays as it was until the new one is whole.
          setState(({ items: shown }) => ({
            items: goesOn && shown.length > items.length ? shown : items,
            hasMore,
            refusal: null,
            loading: goesOn,
          }))
          if (!goesOn) return
        }
      } catch (cause) {
        if (controller.signal.aborted) return
        const refusal = refusalOf(cause)
        // The rows of the former question are no answer to one that is refused.
        const isWrong = refusal.status >= 400 && refusal.status < 500 && !isOfNow.current
        setState((now) => ({ ...now, ...(isWrong ? { items: [] } : {}), refusal, loading: false }))
      }
    },
    [path, JSON.stringify(query), whole],
  )
  useEffect(() => {
    const controller = new AbortController()
    running.current = controller
    isOfNow.current = false
    setState((before) => ({ ...before, refusal: null, loading: true }))
    void load([], controller)
    return () => controller.abort()
  }, [load, attempt, ...deps])
  const again = () => setAttempt((count) => count + 1)
  return {
    ...state,
    more: () => {
      if (!isOfNow.current) return again()
      if (state.loading || running.current === null) return
      setState((now) => ({ ...now, loading: true, refusal: null }))
      void load(state.items, running.current)
    },
    again,
  }
}

/**
 * Reads a list to the end, or until enough is found.
 *
 * @template {string} P
 * @param {P} path
 * @param
 *   {Listing<Item<P>> & { isEnough?: (items: readonly Item<P>[]) => boolean, signal?: AbortSignal | undefined }}
 *   options
 * @returns {Promise<{ items: Item<P>[], hasMore: boolean }>}
 */
export async function readList(path, { isEnough = () => false, signal, ...listing }) {
  /** @type {{ items: Item<P>[], hasMore: boolean }} */
  let read = { items: [], hasMore: true }
  for await (read of pagesOf(path, listing, signal)) if (isEnough(read.items)) break
  return read
}

/**
 * The items up to each page of a list, as long as there are more.
 *
 * @template {string} P
 * @param {P} path
 * @param {Listing<Item<P>>} listing
 * @param {AbortSignal} [signal]
 * @param {Item<P>[]} [items] of the pages before
 * @returns {AsyncGenerator<{ items: Item<P>[], hasMore: boolean }>}
 */
async function* pagesOf(path, { query, idOf = (/** @type {any} */ { id }) => id }, signal, items = []) {
  for (let hasMore = true; hasMore;) {
    const last = items.at(-1)
    const after = last === undefined ? '' : idOf(last)
    const answer = /** @type {unknown} */ (
      await call('GET', path, { query: { ...query, limit: '100', after }, signal })
    )
    const page = /** @type {{ data: Item<P>[], has_more: boolean }} */ (answer)
    items = [...items, ...page.data]
    hasMore = page.has_more
    yield { items, hasMore }
  }
}
