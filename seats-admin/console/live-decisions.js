/** The newest decisions of the instance that answers, and those that follow, as they happen. */

import { useEffect, useState } from 'preact/hooks'
import { signedIn } from './credentials.js'
import { isBuiltInRead } from './built-in-reads.js'
import { isComparison, openEvents, PREFIXES, urlOf } from './gateway-calls.js'
import { mayPass, readList, refusalOf } from './loading.js'
import { isReadOfName } from './names.js'

/** @typedef {import('./answers.d.ts').Decision} Decision */
/** @typedef {import('./gateway-calls.js').Refused} Refused */

const PATH = '/v1/decisions'

/** What the Overview reads beside it. */
const FLEET = '/v1/fleet'
export const AUDIT = '/v1/audit'

/** Decisions that are kept in the page. */
const MAX_KEPT = 1000

/** Decisions to begin with. */
const ENOUGH = 50

/** Milliseconds: a busy gateway sends thousands of decisions a second, which are shown together. */
const SHOW_EVERY = 200

/** Milliseconds before a broken stream is opened again, after the first failure and at most. */
const FIRST_WAIT = 1000
const MAX_WAIT = 15_000

/**
 * `broken`: the stream is opened again soon. `refused`: it is not, until the user asks for it.
 *
 * @typedef {'loading' | 'live' | 'broken' | 'refused'} StreamState
 */

/** A stream that breaks is opened again, and what it missed is read. */
export function useDecisions() {
  const [kept, setKept] = useState(/** @type {Decision[]} */ ([]))
  const [lost, setLost] = useState(0)
  const [hasGap, setHasGap] = useState(false)
  const [state, setState] = useState(/** @type {StreamState} */ ('loading'))
  const [refusal, setRefusal] = useState(/** @type {Refused | null} */ (null))
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    /** @type {Decision[]} */
    let newest = kept
    let timer = 0
    const take = (/** @type {Decision[]} */ decisions) => {
      newest = merged(newest, decisions)
      timer ||= setTimeout(() => {
        timer = 0
        setKept(newest)
      }, SHOW_EVERY)
    }
    const readNewest = async () => {
      const isFirst = newest.length === 0
      // A console may have made all the newest requests.
      const isEnough = (/** @type {readonly Decision[]} */ decisions) =>
        !isFirst || decisions.length >= MAX_KEPT || decisions.filter(isOfOthers).length >= ENOUGH
      const { items: data, hasMore } = await readList(PATH, { isEnough, signal })
      const isKnown = (/** @type {Decision} */ { id }) => newest.some((each) => each.id === id)
      setHasGap(newest.length > 0 && hasMore && !data.some(isKnown))
      newest = merged(newest, data)
      setKept(newest)
    }
    const listenOnce = async (/** @type {() => void} */ opened) => {
      const events = await openEvents(PATH, signal)
      // The stream is open before the list is read, so that no decision is between them.
      await readNewest()
      setState('live')
      setRefusal(null)
      opened()
      for await (const { name, data } of events)
        if (name === 'decision') take([data])
        else if (name === 'lost') setLost((count) => count + data.lost)
    }
    const run = async () => {
      for (let wait = FIRST_WAIT; !signal.aborted; wait = Math.min(MAX_WAIT, 2 * wait)) {
        try {
          await listenOnce(() => (wait = FIRST_WAIT))
        } catch (cause) {
          if (signal.aborted) return
          const refused = refusalOf(cause)
          setRefusal(refused)
          if (!mayPass(refused)) return setState('refused')
          // The gateway may have no stream for this page, but the list.
          if (refused.status !== 0) await readNewest().catch(() => {})
          if (signal.aborted) return
        }
        setState('broken')
        await new Promise((resolve) => setTimeout(resolve, wait))
      }
    }
    void run()
    return () => {
      controller.abort()
      clearTimeout(timer)
    }
  }, [attempt])
  return { kept, lost, hasGap, state, refusal, again: () => setAttempt((count) => count + 1) }
}

/** Whether it is more than a reading of the gateway's own endpoints. @param {Decision} decision */
export function isOfOthers(decision) {
  return !isBuiltInRead(decision, PREFIXES)
}

/**
 * Each once, the newest first.
 *
 * @param {readonly Decision[]} kept
 * @param {readonly Decision[]} decisions
 * @returns {Decision[]}
 */
function merged(kept, decisions) {
  const each = new Map(kept.map((decision) => [decision.id, decision]))
  for (const decision of decisions) if (!isOwnReading(decision)) each.set(decision.id, decision)
  return [...each.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, MAX_KEPT)
}

/** This page asks again and again, and would soon show nothing but that. @param {Decision} decision */
function isOwnReading({ user, method, path }) {
  const isRead =
    [FLEET, PATH, AUDIT].some((each) => path === urlOf(each)) || isReadOfName(path) || isComparison(path)
  return isRead && method === 'GET' && user === signedIn.value?.user
}
